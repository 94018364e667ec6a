"""Replaying a recorded session on another version of a flow: the same words, model answers and function results."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from dialoom.dialogue import Dialogue
from dialoom.errors import CallError, CassetteMiss
from dialoom.flows.application import Application
from dialoom.flows.facts import Told
from dialoom.flows.flow import Flow
from dialoom.flows.intents import Likeness, likeness_of
from dialoom.flows.outside import answered, not_understood
from dialoom.flows.recording import Recording
from dialoom.flows.state import Event
from dialoom.flows.step import begin, step
from dialoom.flows.work import HIDDEN, Ports
from dialoom.models.base import Capabilities, Completion, Request


@dataclass(frozen=True, slots=True)
class Seen:
    """What can be compared of a turn: the words, the way through the nodes, the slots that changed."""

    said: tuple[str, ...]
    nodes: tuple[str, ...]
    slots: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One turn then and now."""

    number: int
    user: str | None
    then: Seen
    now: Seen

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return self.then == self.now

    def differences(self) -> list[str]:
        """What differs, in words."""
        pairs = ((name, getattr(self.then, name), getattr(self.now, name)) for name in ("said", "nodes", "slots"))
        return [f"{name}: {list(a)} then, {list(b)} now" for name, a, b in pairs if a != b]


class RecordedModel:
    """Answers a turn with the outputs that were recorded in it, in their order."""

    name = "recorded"
    capabilities = Capabilities(frozenset({"json_schema"}))

    def __init__(self, events: Sequence[Event]) -> None:
        self._answers = [event for event in events if event.kind in ("model_called", "model_failed")]

    async def generate(self, request: Request) -> Completion:
        """The next recorded output. Raises `CassetteMiss` when the turn made no more calls, or when the call failed."""
        del request
        if not self._answers:
            raise CassetteMiss("The recorded turn made no further model call.")
        event = self._answers.pop(0)
        if event.kind == "model_failed":
            raise CassetteMiss(f"The recorded call failed: {event.data['error']}")
        return Completion(str(event.data["output"]), model="recorded")

    async def stream(self, request: Request) -> AsyncIterator[str]:
        """The same answer in one piece."""
        yield (await self.generate(request)).text


async def replay(
    recording: Recording, flow: Flow, app: Application, likeness: Likeness | None = None
) -> list[Replayed]:
    """Every recorded turn again. No function of the application is called: its recorded results are given instead.

    `likeness` recognises intents by their examples; by default an encoder fitted on these. What an agent answered in
    place of the flow is answered again.
    """
    likeness = likeness or likeness_of(flow.all_intents())
    modelled = any(event.kind in ("model_called", "model_failed") for event in recording.events)
    state = begin(flow, recording.header.session)
    replayed = []
    for number, events in enumerate(recording.turns()):
        first = events[0] if events[0].kind == "user_said" else None
        text = str(first.data["text"]) if first else None
        now = datetime.fromisoformat(str(first.data["now"])) if first else None
        signals = first.data.get("signals", recording.header.signals) if first else recording.header.signals
        model = RecordedModel(events) if modelled else None
        ports = Ports(_played(app, events), model, likeness, signals)
        turn = await step(flow, state, text, ports, now or _time(recording))
        elsewhere = next((str(event.data["text"]) for event in events if event.kind == "answered_outside"), None)
        if elsewhere is not None and not_understood(turn):
            turn = answered(state, turn, elsewhere)
        state = turn.state
        replayed.append(Replayed(number, text, _seen(events), _seen(turn.events)))
    return replayed


def hidden_words(recording: Recording) -> bool:
    """Whether secret words were left out of the recording, so that a replay must differ there."""
    return any(HIDDEN in str(event.data.get("text", "")) for event in recording.events if event.kind == "user_said")


def _time(recording: Recording) -> datetime:
    """The clock of the opening: that of the first words."""
    said = next((event for event in recording.events if event.kind == "user_said"), None)
    return datetime.fromisoformat(str(said.data["now"])) if said else datetime(2000, 1, 1)


def _seen(events: Sequence[Event]) -> Seen:
    return Seen(
        tuple(str(event.data["text"]) for event in events if event.kind in ("assistant_said", "answered_outside")),
        tuple(f"{event.data['flow']}.{event.data['node']}" for event in events if event.kind == "node_entered"),
        tuple((str(event.data["slot"]), event.data["new"]) for event in events if event.kind == "slot_changed"),
    )


def _played(app: Application, events: Sequence[Event]) -> Application:
    results: dict[str, list[Any]] = {}
    for event in events:
        if event.kind == "function_called":
            results.setdefault(str(event.data["function"]), []).append(event.data["result"])
    functions = {name: _stub(name, results.get(name, [])) for name in {*app.functions, *results}}
    told = _RecordedFacts(events)
    computations = dict.fromkeys({*app.computations, *told.computations}, _anything)
    return replace(app, functions=functions, computations=computations, describer=told, answerer=told)


def _anything(**arguments: Any) -> None:
    del arguments


class _RecordedFacts:
    """Tells again what was told in a turn, in its order; stands in for the describer and the answerer."""

    sources: Sequence[str] = ()

    def __init__(self, events: Sequence[Event]) -> None:
        self._told = [event for event in events if event.kind in ("described", "answered", "telling_failed")]
        self.computations = [str(e.data["function"]) for e in self._told if e.data.get("function")]

    def check(self, computation: str, names: Sequence[str]) -> None:
        """Nothing to check: nothing is computed."""

    async def describe(self, computation: Any, given: Mapping[str, Any], words: str) -> Told:
        """The next thing told."""
        del computation, given, words
        return self._next()

    async def consult(self, context: Dialogue, user: str) -> Told:
        """The next thing told."""
        del context, user
        return self._next()

    async def answer(self, context: Dialogue, user: str, sources: Sequence[str] | None) -> Told:
        """The next thing told."""
        del context, user, sources
        return self._next()

    def _next(self) -> Told:
        if not self._told:
            raise CallError("The recorded turn told nothing more.")
        event = self._told.pop(0)
        if event.kind == "telling_failed":
            raise CallError(f"The recorded telling failed: {event.data['error']}")
        return Told(str(event.data["text"]), event.data.get("outcome", "answered"))


def _stub(name: str, results: list[Any]) -> Callable[..., Any]:
    async def recorded(**arguments: Any) -> Any:
        del arguments
        if not results:
            raise CallError(f"the recorded turn holds no result of {name}")
        return results.pop(0)

    return recorded
