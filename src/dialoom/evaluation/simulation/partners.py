"""Who a simulated user talks to: a learned agent, an authored flow, or a flow with an agent beside it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from dialoom.agent.agent import Agent
from dialoom.agent.conformance import conform_model
from dialoom.agent.flow_agent import FlowChat, FlowReply
from dialoom.agent.responders import NOTHING_TO_SAY, GenerateResponder
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.evaluation.simulation.metering import Called, Metered
from dialoom.flows.flow import Flow
from dialoom.flows.intents import likeness_of
from dialoom.flows.runner import load_sound
from dialoom.flows.state import Event, State
from dialoom.flows.step import begin, step
from dialoom.flows.work import Ports

REPAIRS = ("cannot_handle", "clarification", "correction")
"""Repairs of a flow that mean trouble; others, such as a digression, are ordinary talk."""
OUTSIDE = ("fallback_taken", "handed_over", "turn_failed")
"""Events of a flow by which a turn leaves what its author foresaw."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the user hears: the words, how long they took, what they cost, and how the turn went.

    `conforming` says whether the turn went as authored, None where nothing is authored; `fallback` whether the reply
    was given without the model, which had failed.
    """

    text: str
    milliseconds: float
    called: tuple[Called, ...] = ()
    repair: bool = False
    handed_over: bool = False
    closed: bool = False
    conforming: bool | None = None
    fallback: bool = False


class Conversation(Protocol):
    """One conversation from the agent's side."""

    @property
    def dialogue(self) -> Dialogue:
        """What was said so far."""
        ...

    @property
    def memory(self) -> Mapping[str, Any] | None:
        """What a flow remembers; None for an agent that remembers no slots."""
        ...

    async def open(self) -> Heard | None:
        """What the agent says first, if it does."""
        ...

    async def say(self, text: str) -> Heard:
        """One turn."""
        ...


class Partner(Protocol):
    """Holds conversations."""

    def begin(self, session: str) -> Conversation:
        """A new conversation."""
        ...

    def conformance(self, dialogues: Sequence[Dialogue]) -> float | None:
        """The share of the rounds that a learned automaton explains; None where none was learned."""
        ...


@dataclass(frozen=True, slots=True)
class AgentPartner:
    """A learned agent."""

    agent: Agent

    def begin(self, session: str) -> Conversation:
        """A new conversation; the user has the first word."""
        return _AgentTalk(self.agent, session)

    def conformance(self, dialogues: Sequence[Dialogue]) -> float | None:
        """The share of the rounds that its automaton explains."""
        return conform_model(self.agent.model, dialogues).turn_share if dialogues else None


class _AgentTalk:
    memory: Mapping[str, Any] | None = None

    def __init__(self, agent: Agent, session: str) -> None:
        self._chat = agent.chat(session)

    @property
    def dialogue(self) -> Dialogue:
        return self._chat.dialogue

    async def open(self) -> Heard | None:
        return None

    async def say(self, text: str) -> Heard:
        turn = await self._chat.say_async(text)
        called = tuple(Called(call.model, call.usage) for call in turn.trace.calls)
        failed = bool(turn.trace.decided("reply").get("failed"))
        return Heard(
            turn.text, turn.trace.milliseconds, called, handed_over=turn.text == NOTHING_TO_SAY, fallback=failed
        )


class FlowPartner:
    """An authored flow; with `agent`, what it does not understand is answered by the learned agent."""

    def __init__(self, path: Path, ports: Ports | None = None, agent: Agent | None = None) -> None:
        """Raises `UsageError` for a flow that does not load or in which the check finds an error."""
        given = ports or Ports()
        self._meters: list[Metered] = []
        self._flow = load_sound(path, given).flow
        self._agent = agent
        if agent is not None and isinstance(agent.responder, GenerateResponder):
            responder = replace(agent.responder, model=self._metered(agent.responder.model))
            self._agent = Agent(agent.model, responder, hook=agent.hook)
        model = None if given.model is None else self._metered(given.model)
        likeness = given.likeness or (likeness_of(self._flow.all_intents()) if agent is None else None)
        self._ports = replace(given, model=model, likeness=likeness)

    def begin(self, session: str) -> Conversation:
        """A new conversation; the flow has the first word."""
        if self._agent is None:
            return _FlowTalk(_Alone(self._flow, self._ports, begin(self._flow, session)), self._meters)
        return _FlowTalk(FlowChat(self._flow, self._agent, self._ports, session), self._meters)

    def conformance(self, dialogues: Sequence[Dialogue]) -> float | None:  # noqa: ARG002
        """None: how a flow's turns went is known from its events."""
        return None

    def _metered(self, model: Any) -> Metered:
        self._meters.append(Metered(model))
        return self._meters[-1]


@dataclass
class _Alone:
    """A flow by itself, talked to as `FlowChat` is."""

    flow: Flow
    ports: Ports
    state: State

    def __post_init__(self) -> None:
        self.dialogue = Dialogue(self.state.session, ())

    async def open(self) -> FlowReply:
        return await self._step(None)

    async def say(self, text: str) -> FlowReply:
        self._heard(Utterance(Role.USER, text))
        return await self._step(text)

    async def _step(self, text: str | None) -> FlowReply:
        turn = await step(self.flow, self.state, text, self.ports)
        self.state = turn.state
        self._heard(Utterance(Role.SYSTEM, turn.text))
        return FlowReply(turn.text, "flow", turn.events)

    def _heard(self, utterance: Utterance) -> None:
        self.dialogue = replace(self.dialogue, utterances=(*self.dialogue.utterances, utterance))


@dataclass
class _FlowTalk:
    chat: _Alone | FlowChat
    meters: Sequence[Metered]

    @property
    def dialogue(self) -> Dialogue:
        return self.chat.dialogue

    @property
    def memory(self) -> Mapping[str, Any]:
        return self.chat.state.memory

    async def open(self) -> Heard | None:
        return await self._timed(self.chat.open())

    async def say(self, text: str) -> Heard:
        return await self._timed(self.chat.say(text))

    async def _timed(self, turn: Awaitable[FlowReply]) -> Heard:
        marks = [len(meter.called) for meter in self.meters]
        start = time.perf_counter()
        reply = await turn
        took = (time.perf_counter() - start) * 1000.0
        called = tuple(call for meter, mark in zip(self.meters, marks, strict=True) for call in meter.since(mark))
        repair = any(_trouble(event) for event in reply.events)
        status = self.chat.state.status
        outside = reply.source != "flow" or any(event.kind in OUTSIDE for event in reply.events)
        return Heard(
            reply.text,
            took,
            called,
            repair=repair and reply.source == "flow",
            handed_over=status == "handed_over",
            closed=status == "closed",
            conforming=not repair and not outside,
            fallback=any(event.kind == "model_failed" for event in reply.events),
        )


def _trouble(event: Event) -> bool:
    return event.kind == "repair_started" and event.data["repair"] in REPAIRS
