from __future__ import annotations

import random

import numpy as np
import pytest

from dialoom.automata import PredictiveRouter, PredictiveSettings, Round, Router, TagSequence, learn_predictive
from dialoom.automata.assignment import Moves, Positions
from dialoom.automata.history import FeatureIndex, History
from dialoom.automata.network import Network, Training
from dialoom.errors import InvalidFile, NothingToLearn, UsageError

LINE = Round("user", ("hi",)), Round("system", ("hello",))
REFUND = (*LINE, Round("user", ("refund",)), Round("system", ("ask order",)), Round("user", ("order",)))
ROOM = (*LINE, Round("user", ("room",)), Round("system", ("ask name",)), Round("user", ("name",)))
ALLOWED = (*REFUND, Round("tool", ("refunds: allowed",)), Round("system", ("offer",)))
REFUSED = (*REFUND, Round("tool", ("refunds: too old",)), Round("system", ("refuse",)))
BOOKED = (*ROOM, Round("system", ("booked",)))
CORPUS = [TagSequence(f"{n:03}", (ALLOWED, REFUSED, BOOKED)[n % 3]) for n in range(120)]


@pytest.fixture(scope="module")
def router() -> PredictiveRouter:
    return PredictiveRouter(learn_predictive(CORPUS, PredictiveSettings(states=40)))


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (LINE[:1], "hello"),
        (REFUND[:3], "ask order"),
        (ROOM[:3], "ask name"),
        (ALLOWED[:6], "offer"),
        (REFUSED[:6], "refuse"),
        (ROOM, "booked"),
    ],
)
def test_that_the_next_tag_follows_from_history(
    router: PredictiveRouter, rounds: tuple[Round, ...], expected: str
) -> None:
    assert isinstance(router, Router)
    route = router.route(rounds)
    assert route.next_tags[0][0] == expected
    assert [step.round for step in route.path] == list(range(len(rounds)))
    assert route.path[-1].state == route.state


def test_that_candidates_are_turns_with_the_expected_tag_and_those_of_the_state_come_first(
    router: PredictiveRouter,
) -> None:
    route = router.route(ROOM)
    found = router.candidates(route)
    assert {(c.dialogue_id, c.round) for c in found} == {(s.id, 5) for s in CORPUS if s.rounds == BOOKED}
    assert [c.score for c in found] == sorted((c.score for c in found), reverse=True)
    assert found[0].score == 1.0


def test_that_a_conversation_is_never_stuck(router: PredictiveRouter) -> None:
    lost = (*LINE, Round("user", ("never seen",)), Round("martian", ("x",)), Round("user", ()), *REFUND[2:3])
    route = router.route(lost)
    assert len(route.path) == len(lost)
    assert not route.path[2].known
    assert route.next_tags[0][0] == "ask order"


def test_that_moves_of_training_are_transitions(router: PredictiveRouter) -> None:
    steps = [step for sequence in CORPUS for step in router.route(sequence.rounds).path]
    assert sum(step.known for step in steps) / len(steps) > 0.95


def test_that_the_automaton_knows_every_dialogue(router: PredictiveRouter) -> None:
    automaton = router.automaton
    assert len(automaton) <= 40
    assert automaton.dialogue_ids(0) == ()  # visits are after rounds, and nothing was said at the start
    assert set(automaton.dialogues) == {s.id for s in CORPUS}
    visits = [visit for state in automaton.states for visit in automaton.visits(state.id)]
    assert len(visits) == sum(len(s.rounds) for s in CORPUS) == len(set(visits))
    assert sum(state.ends for state in automaton.states) == len(CORPUS)
    assert sum(t.traffic for t in automaton.transitions) == len(visits)
    names = [state.name for state in automaton.states]
    assert len(set(names)) == len(names)
    for transition in automaton.transitions:  # a state is led into by one role alone
        assert automaton.state(transition.target).role == transition.symbol.partition(":")[0]


def test_that_order_does_not_matter(router: PredictiveRouter) -> None:
    shuffled = list(CORPUS)
    random.Random(3).shuffle(shuffled)
    again = PredictiveRouter(learn_predictive(iter(shuffled), PredictiveSettings(states=40)))
    assert again.to_parts() == router.to_parts()
    assert again.automaton == router.automaton


def test_that_a_loaded_router_routes_alike(router: PredictiveRouter) -> None:
    loaded = PredictiveRouter.from_parts(router.to_parts(), router.automaton)
    for sequence in CORPUS[:3]:
        for length in range(len(sequence.rounds) + 1):
            route = router.route(sequence.rounds[:length])
            assert loaded.route(sequence.rounds[:length]) == route
            assert loaded.candidates(route) == router.candidates(route)
    assert loaded.to_parts() == router.to_parts()


def test_that_parts_of_another_automaton_are_refused(router: PredictiveRouter) -> None:
    other = learn_predictive(CORPUS[:30], PredictiveSettings(states=5)).automaton
    with pytest.raises(InvalidFile, match="do not fit together"):
        PredictiveRouter.from_parts(router.to_parts(), other)
    with pytest.raises(InvalidFile):
        PredictiveRouter.from_parts({**router.to_parts(), "predictive.json": b"{}"}, router.automaton)
    first = router.to_parts()["network_output.npy"]
    with pytest.raises(InvalidFile, match="layers"):
        PredictiveRouter.from_parts({**router.to_parts(), "network_input.npy": first}, router.automaton)


def test_that_a_grown_conversation_routes_as_if_read_at_once(router: PredictiveRouter) -> None:
    fresh = PredictiveRouter(router.model)
    grown = [router.route(ALLOWED[:n]) for n in range(len(ALLOWED) + 1)][-1]
    assert fresh.route(ALLOWED) == grown


def test_that_doubt_is_flagged(router: PredictiveRouter) -> None:
    coin = [TagSequence(f"{n}", (Round("user", ("hi",)), Round("system", (str(n % 8),)))) for n in range(160)]
    route = PredictiveRouter(learn_predictive(coin)).route(coin[0].rounds[:1])
    assert route.confidence == pytest.approx(1 / 8)
    assert route.fallback == "low_confidence"
    assert "too few" in route.reason
    assert router.route(ROOM).fallback is None
    assert router.route(ROOM).confidence > 0.9


def test_that_the_state_alone_answers_too(router: PredictiveRouter) -> None:
    route = router.by_state(router.route(ROOM))
    assert route.next_tags[0][0] == "booked"


def test_that_a_sample_places_every_dialogue() -> None:
    model = learn_predictive(CORPUS, PredictiveSettings(states=20, sample=200))
    assert len(model.automaton.dialogues) == len(CORPUS)
    assert len(model.automaton.visit_round) == sum(len(s.rounds) for s in CORPUS)
    assert PredictiveRouter(model).route(ROOM).next_tags[0][0] == "booked"


def test_that_there_must_be_system_turns_and_sensible_settings() -> None:
    with pytest.raises(NothingToLearn):
        learn_predictive([TagSequence("a", LINE[:1])])
    with pytest.raises(NothingToLearn):
        learn_predictive([])
    with pytest.raises(UsageError):
        PredictiveSettings(states=1)
    with pytest.raises(UsageError):
        PredictiveSettings(pull=-1.0)


def test_that_one_dialogue_is_enough() -> None:
    assert PredictiveRouter(learn_predictive(CORPUS[:1])).route(LINE[:1]).next_tags


def test_that_moves_are_counted_by_hand() -> None:
    positions = Positions(np.array([0, 3, 6]), np.array([-1, 0, 1, -1, 0, 1]), np.array([-1, 0, 1, -1, 0, 1]))
    moves = Moves.count(positions, np.array([0, 1, 2, 0, 1, 3]), states=4, symbols=2)
    assert moves.table.tolist() == [[1, -1], [-1, 2], [-1, -1], [-1, -1]]  # a tie goes to the lower state
    assert moves.traffic.tolist() == [[2, 0], [0, 2], [0, 0], [0, 0]]
    assert moves.default.tolist() == [1, 2]
    assert moves.expected(np.array([3, 1]), np.array([0, 1])).tolist() == [1, 2]


def test_that_one_row_and_many_are_predicted_alike() -> None:
    histories = [History()]
    for said in ALLOWED:
        histories.append(histories[-1].pushed(said))
    features = FeatureIndex.fit(histories, at_least=1)
    rows = features.matrix(histories)
    network = Network.fit(rows, np.arange(len(histories)), len(histories), Training(hidden=64))
    many = network.predict(rows)
    assert many.sum(axis=1) == pytest.approx(np.ones(len(histories)), abs=1e-5)
    assert (many.argmax(axis=1) == np.arange(len(histories))).all()
    for row, history in zip(many, histories, strict=True):
        assert network.predict_one(*features.row(history)) == pytest.approx(row, abs=1e-5)
