from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from dialoom.cli.eval import app
from dialoom.corpora import write_jsonl
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import NothingToLearn, UnknownName, UsageError
from dialoom.evaluation.contenders import Contenders
from dialoom.evaluation.intervals import interval
from dialoom.evaluation.next_action import (
    Case,
    blind,
    cases,
    labels_of,
    observed,
    score,
    split_by_task,
    usable,
)
from dialoom.examples import Example
from dialoom.testing.workflows import dialogues

CORPUS = dialogues(100)


class Fixed:
    """Always shows the same turns."""

    def __init__(self, *examples: Example) -> None:
        self.examples = examples

    def select(self, context: Dialogue, n: int = 5) -> Sequence[Example]:
        return self.examples[:n]


def replies(*actions: str | None) -> Dialogue:
    return Dialogue("train", tuple(Utterance(Role.SYSTEM, "x", action=action) for action in actions))


def test_that_top1_votes_and_pools_are_counted_by_hand() -> None:
    past = replies(None, "a", "b", "b", "custom", "b", "a")
    selector = Fixed(*(Example(past, reply, 1.0) for reply in range(7)))
    asked = [Case(Dialogue("1", ()), "a", "t"), Case(Dialogue("2", ()), "b", "t")]
    found = score(selector, labels_of([past]), asked)
    assert found.top1.value == 0.5  # the first labelled one is "a"
    assert found.vote5.value == 0.5  # a b b b a: "b"
    assert found.strict_top1.value == 0.0  # the first one has no label
    assert found.strict_vote5.value == 0.0  # none a b b none: a tie, and the first voted for is no label
    assert found.tasks == {"t": (0.5, 0.5)}
    assert found.turns == 2


def test_that_a_strict_tie_goes_to_the_first_vote() -> None:
    past = replies(None, "b", "b", None, "a")
    found = score(
        Fixed(*(Example(past, r, 1.0) for r in range(5))), labels_of([past]), [Case(Dialogue("1", ()), "b", "")]
    )
    assert (found.vote5.value, found.strict_vote5.value) == (1.0, 0.0)


def test_that_no_example_is_a_wrong_one_and_no_case_is_said() -> None:
    assert score(Fixed(), {}, [Case(Dialogue("1", ()), "a", "t")]).top1.value == 0.0
    with pytest.raises(NothingToLearn):
        score(Fixed(), {}, [])


def test_that_only_known_actions_of_system_turns_are_scored() -> None:
    said = Dialogue(
        "d",
        (
            Utterance(Role.USER, "u", action="user act"),
            Utterance(Role.TOOL, "t", action="query"),
            Utterance(Role.SYSTEM, "s", action="greet"),
            Utterance(Role.SYSTEM, "s", action="custom"),
            Utterance(Role.SYSTEM, "s"),
        ),
        {"tasks": ["t"]},
    )
    (case,) = cases([said])
    assert (case.action, case.task, len(case.context)) == ("greet", "t", 2)
    assert all(u.action is None for u in case.context.utterances)
    assert not case.context.metadata


def test_that_learning_is_blind_to_actions_and_tasks() -> None:
    renamed = [
        Dialogue(d.id, tuple(replace(u, action=u.action and "z") for u in d.utterances), {"tasks": ["z"]})
        for d in CORPUS
    ]
    one, other = Contenders(CORPUS), Contenders(renamed)
    assert one.router.to_parts() == other.router.to_parts()
    assert not blind(CORPUS[0]).metadata


def test_that_the_split_is_fair_seeded_and_free_of_order() -> None:
    split = split_by_task(CORPUS, 0.2, 0)
    assert len(split.test) == 20
    assert sum(d.metadata["tasks"] == ["room"] for d in split.test) == 10
    assert not {d.id for d in split.train} & {d.id for d in split.test}
    shuffled = list(CORPUS)
    random.Random(0).shuffle(shuffled)
    assert split_by_task(shuffled, 0.2, 0) == split
    assert split_by_task(CORPUS, 0.2, 1) != split
    with pytest.raises(UsageError):
        split_by_task(CORPUS, 1.0, 0)


def test_that_trouble_and_unfinished_dialogues_do_not_count() -> None:
    assert usable(Dialogue("a", ()))
    for metadata in ({"happy": False}, {"multi_task": True}, {"completion": "DisconnectDuringDialogue"}):
        assert not usable(Dialogue("a", (), metadata))


def test_that_text_hides_the_tools() -> None:
    assert any(u.role is Role.TOOL for u in observed(CORPUS[0], "tools").utterances)
    assert not any(u.role is Role.TOOL for u in observed(CORPUS[0], "text").utterances)


def test_that_the_default_strategy_reads_tool_results_and_beats_chance() -> None:
    split = split_by_task(CORPUS, 0.2, 0)
    asked = list(cases(split.test))
    contenders = Contenders(split.train)
    automaton = contenders.score("automaton", asked)
    assert automaton.top1.value > 0.95
    assert automaton.top1.value > contenders.score("random", asked).top1.value + 0.5
    assert contenders.ceiling(asked).top1.value > 0.9
    assert contenders.score("paper", asked).top1.value < automaton.top1.value
    moves = contenders.transitions(split.test)
    assert 0.8 < moves.right <= moves.known <= 1.0
    assert moves.stretch_right <= moves.stretch_known
    assert moves.right <= moves.right_with_default
    with pytest.raises(UnknownName):
        contenders.selector("magic")


def test_that_intervals_hold_the_mean_and_widen_with_dependence() -> None:
    values = np.asarray([1.0, 0.0] * 100)
    alone = interval(values, range(200))
    together = interval(np.repeat([1.0, 0.0], 100), [n // 20 for n in range(200)])
    assert alone[0] < 0.5 < alone[1]
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])
    assert interval(np.zeros(0), []) == (0.0, 0.0)


@pytest.fixture(scope="module")
def transcripts(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("eval") / "shop.jsonl"
    write_jsonl(path, CORPUS)
    return str(path)


def test_that_the_command_prints_json(transcripts: str) -> None:
    asked = ["next-action", "--data", transcripts, "--selectors", "bm25,automaton", "--observe", "tools", "--json"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert set(found["selectors"]) == {"bm25", "automaton"}
    assert 0.95 < found["selectors"]["automaton"]["top1"] <= 1.0
    assert 0.0 <= found["selectors"]["bm25"]["vote5"] <= 1.0
    assert found["dialogues"] == {"train": 80, "test": 20}
    assert found["automaton"]["states"] <= 200


def test_that_the_command_prints_a_table(transcripts: str) -> None:
    asked = ["next-action", "--train", transcripts, "--test", transcripts, "--selectors", "random"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    assert "majority of 5" in result.stdout
    assert "refund" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "Say what to evaluate on"),
        (["--data", "x", "--train", "y"], "Say what to evaluate on"),
        (["--train", "x"], "Say what to evaluate on"),
        (["--data", "x", "--observe", "minds"], "minds"),
    ],
)
def test_that_mistakes_are_said(arguments: list[str], problem: str) -> None:
    result = CliRunner().invoke(app, ["next-action", *arguments])
    assert isinstance(result.exception, UsageError)
    assert problem in str(result.exception)


@pytest.mark.data
@pytest.mark.slow
def test_that_star_text_alone_beats_the_best_retriever(data: Path) -> None:
    from dialoom.corpora import open_corpus

    found = [observed(d, "text") for d in open_corpus([str(data / "star" / "star-dev.zip")]) if usable(d)]
    some = split_by_task(split_by_task(found, 0.3, 0).test, 0.25, 0)
    asked = list(cases(some.test))
    contenders = Contenders(some.train)
    best = max(contenders.score(name, asked).top1.value for name in ("bm25", "dense"))
    assert contenders.score("automaton", asked).top1.value > best + 0.04
