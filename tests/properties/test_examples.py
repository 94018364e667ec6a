"""Laws of choosing examples, for any corpus and any scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.examples import DenseSelector, TurnIndex
from dialoom.examples.ranking import best
from dialoom.testing.encoders import HashedWords

WORDS = st.lists(st.sampled_from(("where", "parcel", "money", "back", "lamp", "yes", "no")), min_size=1, max_size=4)
SAID = st.builds(Utterance, role=st.sampled_from(Role), text=WORDS.map(" ".join))
CORPORA = st.lists(st.lists(SAID, max_size=7).map(tuple), min_size=1, max_size=12).map(
    lambda many: tuple(Dialogue(f"d{number}", said) for number, said in enumerate(many))
)


@settings(max_examples=80, deadline=None)
@given(CORPORA, st.data())
def test_that_the_best_are_the_first_of_a_full_sort(corpus: tuple[Dialogue, ...], data: st.DataObject) -> None:
    index = TurnIndex.build(corpus)
    every = range(len(index))
    turns = np.array(sorted(data.draw(st.sets(st.sampled_from(every)) if every else st.just(set()))), np.int64)
    scores = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(turns), max_size=len(turns))), np.float32)
    n = data.draw(st.integers(0, 6))
    order = sorted(zip(-scores, turns, strict=True))
    expected: dict[int, int] = {}
    for _, turn in order:
        expected.setdefault(int(index.dialogue_of[turn]), int(turn))
    found = best(index, scores, n, "why", turns)
    places = [(example.dialogue.id, example.reply) for example in found]
    assert [int(index.at([place])[0]) for place in places] == list(expected.values())[:n]


@settings(max_examples=40, deadline=None)
@given(CORPORA, st.integers(1, 4), st.sampled_from([0.5, 1.0]))
def test_that_a_built_context_is_its_live_self(corpus: tuple[Dialogue, ...], size: int, decay: float) -> None:
    selector = DenseSelector.build(TurnIndex.build(corpus), HashedWords(), size=size, decay=decay)
    for turn in range(len(selector.index)):
        dialogue = selector.index.dialogue(int(selector.index.dialogue_of[turn]))
        context = Dialogue("now", dialogue.utterances[: selector.index.reply_of[turn]])
        assert selector.scores(context)[turn] == pytest.approx(1, abs=1e-3)
