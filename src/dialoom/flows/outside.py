"""A message that the flow did not understand and somebody else answered: the flow stays where it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from dialoom.flows.state import HISTORY, Event, EventKind, Said, State, Turn

Outside = Callable[[State, Turn], Awaitable[Turn]]
"""Given the state before a turn and the turn, the turn as it shall be."""

OUTSIDE = ("cannot_handle",)
"""Repairs in whose place somebody else may answer."""
KEPT: tuple[EventKind, ...] = (
    "user_said",
    "intent_recognised",
    "model_called",
    "model_failed",
    "output_rejected",
    "function_called",
    "function_failed",
    "template_failed",
)
"""What still happened in such a turn."""


def not_understood(turn: Turn) -> bool:
    """Whether the flow said that it did not understand, and still has the word."""
    repairs = {event.data["repair"] for event in turn.of("repair_started")}
    return turn.state.status == "open" and bool(repairs & set(OUTSIDE))


def answered(before: State, turn: Turn, text: str) -> Turn:
    """The turn with somebody else's answer: the flow is where it was, and remembers what was said."""
    state = before.model_copy(deep=True)
    state.turn, state.calls, state.ledger = turn.state.turn, turn.state.calls, turn.state.ledger
    heard = [item for item in turn.state.history if item.role == "user"][-1:]
    state.history = [*state.history, *heard, Said(role="assistant", text=text)][-HISTORY:]
    kept = [event for event in turn.events if event.kind in KEPT]
    events = [event.model_copy(update={"offset": before.events + at}) for at, event in enumerate(kept)]
    facts = {"text": text, "node": before.top.node, "flow": before.top.flow}
    events.append(Event(offset=before.events + len(events), kind="answered_outside", data=facts))
    state.events = before.events + len(events)
    return Turn(reply=(text,), events=tuple(events), state=state)
