"""No answer of other code, data or files is taken for one of these, and what has not changed is not asked again."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialoom import learn
from dialoom.corpora import write_jsonl
from dialoom.demo import transcripts
from dialoom.errors import InvalidFile
from dialoom.evaluation.experiments import fingerprints
from dialoom.evaluation.experiments.fingerprints import code_digest, file_digest, model_digest
from dialoom.models.cassette import Cassette
from dialoom.models.scripted import ScriptedModel

from .conftest import Bench, Make

ASKED = [{"name": "asked", "strategy": "s-icl-one-sample", "selector": "bm25", "model": "writer"}]
ZERO = [{"name": "asked", "strategy": "s-icl-zero-shot", "model": "writer"}]


def asked_again(bench: Bench, **changes: object) -> int:
    before = bench.asked()
    results = bench.run(**{"systems": ASKED, **changes})
    assert all(row.reply is not None for row in results.rows)
    return bench.asked() - before


def test_that_changed_code_is_asked_anew_and_told(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = make(writer=["fine"])
    turns = asked_again(bench)
    assert asked_again(bench) == 0
    with monkeypatch.context() as patched:
        patched.setattr("dialoom.evaluation.experiments.systems.code_digest", lambda: "other code")
        results = bench.run(systems=ASKED)
    assert bench.asked() == 2 * turns
    assert results.run["stale"] == turns
    assert asked_again(bench) == 0  # and back again, the old answers are still there


def test_that_other_training_data_are_asked_anew_where_they_are_used(make: Make) -> None:
    bench = make(writer=["fine"])
    turns = asked_again(bench)
    asked_again(bench, systems=ZERO)
    write_jsonl(bench.folder / "train.jsonl", transcripts()[::4])
    assert asked_again(bench) == turns
    assert asked_again(bench, systems=ZERO) == 0  # no sample, so the training data do not matter


def test_that_a_changed_test_dialogue_is_asked_anew_from_where_it_changed(make: Make) -> None:
    bench = make(writer=["fine"])
    turns = asked_again(bench, systems=ZERO)
    path = bench.folder / "test.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([first.replace('"text": "', '"text": "Well: ', 1), *rest]), encoding="utf-8")
    assert 0 < asked_again(bench, systems=ZERO) < turns


def test_that_a_changed_template_agent_or_model_file_is_asked_anew(make: Make) -> None:
    bench = make(writer=["fine"])
    template = bench.folder / "own.j2"
    template.write_text("=== user ===\n{{ conversation[-1].text }}\n")
    systems = [{"name": "own", "template": "own.j2", "selector": "bm25", "model": "writer"}]
    turns = asked_again(bench, systems=systems)
    template.write_text("=== user ===\nSay: {{ conversation[-1].text }}\n")
    assert asked_again(bench, systems=systems) == turns
    learn(transcripts()[::6]).save(bench.folder / "a.dialoom")
    agent = [{"name": "agent", "agent": "a.dialoom", "model": "writer"}]
    assert asked_again(bench, systems=agent) == turns
    assert asked_again(bench, systems=agent) == 0
    learn(transcripts()[::5]).save(bench.folder / "a.dialoom")
    assert asked_again(bench, systems=agent) == turns


def test_that_a_recording_cassette_saves_paying_twice_even_then(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompts are the same, so whatever made the answers stale, the model itself is not asked again."""
    behind = ScriptedModel(["fine"], name="paid")
    bench = make()
    spec = f"cassette:{bench.folder / 'calls.json'}#paid"

    def run() -> None:
        bench.models[spec] = Cassette(bench.folder / "calls.json", behind, mode="auto")  # type: ignore[assignment]
        bench.run(systems=[{"name": "asked", "strategy": "s-icl-zero-shot", "model": spec}], concurrency=1)

    run()
    paid = len(behind.requests)
    monkeypatch.setattr("dialoom.evaluation.experiments.systems.code_digest", lambda: "other code")
    run()
    assert len(behind.requests) == paid > 0


def test_that_another_model_file_of_a_judge_is_asked_anew(tmp_path: Path) -> None:
    weights = tmp_path / "weights.gguf"
    weights.write_bytes(b"one")
    first = model_digest(f"embedded:{weights}", Path())
    weights.write_bytes(b"two")
    assert model_digest(f"embedded:{weights}", Path()) != first
    assert model_digest("openai:NAME", Path()) == model_digest("embedded", Path()) == ""
    tape = tmp_path / "calls.json"
    tape.write_text("[]")
    assert model_digest(f"cassette:{tape}", Path())
    assert model_digest(f"cassette:{tape}#openai:NAME", Path()) == ""  # it grows while it is used


def test_that_large_files_are_told_apart_by_size_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "WHOLE", 10)
    monkeypatch.setattr(fingerprints, "ENDS", 4)
    digests = set()
    for number, content in enumerate((b"0123456789ab", b"x123456789ab", b"0123456789xb", b"01234567890ab")):
        path = tmp_path / str(number)
        path.write_bytes(content)
        digests.add(file_digest(path))
    assert len(digests) == 4
    with pytest.raises(InvalidFile, match="cannot be read"):
        file_digest(tmp_path / "absent")


def test_that_the_code_that_decides_replies_is_all_there() -> None:
    root = Path(fingerprints.__file__).parents[2]
    assert all((root / name).exists() for name in fingerprints.DECIDES)
    assert code_digest() == code_digest.__wrapped__()


def test_that_an_interrupted_run_goes_on_where_it_was(make: Make) -> None:
    bench = make(writer=["fine"])
    left = [3]

    def impatient(_: object) -> str:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return "fine"

    bench.models["writer"]._answers = impatient
    with pytest.raises(KeyboardInterrupt):
        bench.run(systems=ZERO, concurrency=1)
    bench.models["writer"]._answers = lambda _: "fine"
    before = bench.asked()
    results = bench.run(systems=ZERO, concurrency=1)
    assert bench.asked() - before == len(results.rows) - 3
    assert all(row.reply == "fine" for row in results.rows)
