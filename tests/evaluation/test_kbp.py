from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer import Typer
from typer.testing import CliRunner

from dialoom.cli.eval_knowledge import knowledge
from dialoom.errors import InvalidFile, UnknownName
from dialoom.evaluation import kbp
from dialoom.knowledge.planning.evidence import EvidencePlanner, EvidenceSettings
from dialoom.knowledge.ranking.ranker import RankerSettings, Watch
from dialoom.knowledge.ranking.trees import Growth

THINGS = ["猫", "狗", "茶", "船", "花", "鱼"]


def dialogues(number: int, seed: int) -> list[dict[str, Any]]:
    """Our own small dialogues in KBP's form."""
    chance = random.Random(seed)
    found = []
    for _ in range(number):
        things = chance.sample(THINGS, 3)
        persona = {f"B{i}": f"我 喜欢 {thing}" for i, thing in enumerate(things)}
        colours = [[chance.choice("红黄蓝绿白黑"), str(chance.randint(2, 99))] for _ in things]
        documents = {
            f"B{i}": {"K0": f"{thing}的颜色是{colours[i][0]}色", "K1": f"{thing}的价格是{colours[i][1]}元"}
            for i, thing in enumerate(things)
        }
        turns: list[dict[str, Any]] = []
        for _ in range(4):
            i, kind = chance.randrange(3), chance.choice(["null", "persona", "both"])
            if kind == "null":
                turns.append({"U": chance.choice(["谢谢你", "原来如此"]), "S": "不客气", "P-K": []})
            elif kind == "persona":
                turns.append({"U": f"你喜欢{things[i]}吗？", "S": f"我喜欢{things[i]}", "P-K": [[f"B{i}"]]})
            else:
                turns.append(
                    {"U": f"{things[i]}的价格是多少呢", "S": f"{colours[i][1]}元", "P-K": [[f"B{i}"], [f"B{i}-K1"]]}
                )
        found.append({"persona": persona, "persona_kg": documents, "conversation": turns})
    return found


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    paths = {}
    for name, number, seed in (("train", 60, 0), ("dev", 20, 1)):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(dialogues(number, seed), ensure_ascii=False))
        paths[name] = str(path)
    return paths


def quick(turns: Any, *, remember: bool = True, watch: Watch | None = None) -> EvidencePlanner:
    growth = Growth(rounds=20)
    ranker = RankerSettings(remember=remember, models=1, growth=growth)
    settings = EvidenceSettings(ranker=ranker, models=1, growth=growth)
    return EvidencePlanner.fit(turns, settings, watch)


def test_that_exchanges_become_labelled_turns(files: dict[str, str]) -> None:
    turns = kbp.read_turns([files["dev"]], split="dev")
    assert len(turns) == 80
    both = next(turn for turn in turns if len(turn.plan) == 2)
    assert both.plan == ("PERSONA", "DOCUMENTS")
    (document,) = both.gold["DOCUMENTS"]
    (persona,) = both.gold["PERSONA"]
    assert document.startswith(persona)
    assert next(p for p in both.pools["DOCUMENTS"] if p.id == document).parents == (persona,)
    assert both.context.id.startswith("dev:")


def test_that_evidence_which_is_not_there_is_an_error(tmp_path: Path) -> None:
    broken = dialogues(1, 0)
    broken[0]["conversation"][0]["P-K"] = [["B9"]]
    (tmp_path / "x.json").write_text(json.dumps(broken))
    with pytest.raises(InvalidFile, match="B9"):
        kbp.read_turns([str(tmp_path / "x.json")], split="dev")


def test_that_okapi_equals_the_formula_worked_out_by_hand() -> None:
    pool = [["a", "b"], ["a", "c", "c"], ["d"]]
    idf = np.log(3 - 1 + 0.5) - np.log(1 + 0.5)
    c = idf * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2))
    d = idf * 1 * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 1 / 2))
    assert kbp.okapi_first(pool, ["c", "d"]) == (1 if c > d else 2)
    assert kbp.okapi_first(pool, ["c"]) == 1
    assert kbp.okapi_first(pool, ["b"]) == 0
    assert kbp.okapi_first(pool, ["nothing"]) == 2
    assert kbp.okapi_first([["x", "y"], ["x", "y"]], ["x"]) == 1


def test_that_the_disjoint_split_shares_no_evidence(files: dict[str, str]) -> None:
    train, dev = (kbp.read_turns([files[name]], split=name) for name in ("train", "dev"))
    split = kbp.persona_disjoint(train, dev)
    assert split.train
    assert split.retrieved
    assert len(split.planned) > len(split.retrieved)
    seen = {kbp.persona_text(p.text) for turn in split.train for p in turn.pools["PERSONA"]}
    for turn in split.retrieved:
        assert any(kbp.persona_text(p.text) not in seen for p in turn.pools["PERSONA"] if p.id in turn.gold["PERSONA"])


def command(*arguments: str) -> Any:
    app = Typer()
    app.command()(knowledge)
    return CliRunner().invoke(app, arguments)


def test_that_the_command_prints_every_row(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jieba", reason="the BM25 row needs the extra 'chinese'")
    monkeypatch.setattr("dialoom.evaluation.knowledge.train_planner", quick)
    done = command("--train", files["train"], "--dev", files["dev"], "--test", files["dev"], "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert report["split"] == "test"
    assert set(report["planning"]) == {"NULL", "PERSONA", "BOTH"}
    assert report["planning"]["BOTH"]["f1"] > 90
    assert set(report["recall_at_1"]) == {"PERSONA", "BOTH_PERSONA", "BOTH_DOCUMENTS"}
    assert report["recall_at_1"]["BOTH_PERSONA"] > 90
    assert set(report["rows"]["dev"]) == {"bm25", "learned", "without_memory", "persona_disjoint"}
    assert set(report["rows"]["test"]) == {"bm25", "learned", "without_memory"}


def test_that_the_table_names_the_classes(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialoom.evaluation.knowledge.train_planner", quick)
    done = command("--train", files["train"], "--dev", files["dev"], "--no-ablations")
    assert done.exit_code == 0, done.output
    for word in (
        "Table III: planning on dev",
        "Table IV",
        "Table V:",
        "Figure 5",
        "Table VI:",
        "Table VII",
        "count characters",
        "judge of consistency",
        "ground both",
        "refined steps 3",
        "BOTH_DOCUMENTS",
        "learned",
        "train 240",
        "dev replies 80",
    ):
        assert word in done.stdout


def test_that_replies_can_be_left_out_and_sampled(files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialoom.evaluation.knowledge.train_planner", quick)
    arguments = ("--train", files["train"], "--dev", files["dev"], "--no-ablations", "--json")
    assert json.loads(command(*arguments, "--replies", "none").stdout)["replies"] == {}
    report = json.loads(command(*arguments, "--reply-turns", "7").stdout)
    assert report["turns"]["dev replies"] == 7
    assert set(report["replies"]["dev"]["planned"]) == {
        "bleu_1",
        "rouge_l",
        "persona_consistency",
        "knowledge_consistency",
    }


def test_that_a_unified_model_has_its_own_rows(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="the extra 'train' is not installed")
    from dialoom.knowledge.unified.model import UnifiedModel
    from dialoom.knowledge.unified.sequences import Lengths

    monkeypatch.setattr("dialoom.evaluation.knowledge.train_planner", quick)
    base, lengths = tiny_base(tmp_path / "base"), Lengths(reply=4)
    UnifiedModel.start(base, ("PERSONA", "DOCUMENTS"), lengths=lengths).save(tmp_path / "unims")
    done = command(
        "--train", files["train"], "--dev", files["dev"], "--no-ablations", "--json", "--reply-turns", "12",
        "--replies", f"unims:{tmp_path / 'unims'}",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert set(report["rows"]["dev"]) == {"bm25", "learned", "unims"}
    assert {"no_mask", "with_bm25", "with_learned", "planned"} <= set(report["replies"]["dev"])
    assert report["planning"] == report["rows"]["dev"]["learned"]["planning"]


def tiny_base(path: Path) -> Path:
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({"<unk>": 0, "</s>": 1, **{t: i for i, t in enumerate(THINGS, 2)}}, unk_token="<unk>"))
    words.pre_tokenizer = Split(Regex("."), "isolated")
    PreTrainedTokenizerFast(tokenizer_object=words, unk_token="<unk>", eos_token="</s>").save_pretrained(path)
    config = LlamaConfig(
        vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, eos_token_id=1,
        bos_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(path)
    return path


def test_that_another_format_is_refused_with_the_ones_there_are(files: dict[str, str]) -> None:
    done = command("--train", files["train"], "--dev", files["dev"], "--format", "dulemon")
    assert isinstance(done.exception, UnknownName)
    assert "kbp" in str(done.exception)


@pytest.mark.data
def test_that_the_papers_definitions_hold_on_the_real_dev_set(data: Path) -> None:
    """Counts and BM25 figures checked with an independent implementation (rank_bm25) run on the same definitions."""
    pytest.importorskip("jieba")
    turns = kbp.read_turns([str(data / "kbp" / "dev.json")], split="dev")
    assert [sum(turn.plan == plan for turn in turns) for plan in kbp.PLANS.values()] == [191, 125, 911]
    found = kbp.bm25_scores(turns).recall_at_1
    assert found == pytest.approx({"PERSONA": 48.0, "BOTH_PERSONA": 53.13, "BOTH_DOCUMENTS": 14.71}, abs=0.01)
