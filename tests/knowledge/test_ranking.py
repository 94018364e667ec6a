from __future__ import annotations

import numpy as np
import pytest

from dialoom.errors import NothingToLearn
from dialoom.knowledge.base import Evidence, Query
from dialoom.knowledge.ranking.experience import Experience
from dialoom.knowledge.ranking.features import kinship
from dialoom.knowledge.ranking.ranker import LearnedRanker, RankerSettings
from dialoom.knowledge.ranking.trees import Growth, Trees
from dialoom.knowledge.terms import Lexicon

from .doubles import toy_turns

SMALL = RankerSettings(models=1, growth=Growth(rounds=40))


def test_that_trees_say_what_scikit_learn_says() -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier

    chance = np.random.default_rng(0)
    columns = chance.normal(size=(400, 5)).astype(np.float32)
    for classes in (2, 3):
        labels = (columns[:, 0] > 0).astype(np.int64) + (columns[:, 1] > 0.5) * (classes - 2)
        model = HistGradientBoostingClassifier(max_iter=10, early_stopping=False, random_state=0).fit(columns, labels)
        trees = Trees.of(model._predictors, model._baseline_prediction)
        expected = model.predict_proba(columns)
        found = trees.probabilities(columns)
        assert np.allclose(found, expected[:, 1:] if classes == 2 else expected, atol=1e-9)


def test_that_trees_survive_saving() -> None:
    chance = np.random.default_rng(1)
    columns = chance.normal(size=(200, 3)).astype(np.float32)
    trees = Trees.fit(columns, (columns[:, 0] > 0).astype(np.int64), Growth(rounds=5, leaves=4), 0)
    assert np.array_equal(trees.raw(columns), Trees.from_parts(trees.parts()).raw(columns))


def test_that_a_turns_own_dialogue_is_never_remembered() -> None:
    turns = toy_turns(4)
    lexicon = Lexicon.fit(turn.reply for turn in turns)
    experience = Experience.gather(turns, lexicon)
    turn = turns[0]
    recall = experience.recall(lexicon.vector(turn.context.utterances[-1].text), turn.context.id)
    own = [i for i, other in enumerate(turns) if other.context.id == turn.context.id]
    assert not recall.foreign[own].any()
    assert recall.turns[own].max() == 0
    stranger = experience.recall(lexicon.vector(turn.context.utterances[-1].text), "another")
    assert stranger.turns[0] == pytest.approx(1.0, abs=1e-5)


def test_that_kinship_is_read_from_parents() -> None:
    kin = kinship(turn.pools for turn in toy_turns(2))
    assert kin["FACTS"].parents == ("HOBBY",)
    assert kin["HOBBY"].children == ("FACTS",)
    assert kin["FACTS"].siblings
    assert not kin["HOBBY"].siblings


@pytest.fixture(scope="module")
def ranker() -> LearnedRanker:
    return LearnedRanker.fit(toy_turns(60), SMALL)


def test_that_the_ranker_finds_the_evidence_of_new_dialogues(ranker: LearnedRanker) -> None:
    hits = []
    for turn in toy_turns(30, seed=1):
        probabilities = ranker.look(turn.context, turn.pools).probabilities
        best = {source: turn.pools[source][int(probabilities[source].argmax())].id for source in turn.plan}
        hits += [best[source] in turn.gold[source] for source in turn.plan]
    assert np.mean(hits) > 0.9


def test_that_nothing_is_likely_when_nothing_is_needed(ranker: LearnedRanker) -> None:
    turns = toy_turns(30, seed=2)
    best = {
        needed: [ranker.look(t.context, t.pools).probabilities["HOBBY"].max() for t in turns if bool(t.plan) is needed]
        for needed in (True, False)
    }
    assert np.mean(best[True]) > np.mean(best[False]) + 0.3


async def test_that_relevance_is_in_tenths_and_in_order(ranker: LearnedRanker) -> None:
    turn = next(t for t in toy_turns(5, seed=3) if len(t.plan) == 2)
    evidence = [Evidence(source, passage, 0.0) for source, pool in turn.pools.items() for passage in pool]
    scores = await ranker.relevance(Query(turn.context), evidence)
    assert len(scores) == len(evidence)
    assert all(round(score * 10) == pytest.approx(score * 10) for score in scores)
    foreign = await ranker.relevance(Query(turn.context), [Evidence("UNKNOWN", evidence[0].passage, 0.0)])
    assert foreign == [0.0]


def test_that_a_ranker_survives_saving(ranker: LearnedRanker) -> None:
    again = LearnedRanker.from_parts(ranker.parts())
    turn = toy_turns(1, seed=4)[0]
    before, after = (r.look(turn.context, turn.pools).probabilities for r in (ranker, again))
    for source in before:
        assert np.array_equal(before[source], after[source])


def test_that_an_empty_pool_is_no_trouble(ranker: LearnedRanker) -> None:
    turn = toy_turns(1, seed=5)[0]
    look = ranker.look(turn.context, {"HOBBY": turn.pools["HOBBY"], "FACTS": []})
    assert set(look.probabilities) == {"HOBBY"}
    assert look.sources == ("FACTS", "HOBBY")


def test_that_without_memory_nothing_of_the_training_turns_is_kept() -> None:
    forgetful = LearnedRanker.fit(toy_turns(20), RankerSettings(remember=False, models=1, growth=Growth(rounds=10)))
    assert not any(name.startswith("experience") for name in forgetful.parts())
    assert LearnedRanker.from_parts(forgetful.parts()).featuriser.experience is None


def test_that_turns_without_evidence_teach_nothing() -> None:
    with pytest.raises(NothingToLearn):
        LearnedRanker.fit([t for t in toy_turns(3) if not t.plan], SMALL)
