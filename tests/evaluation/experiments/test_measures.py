from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.metrics import f1_score

from dialoom.corpora import write_jsonl
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import NothingToLearn, UnknownName, UsageError
from dialoom.evaluation.experiments.gold import Found, Gold, ReplyActions, gold_of
from dialoom.evaluation.experiments.measures import Answered, measure
from dialoom.evaluation.experiments.results import Results
from dialoom.evaluation.experiments.summary import compared, summarised
from dialoom.evaluation.metrics import macro_f1
from dialoom.evaluation.next_action import labels_of

from .conftest import Bench, Make

LABELLED = ["next-action", "action@1", "action@2", "action-mrr"]


def talk(id_: str, *pairs: tuple[str, str, str | None], **notes: object) -> Dialogue:
    said = [
        utterance
        for user, system, action in pairs
        for utterance in (
            Utterance(Role.USER, user),
            Utterance(Role.SYSTEM, system, action=action, annotations=notes),
        )
    ]
    return Dialogue(id_, tuple(said))


def item(name: str, answered: Answered) -> float | None:
    found = measure(name)
    assert found.item is not None
    return found.item(answered) if found.applies(answered) else None


def test_that_rankings_are_scored_against_the_gold_evidence() -> None:
    said = Answered("x", "y", gold=Gold(evidence=("a", "b")), found=Found(evidence=("c", "a", "d", "b")))
    assert [item(f"recall@{k}", said) for k in (1, 2, 4)] == [0.0, 0.5, 1.0]
    assert item("mrr", said) == 0.5
    assert item("mrr", Answered("x", "y", gold=Gold(evidence=("a",)))) is None
    assert item("recall@1", Answered("x", "y", found=Found(evidence=("a",)))) is None


def test_that_actions_are_those_of_the_reply_and_of_the_examples() -> None:
    said = Answered("x", "y", gold=Gold(action="pay"), found=Found("ask", ("ask", None, "pay")))
    assert [item(name, said) for name in ("next-action", "action@1", "action@3", "action-mrr")] == [0, 0, 1, 1 / 3]
    assert item("next-action", Answered("x", "y", found=Found("ask"))) is None
    assert item("action@1", Answered("x", "y", gold=Gold(action="pay"))) is None


def test_that_consistency_is_that_of_the_best_agreeing_passage_and_needs_one() -> None:
    passages = ("Parcels take 3 days.", "Shoes come in size 44.")
    agrees, contradicts = (
        item("consistency", Answered(text, "", gold=Gold(passages=passages)))
        for text in ("A parcel takes 3 days.", "A parcel takes 5 days.")
    )
    assert agrees is not None
    assert contradicts is not None
    assert agrees > contradicts
    assert item("consistency", Answered("A parcel takes 3 days.", "")) is None


def test_that_planning_f1_is_that_of_scikit_learn() -> None:
    plans = [(), ("A",), ("A", "B"), ("B", "A"), (), ("A",), ("C",)]
    found = [(), ("A", "B"), ("A", "B"), ("A", "B"), ("A",), ("A",), ()]
    said = [Answered("", "", gold=Gold(plan=g), found=Found(plan=f)) for g, f in zip(plans, found, strict=True)]
    gold_names = ["NULL", "A", "A+B", "A+B", "NULL", "A", "C"]
    found_names = ["NULL", "A+B", "A+B", "A+B", "A", "A", "NULL"]
    corpus = measure("planning-f1").corpus
    assert corpus is not None
    assert corpus(said) == pytest.approx(f1_score(gold_names, found_names, average="macro", zero_division=0))
    for name in ("NULL", "A", "A+B"):
        one = measure(f"planning-f1:{name}").corpus
        assert one is not None
        expected = f1_score(gold_names, found_names, labels=[name], average="macro", zero_division=0)
        assert one(said) == pytest.approx(expected)
    assert measure("planning-f1").applies(Answered("", "", gold=Gold(plan=()))) is False
    with pytest.raises(UsageError, match="no reply"):
        macro_f1([], [])


@pytest.mark.parametrize(
    "name", ["recall@0", "recall@", "recall@x", "action@-1", "mrr@3", "planning-f1:", "consistency:"]
)
def test_that_a_metric_that_is_none_is_refused_with_the_forms(name: str) -> None:
    with pytest.raises(UnknownName, match="recall@K"):
        measure(name)


def test_that_labels_are_read_from_annotations() -> None:
    cited = {"plan": ["shop"], "evidence": [{"id": "p1", "text": "Open at 9.", "source": "shop"}, {"id": "p2"}]}
    assert gold_of(talk("d", ("hi", "open at 9", "hours"), **cited), 1) == Gold(
        "hours", ("shop",), ("p1", "p2"), ("Open at 9.",)
    )
    named = {"evidence": [{"id": "p1", "source": "b"}, {"id": "p2", "source": "a"}, {"id": "p3", "source": "b"}]}
    assert gold_of(talk("d", ("hi", "x", None), **named), 1).plan == ("b", "a")
    assert gold_of(talk("d", ("hi", "x", None), evidence=["Open at 9."]), 1) == Gold(
        None, None, ("Open at 9.",), ("Open at 9.",)
    )
    assert gold_of(talk("d", ("hi", "x", None)), 1) == Gold()


def test_that_labels_of_kbp_are_its_own() -> None:
    spoken = talk("d", ("hi", "x", None), **{"P-K": [["P1"], ["P1-K2"]]}).utterances
    about = {"persona": {"P1": "likes tea"}, "persona_kg": {"P1": {"K1": "no", "K2": "tea is a drink"}}}
    assert gold_of(Dialogue("d", spoken, about), 1) == Gold(
        None, ("PERSONA", "DOCUMENTS"), ("P1", "P1-K2"), ("likes tea", "tea is a drink")
    )
    bare = Dialogue("d", talk("d", ("hi", "x", None), **{"P-K": [[], []]}).utterances, about)
    assert gold_of(bare, 1) == Gold(None, ())


def test_that_words_stand_for_the_action_they_were_said_for() -> None:
    train = [
        talk("a", ("q", "Your order number please", "ask-number"), ("q", "It is on its way", "tell-status")),
        talk("b", ("q", "Your order number please", "ask-number"), ("q", "Goodbye then", None)),
        talk("c", ("q", "Your order number please", "greet")),
    ]
    actions = ReplyActions.build(train, labels_of(train))
    assert actions.of("your  order NUMBER please") == "ask-number"
    assert actions.of("Please tell me the order number") == "ask-number"
    assert actions.of("zzz") is None
    assert ReplyActions.build(train, {}).of("Goodbye then") is None


@pytest.fixture
def labelled(make: Make) -> Bench:
    """Two kinds of questions, each always answered by one action in training."""
    bench = make(writer=["Your order number, please."])
    kinds = {
        "where is my parcel": ("Your order number, please.", "ask"),
        "i want my money back": ("I am sorry.", "regret"),
    }
    for name, count in (("train", 8), ("test", 3)):
        write_jsonl(
            bench.folder / f"{name}.jsonl",
            [
                talk(f"{name}-{kind}-{n}", (question, *answer))
                for kind, (question, answer) in enumerate(kinds.items())
                for n in range(count)
            ],
        )
    return bench


def test_that_next_actions_are_measured_of_retrieved_and_of_generated_replies(labelled: Bench) -> None:
    systems = [
        {"name": "search", "strategy": "s-icl-search", "selector": "bm25", "samples": 3},
        {"name": "written", "strategy": "s-icl-zero-shot", "model": "writer"},
    ]
    results = labelled.run(systems=systems, metrics=LABELLED)
    search, written = summarised(results).lines
    assert [search.metrics[name].value for name in LABELLED] == [1.0, 1.0, 1.0, 1.0]
    assert (written.metrics["next-action"].value, written.metrics["next-action"].count) == (0.5, 6)
    assert written.metrics["action@1"].value is None
    assert Results.load(labelled.folder / "out").rows == results.rows
    assert compared((results, "search"), (results, "written"), "next-action").difference == 0.5
    with pytest.raises(NothingToLearn, match="'recall@1' says nothing"):
        compared((results, "search"), (results, "written"), "recall@1")


def test_that_systems_see_no_action(labelled: Bench) -> None:
    labelled.run(systems=[{"name": "w", "strategy": "s-icl-three-samples", "model": "writer"}], metrics=["next-action"])
    assert "regret" not in "".join(m.content for r in labelled.models["writer"].requests for m in r.messages)


def test_that_plans_and_evidence_of_a_prediction_file_are_measured(make: Make) -> None:
    bench = make()
    gold = {"plan": ["shop"], "evidence": [{"id": "p1", "text": "Parcels take 3 days."}]}
    write_jsonl(bench.folder / "test.jsonl", [talk("d", ("hi", "It takes 3 days", None), **gold)])
    said = {"dialogue": "d", "turn": 1, "text": "Parcels take 3 days", "plan": ["shop"], "evidence": ["p7", "p1"]}
    bench.predictions([said])
    metrics = ["planning-f1", "recall@1", "recall@2", "mrr", "consistency"]
    system = {"name": "theirs", "predictions": "predictions.jsonl"}
    results = bench.run(systems=[system], metrics=metrics)
    values = summarised(results).lines[0].metrics
    assert [values[name].value for name in metrics] == [1.0, 0.0, 1.0, 0.5, 1.0]
    assert summarised(Results.load(bench.folder / "out")) == summarised(results)
    bench.predictions([{**said, "plan": "shop"}])
    with pytest.raises(UsageError, match="plan is no list"):
        bench.run(systems=[system], metrics=metrics)


def test_that_what_was_claimed_is_kept_in_the_results(make: Make, tmp_path: Path) -> None:
    bench = make(writer=["fine"])
    bench.run()
    rows = [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]
    assert {"action", "actions", "plan", "evidence"} == set(rows[0]["found"])
    replies = [json.loads(line) for line in (tmp_path / "out" / "replies.jsonl").read_text().splitlines()]
    assert all(reply["examples"] for reply in replies if reply["system"] == "random")
