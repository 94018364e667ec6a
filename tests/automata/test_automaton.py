from __future__ import annotations

from dataclasses import replace

import pytest

from dialoom.automata import Automaton, Round, TagSequence, Transition, Visit, learn_paper
from dialoom.errors import UnknownName

SEQUENCES = [
    TagSequence(name, (Round("user", ("hello",)), Round("system", (tag,)))) for name, tag in (("a", "x"), ("b", "y"))
]


def learn() -> Automaton:
    return learn_paper(SEQUENCES, tau=0)


def test_that_steps_follow_delta() -> None:
    automaton = learn()

    assert automaton.step(0, "user:hello") == 1
    assert automaton.step(0, "user:bye") is None
    assert dict(automaton.outgoing(1)) == {"system:x": 2, "system:y": 3}
    assert automaton.visits(1) == [Visit("a", 0), Visit("b", 0)]
    assert automaton.dialogue_ids(3) == ("b",)


def test_that_a_foreign_state_is_named() -> None:
    for ask in (learn().state, learn().outgoing, learn().visits, learn().dialogue_ids):
        with pytest.raises(UnknownName, match="99"):
            ask(99)


def test_that_automata_are_compared_by_value() -> None:
    automaton = learn()

    assert automaton == learn()
    assert automaton != replace(automaton, metadata={})
    assert automaton != replace(automaton, visit_round=automaton.visit_round + 1)
    assert automaton != "automaton"


def test_that_two_transitions_on_one_symbol_are_refused() -> None:
    automaton = learn()

    with pytest.raises(ValueError, match="two transitions on 'user:hello'"):
        replace(automaton, transitions=(*automaton.transitions, Transition(0, "user:hello", 2, 1)))
