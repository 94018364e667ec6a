"""Where a conversation stands, as plain values: the stack of flows, memory, the queue; and what happened, as events."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

EventKind = Literal[
    "user_said",
    "assistant_said",
    "node_entered",
    "flow_started",
    "flow_ended",
    "slot_changed",
    "intent_recognised",
    "model_called",
    "model_failed",
    "output_rejected",
    "constraint_violated",
    "constraint_undecided",
    "function_called",
    "function_failed",
    "described",
    "answered",
    "telling_failed",
    "template_failed",
    "repair_started",
    "request_queued",
    "request_served",
    "fallback_taken",
    "answered_outside",
    "handed_over",
    "closed",
    "restarted",
    "migrated",
    "turn_failed",
]

Cause = Literal["root", "call", "digression", "queue", "repair"]
Status = Literal["open", "handed_over", "closed"]

HISTORY = 12
"""Utterances kept for templates; all of them are in the events."""
LEDGER = 50
"""Results of calls kept by idempotency key."""
QUEUE = 8
"""Requests that may wait; a message with more of them is not believed."""
DONE = 8
"""Ended sub-flows that a correction may still mean."""
DEPTH = 16
"""Flows that may be interrupted or called inside each other."""


class Event(BaseModel):
    """Something that happened: its place in the session, what, the facts, and why."""

    model_config = ConfigDict(frozen=True)

    offset: int
    kind: EventKind
    data: dict[str, Any] = {}
    cause: str = ""


class Frame(BaseModel):
    """One flow on the stack, at a node."""

    flow: str
    node: str
    cause: Cause = "root"
    repair: str = ""
    memory: dict[str, Any] = {}
    local: dict[str, Any] = {}
    """Slots of the present node."""
    arrived: bool = False
    """Whether the node has spoken and waits for the user."""
    entry: bool = True
    """Whether the entry constraints of the node are still to be judged."""
    turns: int = 0
    attempts: int = 0
    visits: dict[str, int] = {}
    waited_at: str = ""
    """The last node that listened to the user."""
    before: dict[str, Any] = {}
    """The flow's memory when this frame began."""
    calls: int = 0
    """Calls of the session before this frame began, those that only read left out."""
    into: dict[str, str] = {}
    """Slots of the flow to this sub-flow's, where one that had been called was opened again."""
    recheck: str = ""
    """A node to pass again before going on, because a slot that it used has changed."""


class Done(BaseModel):
    """A sub-flow that has ended, so that a later correction may open it again."""

    flow: str
    node: str
    """Where it last listened, or its start."""
    memory: dict[str, Any]
    """Its own slots."""
    before: dict[str, Any]
    after: dict[str, Any]
    """The flow's memory when it began and when it ended."""
    repeatable: bool
    """Whether it called no function but those that only read, and gave its caller slots of the flow only."""
    calls: int
    """Calls of the session up to its end, those that only read left out."""
    into: dict[str, str] = {}
    """The slots it gave its caller."""
    visits: dict[str, int] = {}


class Queued(BaseModel):
    """A further request of a message, with its words.

    It is served when the conversation is about to wait with at most `level` flows on the stack.
    """

    flow: str
    text: str
    level: int = 1


class Said(BaseModel):
    """One utterance for templates."""

    role: Literal["user", "assistant"]
    text: str


class State(BaseModel):
    """A session between turns. Plain JSON values; a step never changes one, it returns the next."""

    session: str
    flow: str
    fingerprint: str = ""
    status: Status = "open"
    turn: int = 0
    restarts: int = 0
    events: int = 0
    memory: dict[str, Any] = {}
    stack: list[Frame] = []
    queue: list[Queued] = []
    done: list[Done] = []
    calls: int = 0
    """Functions called by nodes so far, those that only read left out."""
    misses: int = 0
    """Messages in a row that were not understood."""
    history: list[Said] = []
    ledger: dict[str, JsonValue] = {}

    @property
    def top(self) -> Frame:
        """The flow that has the word."""
        return self.stack[-1]


class Turn(BaseModel):
    """What one step gave: the reply, the events, and the state after it."""

    reply: tuple[str, ...]
    events: tuple[Event, ...]
    state: State

    @property
    def text(self) -> str:
        """The reply as one text."""
        return "\n".join(self.reply)

    def of(self, kind: EventKind) -> list[Event]:
        """The events of one kind."""
        return [event for event in self.events if event.kind == kind]
