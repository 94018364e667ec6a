"""From a small corpus to tuned models and both tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialoom.cli.application import run
from dialoom.domains.calendar.smcalflow.replies import apart, known_replies
from dialoom.domains.calendar.smcalflow.turns import Turn
from dialoom.errors import InvalidFile, UsageError
from dialoom.evaluation.replies.settings import ReplySettings, Variant, read_settings
from dialoom.evaluation.replies.tables import Group, Scores, Tables, at_random, gold, measure, score
from dialoom.evaluation.replies.tuning import prompt_of, sampled, split

PROGRAM = (
    "(Yield (Event.start (singleton (QueryEventResponse.results (FindEventWrapperWithDefaults "
    '(Event.subject_? (?~= "{}")))))))'
)
SUBJECTS = ["gym", "tea", "chess", "lunch", "swim", "choir", "yoga", "golf", "bingo", "darts"]
TURNS = [Turn(f"d{n}", 0, PROGRAM.format(s), f"It starts at {n + 1}:00 PM.", f"{s}?") for n, s in enumerate(SUBJECTS)]
PERFECT = Scores(1.0, 1.0, None, 1.0, 1.0, 1.0, 0.0)


def corpus(path: Path, turns: list[Turn]) -> None:
    def line(turn: Turn) -> dict[str, Any]:
        spoken = {
            f"{who}_utterance": {"original_text": text} for who, text in (("user", turn.words), ("agent", turn.reply))
        }
        return {
            "dialogue_id": turn.dialogue,
            "turns": [{"skip": False, "turn_index": 0, "lispress": turn.program} | spoken],
        }

    path.write_text("".join(json.dumps(line(turn)) + "\n" for turn in turns))


@pytest.fixture
def config(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    corpus(tmp_path / "train.jsonl", TURNS)
    corpus(tmp_path / "valid.jsonl", TURNS[:2])
    path = tmp_path / "replies.yaml"
    values = {
        "corpus": ["train.jsonl"], "test": ["valid.jsonl"], "out": "out", "steps": 2, "batch": 2, "validate_every": 1,
        "variants": [{"share": 0.3}, {"share": 1.0}], "max_tokens": 4, "device": "cpu",
    }  # fmt: skip
    path.write_text(json.dumps(values))
    return path


def test_that_no_dialogue_is_in_two_parts(config: Path) -> None:
    parts = split(read_settings(config).model_copy(update={"test": ()}))
    dialogues = [{turn.dialogue for turn in part} for part in (parts.train, parts.dev, parts.test)]
    assert [len(names) for names in dialogues] == [8, 1, 1]
    assert len(set.union(*dialogues)) == 10
    assert split(read_settings(config).model_copy(update={"test": ()})) == parts


def test_that_test_files_are_taken_whole(config: Path) -> None:
    parts = split(read_settings(config))
    assert parts.test == TURNS[:2]
    assert len(parts.train) + len(parts.dev) == 10


def test_that_a_corpus_without_enough_queries_is_refused(config: Path) -> None:
    corpus(config.parent / "train.jsonl", TURNS[:2])
    with pytest.raises(UsageError, match="to validate on"):
        split(read_settings(config))


def test_that_apart_keeps_the_turns_of_a_dialogue_together() -> None:
    turns = [Turn(f"d{n % 5}", n, "", "") for n in range(20)]
    rest, held = apart(turns, 0.4)
    assert len({turn.dialogue for turn in held}) == 2
    assert len(held) == 8
    assert sorted(turn.index for turn in [*rest, *held]) == list(range(20))


def test_that_only_replies_that_can_be_true_are_learned_from() -> None:
    lost = [Turn("d", 0, TURNS[0].program, "I cannot help with that."), Turn("d", 1, "(Yield (Unknown))", "Hello.")]
    (known,) = known_replies([*lost, TURNS[0]])
    assert known.reply == TURNS[0].reply
    assert known.words == "gym?"


def test_that_a_variant_says_what_its_prompts_show() -> None:
    (known,) = known_replies(TURNS[:1])
    assert "Result:" in prompt_of(known, Variant())
    assert "gym?" not in prompt_of(known, Variant())
    assert "Result:" not in prompt_of(known, Variant(result=False))
    assert "User: gym?" in prompt_of(known, Variant(words=True))
    assert Variant(share=0.03, words=True).title == "LM fine-tuned on 3% training data, with user utterance"
    assert Variant(result=False).folder == "share-100-no-result"


def test_that_a_share_is_drawn_at_random_and_never_empty() -> None:
    known = list(known_replies(TURNS))
    assert len(sampled(known, 0.5, 0)) == 5
    assert sampled(known, 0.5, 0) == sampled(known, 0.5, 0) != sampled(known, 0.5, 1)
    assert len(sampled(known, 0.001, 0)) == 1


def test_that_two_equal_variants_are_refused(config: Path) -> None:
    text = config.read_text().replace('{"share": 0.3}', '{"share": 1}')
    config.write_text(text)
    with pytest.raises(InvalidFile, match="two variants are the same"):
        read_settings(config)


def test_that_gold_is_perfect_and_random_derivations_are_true() -> None:
    pytest.importorskip("sacrebleu")
    pytest.importorskip("rouge_score")
    known = list(known_replies(TURNS))
    best = score(gold, known, None, known)
    assert (best.bleu, best.rouge, best.r1, best.r5, best.truthful) == pytest.approx((1, 1, 1, 1, 1))
    drawn = score(at_random, known, None, known)
    assert drawn.truthful == 1
    assert drawn.rouge < 1


def test_that_a_false_reply_is_not_truthful() -> None:
    pytest.importorskip("sacrebleu")
    pytest.importorskip("rouge_score")
    known = list(known_replies(TURNS[:2]))
    found = score(lambda *_: ["It starts at 11:11 AM.", TURNS[0].reply], known, None, known)
    assert (found.truthful, found.silent, found.r1, found.r5) == (0, 0, 0, 0.5)


def test_that_table_1_shows_the_tuned_model_of_most_data() -> None:
    variants = [Variant(share=0.03), Variant(share=0.5), Variant(), Variant(words=True)]
    groups = [Group(v.title, v, PERFECT, PERFECT) for v in (Variant(share=0.01), *variants)]
    assert Tables(1, PERFECT, PERFECT, tuple(groups)).full.variant == Variant()
    groups[3] = Group("not tuned", Variant(), None, None)
    assert Tables(1, PERFECT, PERFECT, tuple(groups)).full.variant == Variant(share=0.5)


def test_that_nothing_to_measure_on_is_refused() -> None:
    with pytest.raises(UsageError, match="test replies"):
        measure(ReplySettings(corpus=["-"], out="-"), [])


def test_that_the_commands_tune_go_on_and_print_both_tables(
    config: Path, tiny_model: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("peft", "sacrebleu", "rouge_score", "llguidance"):
        pytest.importorskip(name)
    settings = json.loads(config.read_text()) | {"model": str(tiny_model)}
    monkeypatch.setenv("COLUMNS", "140")
    config.write_text(json.dumps(settings | {"variants": settings["variants"][:1]}))
    assert run(["train", "replies", str(config)]) == 0
    said = capsys.readouterr().out
    assert "9 pairs to learn from, 1 to validate on, of 10 event queries" in said
    assert "LM fine-tuned on 30% training data: validation loss" in said
    assert "samples/s" in said
    whole = config.parent / "out" / "share-30" / "model" / "model.safetensors"
    before = whole.stat().st_mtime_ns
    assert run(["train", "replies", str(config)]) == 0
    assert whole.stat().st_mtime_ns == before
    config.write_text(json.dumps(settings | {"variants": settings["variants"][:1], "steps": 6, "rate": 0.01}))
    assert run(["train", "replies", str(config)]) == 0
    assert "in 6 steps" in capsys.readouterr().out
    assert whole.stat().st_mtime_ns > before

    config.write_text(json.dumps(settings))
    capsys.readouterr()
    assert run(["bench", "replies", str(config), "--limit", "2"]) == 0
    tables = capsys.readouterr().out
    assert "2 test replies; 0 of 2 event queries left out" in tables
    assert "Table 1 (LM fine-tuned on 30% training data)" in tables
    rows = [line.split() for line in tables.splitlines()]
    assert ["Gold", "1.00", "1.00", "-", "1.00", "1.00", "1.000", "0.000"] in rows
    assert "1. LM without fine-tuning" in tables
    assert "3. LM fine-tuned on full training data (not tuned yet)" in tables
    assert ["✓", *"-------"] in rows

    assert run(["bench", "replies", str(config), "--limit", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["replies"] == document["turns"] == 1
    assert document["groups"][1]["constrained"]["truthful"] == 1
    assert document["groups"][2]["constrained"] is None
