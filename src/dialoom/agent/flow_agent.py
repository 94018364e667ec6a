"""An agent that runs an authored flow and falls back to the learned automaton for what the flow does not understand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from dialoom.agent.agent import Agent
from dialoom.agent.trace import Recorder
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.flows.flow import Flow
from dialoom.flows.intents import Likeness
from dialoom.flows.state import Event, State
from dialoom.flows.step import begin, step
from dialoom.flows.work import Ports

OUTSIDE = ("cannot_handle",)
"""Repairs of the flow in whose place the automaton is asked."""


@dataclass(frozen=True, slots=True)
class FlowReply:
    """One turn: the words, whose they are (`flow` or `automaton`), and what happened in the flow."""

    text: str
    source: str
    events: tuple[Event, ...]


@dataclass
class FlowChat:
    """A conversation with a flow on top of an agent.

    The flow has the first word at every turn and is told the automaton's state (`automaton` in its rules). Where it
    would say that it did not understand, the agent answers instead, and the flow stays where it was. The agent's
    encoder also recognises intents by their examples.
    """

    flow: Flow
    agent: Agent
    ports: Ports = field(default_factory=Ports)
    session: str = "chat"

    def __post_init__(self) -> None:
        self.state: State = begin(self.flow, self.session)
        self.dialogue = Dialogue(self.session, ())
        if self.ports.likeness is None:
            self.ports = replace(self.ports, likeness=Likeness(self.agent.model.encoder))

    async def open(self) -> FlowReply:
        """What the flow says first."""
        turn = await step(self.flow, self.state, None, self.ports)
        self.state = turn.state
        self._heard(Utterance(Role.SYSTEM, turn.text))
        return FlowReply(turn.text, "flow", turn.events)

    async def say(self, text: str, now: datetime | None = None) -> FlowReply:
        """One turn."""
        asked = replace(self.dialogue, utterances=(*self.dialogue.utterances, Utterance(Role.USER, text)))
        ports = self.ports
        if text.strip():
            _, route = self.agent.place(asked, Recorder())
            state = self.agent.model.automaton.state(route.state).name
            ports = replace(ports, signals={**ports.signals, "automaton": state})
        turn = await step(self.flow, self.state, text, ports, now)
        self.dialogue = asked
        outside = any(event.data["repair"] in OUTSIDE for event in turn.of("repair_started"))
        if outside and text.strip() and turn.state.status == "open":
            answer = await self.agent.turn(asked)
            self._heard(Utterance(Role.SYSTEM, answer.text))
            return FlowReply(answer.text, "automaton", turn.events)
        self.state = turn.state
        self._heard(Utterance(Role.SYSTEM, turn.text))
        return FlowReply(turn.text, "flow", turn.events)

    def _heard(self, utterance: Utterance) -> None:
        self.dialogue = replace(self.dialogue, utterances=(*self.dialogue.utterances, utterance))
