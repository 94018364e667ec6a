from __future__ import annotations

import json

import numpy as np
import pytest

from dialoom.errors import NothingToLearn, UnknownName, UsageError
from dialoom.knowledge.base import Passage
from dialoom.knowledge.planning.evidence import EvidencePlanner, EvidenceSettings
from dialoom.knowledge.planning.fixed import AlwaysPlanner, NeverPlanner, RulePlanner
from dialoom.knowledge.planning.offsets import f1_scores, tune
from dialoom.knowledge.planning.pools import candidate_pools
from dialoom.knowledge.planning.prompted import PromptedPlanner
from dialoom.knowledge.planning.text import TextPlanner, folds
from dialoom.knowledge.ranking.ranker import RankerSettings
from dialoom.knowledge.ranking.trees import Growth
from dialoom.knowledge.sources import IndexedSource

from .doubles import Answers, Fixed, asking, toy_turns

SOURCES = [Fixed("FACTS", depends_on=["HOBBY"]), Fixed("HOBBY")]


async def test_that_always_means_every_source_in_order_and_never_none() -> None:
    assert (await AlwaysPlanner().plan(asking("x"), SOURCES)).sources == ("HOBBY", "FACTS")
    assert (await NeverPlanner().plan(asking("x"), SOURCES)).sources == ()


async def test_that_rules_match_the_last_words_and_bring_dependencies() -> None:
    planner = RulePlanner({"FACTS": r"how (many|long)"})
    assert (await planner.plan(asking("HOW LONG is it?"), SOURCES)).sources == ("HOBBY", "FACTS")
    assert (await planner.plan(asking("how long?", "Ten.", "thanks"), SOURCES)).sources == ()


async def test_that_a_rule_for_an_unknown_source_or_a_broken_rule_is_an_error() -> None:
    with pytest.raises(UsageError, match="regular expression"):
        RulePlanner({"FACTS": "("})
    with pytest.raises(UnknownName, match="FACT"):
        await RulePlanner({"FACT": "."}).plan(asking("x"), SOURCES)


async def test_that_a_prompted_plan_is_asked_with_a_schema_and_closed() -> None:
    model = Answers('{"sources": ["FACTS"]}')
    plan = await PromptedPlanner(model).plan(asking("how long is it?"), SOURCES)
    assert plan.sources == ("HOBBY", "FACTS")
    (request,) = model.requests
    assert request.constraint is not None
    assert request.constraint.value["properties"]["sources"]["items"]["enum"] == ["HOBBY", "FACTS"]
    assert "about facts" in request.messages[0].content


@pytest.mark.parametrize("answer", ["I think HOBBY", '{"sources": ["SECRETS"]}', '{"plan": []}', ""])
async def test_that_an_unusable_answer_falls_back_and_says_so(answer: str) -> None:
    plan = await PromptedPlanner(Answers(answer), fallback=["HOBBY"]).plan(asking("x"), SOURCES)
    assert plan.sources == ("HOBBY",)
    assert "not a plan" in plan.reason


async def test_that_a_failing_model_falls_back() -> None:
    plan = await PromptedPlanner(Answers()).plan(asking("x"), SOURCES)
    assert plan.sources == ()
    assert "failed" in plan.reason


async def test_that_examples_make_the_prompt_few_shot() -> None:
    model = Answers('{"sources": []}')
    examples = toy_turns(1)[:2]
    await PromptedPlanner(model, examples=examples).plan(asking("x"), SOURCES)
    shown = [json.loads(m.content)["sources"] for m in model.requests[0].messages if m.role == "assistant"]
    assert shown == [list(example.plan) for example in examples]


def test_that_folds_never_split_a_dialogue() -> None:
    groups = ["a", "a", "b", "c", "c", "d", "e", "f"]
    seen = []
    for train, test in folds(groups, number=3):
        assert not {groups[i] for i in train} & {groups[i] for i in test}
        seen += test.tolist()
    assert sorted(seen) == list(range(len(groups)))


def test_that_f1_is_one_class_against_the_rest() -> None:
    scores = f1_scores(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1]), 4)
    assert scores.tolist() == pytest.approx([2 / 3, 0.5, 0.0, 0.0])


def test_that_offsets_help_a_rare_class_that_argmax_never_names() -> None:
    chance = np.random.default_rng(0)
    gold = (chance.random(500) < 0.1).astype(np.int64)
    rare = np.clip(0.15 + 0.25 * gold + chance.normal(0, 0.05, 500), 0.01, 0.45)
    logs = np.log(np.column_stack([1 - rare, rare]))
    before = f1_scores(gold, logs.argmax(axis=1), 2)
    after = f1_scores(gold, (logs + tune(logs, gold, balance=1.0)).argmax(axis=1), 2)
    assert before[1] == 0
    assert after[1] > 0.8


def test_that_aims_raise_the_class_that_falls_shortest() -> None:
    chance = np.random.default_rng(0)
    gold = (chance.random(500) < 0.1).astype(np.int64)
    rare = np.clip(0.15 + 0.1 * gold + chance.normal(0, 0.08, 500), 0.01, 0.99)
    logs = np.log(np.column_stack([1 - rare, rare]))
    f1 = {}
    for aim in (0.0, 0.5):
        offsets = tune(logs, gold, aims=np.array([0.9, aim]))
        f1[aim] = f1_scores(gold, (logs + offsets).argmax(axis=1), 2)
    assert f1[0.5][1] > f1[0.0][1]
    assert f1[0.5][0] < f1[0.0][0]


@pytest.fixture(scope="module")
def text_planner() -> TextPlanner:
    return TextPlanner.fit(toy_turns(60))


async def test_that_a_text_planner_plans_new_dialogues(text_planner: TextPlanner) -> None:
    turns = toy_turns(30, seed=1)
    plans = [(await text_planner.plan(asking(turn.context.utterances[-1].text), SOURCES)).sources for turn in turns]
    assert np.mean([plan == turn.plan for plan, turn in zip(plans, turns, strict=True)]) > 0.95


async def test_that_a_plan_which_the_sources_cannot_carry_out_is_not_chosen(text_planner: TextPlanner) -> None:
    plan = await text_planner.plan(asking("what about bcdf, tell me a number"), [Fixed("HOBBY")])
    assert plan.sources in {(), ("HOBBY",)}
    assert sum(plan.probabilities.values()) == pytest.approx(1.0)


async def test_that_a_text_planner_survives_saving(text_planner: TextPlanner) -> None:
    again = TextPlanner.from_parts(text_planner.parts())
    context = asking("do you like chess?").context
    assert np.allclose(again.probabilities(context), text_planner.probabilities(context))
    assert np.array_equal(again.offsets, text_planner.offsets)


def test_that_one_plan_alone_teaches_nothing() -> None:
    with pytest.raises(NothingToLearn):
        TextPlanner.fit([turn for turn in toy_turns(3) if not turn.plan])


@pytest.fixture(scope="module")
def evidence_planner() -> EvidencePlanner:
    growth = Growth(rounds=30)
    settings = EvidenceSettings(ranker=RankerSettings(models=1, growth=growth), models=1, growth=growth)
    return EvidencePlanner.fit(toy_turns(60), settings)


def test_that_an_evidence_planner_plans_new_dialogues(evidence_planner: EvidencePlanner) -> None:
    turns = toy_turns(30, seed=1)
    right = [evidence_planner.decide(turn.context, turn.pools) == turn.plan for turn in turns]
    assert np.mean(right) > 0.95


def test_that_an_evidence_planner_survives_saving(evidence_planner: EvidencePlanner) -> None:
    again = EvidencePlanner.from_parts(evidence_planner.parts())
    for turn in toy_turns(2, seed=2):
        expected = evidence_planner.probabilities(turn.context, turn.pools)
        assert np.allclose(again.probabilities(turn.context, turn.pools), expected)


async def test_that_an_evidence_planner_asks_the_sources_itself(evidence_planner: EvidencePlanner) -> None:
    turn = next(turn for turn in toy_turns(5, seed=3) if len(turn.plan) == 2)
    sources = [
        IndexedSource("HOBBY", "", turn.pools["HOBBY"], exhaustive=True),
        IndexedSource("FACTS", "", turn.pools["FACTS"], depends_on=["HOBBY"], exhaustive=True),
    ]
    query = asking(turn.context.utterances[-1].text)
    assert (await evidence_planner.plan(query, sources)).sources == turn.plan


async def test_that_a_failing_or_slow_source_has_an_empty_pool() -> None:
    sources = [Fixed("A", fails=True), Fixed("B", ["b"], seconds=2.0), Fixed("C", ["c"])]
    pools = await candidate_pools(asking("x"), sources, deadline=0.2)
    assert pools == {"A": [], "B": [], "C": [Passage("C-0", "c")]}
