"""Difference and conformance of automata, and samples on states."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialoom.automata import Automaton, Round, TagSequence, conform, diff, learn_paper, with_samples
from dialoom.automata.conformance import Departure
from dialoom.automata.difference import Move, StateShift, TransitionShift
from dialoom.errors import UsageError


def talk(name: str, *tags: str) -> TagSequence:
    return TagSequence(name, tuple(Round("user" if k % 2 == 0 else "system", (tag,)) for k, tag in enumerate(tags)))


def learn(*kinds: tuple[int, tuple[str, ...]]) -> Automaton:
    talks = [talk(f"{n}-{k}", *tags) for n, (times, tags) in enumerate(kinds) for k in range(times)]
    return learn_paper(talks, tau=0, threshold=1.0)


BEFORE = learn((8, ("hello", "ask", "answer")), (2, ("refund", "form")))


def test_that_an_automaton_does_not_differ_from_itself() -> None:
    same = diff(BEFORE, BEFORE)

    assert not same
    assert same.report() == "No difference."


def test_that_ids_do_not_matter() -> None:
    """The refund branch is now the busier one, so that every id is another."""
    after = learn((8, ("refund", "form")), (8, ("hello", "ask", "answer")))

    changed = diff(BEFORE, after)
    assert changed.states_came == changed.states_went == ()
    assert changed.transitions_came == changed.transitions_went == ()
    assert changed.transitions_redirected == ()


def test_that_states_and_transitions_that_come_go_and_shift_are_told() -> None:
    after = learn((5, ("hello", "ask", "answer")), (5, ("hello", "offer")))
    changed = diff(BEFORE, after)

    assert [state.name for state in changed.states_came] == ["system:offer"]
    assert [state.name for state in changed.states_went] == ["system:form", "user:refund"]
    assert changed.states_shifted == (
        StateShift("system:ask", 0.8, 0.5),
        StateShift("user:answer", 0.8, 0.5),
        StateShift("user:hello", 0.8, 1.0),
    )
    assert changed.transitions_came == (Move("user:hello", "system:offer", "system:offer", 5, 0.5),)
    assert [(move.source, move.symbol) for move in changed.transitions_went] == [
        ("start", "user:refund"),
        ("user:refund", "system:form"),
    ]
    assert changed.transitions_shifted == (
        TransitionShift("user:hello", "system:ask", 13, 1.0, 0.5),
        TransitionShift("start", "user:hello", 18, 0.8, 1.0),
    )
    report = changed.report(top=1)
    assert "1 states came\n  system:offer (5 dialogues)" in report
    assert "and 2 more" in report
    assert "user:hello on system:ask: 100.0% -> 50.0%" in report


def test_that_a_small_shift_is_passed_over() -> None:
    after = learn((79, ("hello", "ask", "answer")), (21, ("refund", "form")))

    assert not diff(BEFORE, after)
    assert diff(BEFORE, after, shift=0.01)


def test_that_a_transition_that_leads_elsewhere_is_told() -> None:
    """Merging makes the tree's two states after `ok` one; one of the two transitions leads elsewhere then."""
    talks = [talk(f"{tag}{k}", tag, "ok", "bye") for tag in ("p", "q") for k in range(2)]
    tree, merged = learn_paper(talks, tau=0, threshold=1.0), learn_paper(talks, tau=0, threshold=0.1)
    changed = diff(tree, merged)

    assert [(old.symbol, new.target) for old, new in changed.transitions_redirected] == [("user:q", "user:p")]
    assert "now to user:p" in changed.report()


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_that_a_shift_out_of_range_is_refused(shift: float) -> None:
    with pytest.raises(UsageError):
        diff(BEFORE, BEFORE, shift=shift)


def test_that_training_dialogues_conform() -> None:
    found = conform(BEFORE, [talk("a", "hello", "ask", "answer"), talk("b", "refund", "form")])

    assert (found.dialogues, found.dialogues_explained, found.dialogues_completed) == (2, 2, 2)
    assert (found.turns, found.turns_explained, found.departures) == (5, 5, ())
    assert (found.turn_share, found.dialogue_share) == (1.0, 1.0)


def test_that_departures_are_counted_by_state_and_symbols() -> None:
    def stream() -> Iterator[TagSequence]:
        yield talk("done", "hello", "ask", "answer")
        yield talk("short", "hello")
        for k in range(5):
            yield talk(f"new{k}", "hello", "weather", "answer")
        yield talk("odd", "nba")

    found = conform(BEFORE, stream())

    assert (found.dialogues, found.dialogues_explained, found.dialogues_completed) == (8, 2, 1)
    assert (found.turns, found.turns_explained) == (20, 3 + 1 + 5)
    assert found.departures == (
        Departure("user:hello", ("system:weather",), 5, ("new0", "new1", "new2")),
        Departure("start", ("user:nba",), 1, ("odd",)),
    )
    assert "9 of 20 turns explained (45.0%)" in found.report()
    assert "5  at user:hello on system:weather (as in new0, new1, new2)" in found.report()


def test_that_only_the_most_common_departures_are_kept() -> None:
    found = conform(BEFORE, (talk(f"d{k}", f"tag{k}") for k in range(30)), top=3)

    assert (len(found.departures), found.kinds) == (3, 30)
    assert "3 of 30 ways" in found.report()


def test_that_no_dialogue_conforms_wholly() -> None:
    assert conform(BEFORE, ()).turn_share == 1.0


def test_that_samples_are_different_texts_of_a_state() -> None:
    texts = {("0-0", 0): "Hi", ("0-1", 0): "Hi", ("0-2", 0): "Hello there", ("1-0", 1): ""}
    automaton = with_samples(BEFORE, lambda dialogue, number: texts.get((dialogue, number)), limit=2)

    by_name = {state.name: state.samples for state in automaton.states}
    assert by_name["user:hello"] == ("Hi", "Hello there")
    assert by_name["system:form"] == by_name["start"] == ()
    assert automaton.transitions == BEFORE.transitions
