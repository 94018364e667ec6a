"""Laws of predictive automata: nothing is lost, nothing depends on order, every conversation has a place."""

from __future__ import annotations

import string
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.automata.automaton import symbol
from dialoom.automata.format import from_parts, to_parts
from dialoom.automata.history import primary
from dialoom.automata.network import Training
from dialoom.automata.predictive import PredictiveModel, PredictiveSettings, learn_predictive
from dialoom.automata.predictive_router import PredictiveRouter
from dialoom.automata.symbols import Round, TagSequence

TAGS = st.sampled_from(["a", "b", "c"])
ROUNDS = st.lists(
    st.builds(
        lambda role, tags: Round(role, tuple(tags)),
        st.sampled_from(["user", "system", "tool"]),
        st.lists(TAGS, max_size=2),
    ),
    max_size=6,
)
SETTINGS = PredictiveSettings(states=6, refinements=2, training=Training(hidden=8, epochs=2, least=5))


@st.composite
def corpora(draw: st.DrawFn) -> list[TagSequence]:
    """A few dialogues; the first has a system turn, so that there is something to predict."""
    first = TagSequence("first", (Round("user", ("a",)), Round("system", ("b",))))
    others = draw(st.lists(ROUNDS, max_size=6))
    return [first, *(TagSequence(string.ascii_lowercase[n], tuple(rounds)) for n, rounds in enumerate(others))]


def learned(corpus: list[TagSequence]) -> PredictiveModel:
    return learn_predictive(corpus, SETTINGS)


@given(corpora())
@settings(max_examples=30, deadline=None)
def test_that_no_round_of_training_is_lost(corpus: list[TagSequence]) -> None:
    automaton = learned(corpus).automaton
    visits = [visit for state in automaton.states for visit in automaton.visits(state.id)]
    assert sorted(visits) == sorted((s.id, n) for s in corpus for n in range(len(s.rounds)))
    assert sum(state.ends for state in automaton.states) == len(corpus)


@given(corpora())
@settings(max_examples=30, deadline=None)
def test_that_counts_are_those_of_the_dialogues_that_pass(corpus: list[TagSequence]) -> None:
    automaton = learned(corpus).automaton
    for state in automaton.states[1:]:
        assert state.count == len(automaton.dialogue_ids(state.id))


@given(corpora(), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_that_the_order_of_dialogues_does_not_matter(corpus: list[TagSequence], draw: Random) -> None:
    shuffled = list(corpus)
    draw.shuffle(shuffled)
    assert learned(corpus).automaton == learned(shuffled).automaton


@given(corpora(), ROUNDS)
@settings(max_examples=30, deadline=None)
def test_that_every_conversation_has_a_place_and_the_same_one_again(
    corpus: list[TagSequence], rounds: list[Round]
) -> None:
    model = learned(corpus)
    route = PredictiveRouter(model).route(rounds)
    assert 0 <= route.state < len(model.automaton)
    assert 0.0 <= route.confidence <= 1.0
    assert [step.round for step in route.path] == list(range(len(rounds)))
    assert route == PredictiveRouter(model).route(rounds)
    for step, before in zip(route.path, [0, *(step.state for step in route.path)], strict=False):
        said = rounds[step.round]
        assert step.known is (model.automaton.step(before, symbol(said.role, primary(said))) == step.state)


@given(corpora(), ROUNDS)
@settings(max_examples=20, deadline=None)
def test_that_a_saved_router_routes_alike(corpus: list[TagSequence], rounds: list[Round]) -> None:
    router = PredictiveRouter(learned(corpus))
    automaton = from_parts(to_parts(router.automaton))
    again = PredictiveRouter.from_parts(router.to_parts(), automaton)
    assert again.route(rounds) == router.route(rounds)
    assert again.candidates(again.route(rounds)) == router.candidates(router.route(rounds))
