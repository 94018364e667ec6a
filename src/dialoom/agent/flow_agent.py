"""An agent that runs an authored flow and falls back to the learned automaton for what the flow does not understand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from dialoom.agent.agent import Agent
from dialoom.agent.agent import Turn as AgentTurn
from dialoom.agent.trace import Recorder
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.flows.flow import Flow
from dialoom.flows.intents import Likeness
from dialoom.flows.outside import answered
from dialoom.flows.runner import Runner
from dialoom.flows.state import Event, State, Turn
from dialoom.flows.work import Ports


@dataclass(frozen=True, slots=True)
class FlowReply:
    """One turn: the words, whose they are (`flow` or `automaton`), what happened in the flow, and in the agent."""

    text: str
    source: str
    events: tuple[Event, ...]
    answer: AgentTurn | None = None


class FlowChat:
    """A conversation with a flow on top of an agent.

    The flow has the first word at every turn and is told the automaton's state (`automaton` in its rules). Where it
    would say that it did not understand, the agent answers instead, and the flow stays where it was. The agent's
    encoder also recognises intents by their examples.

    Given the path of a flow file, edits of it (and of the application `app`) take effect at the next turn, and with
    `record` every event is appended to that file, both as a `Runner` does it; `notice` says what was reloaded.
    """

    def __init__(
        self,
        flow: Flow | Path | str,
        agent: Agent,
        ports: Ports | None = None,
        session: str = "chat",
        *,
        app: Path | None = None,
        record: Path | None = None,
    ) -> None:
        self.agent = agent
        self.dialogue = Dialogue(session, ())
        given = ports or Ports()
        if given.likeness is None:
            given = replace(given, likeness=Likeness(agent.model.encoder))
        self._answer: AgentTurn | None = None
        self._now: datetime | None = None
        self._runner = Runner(
            flow,
            given,
            app=app,
            session=session,
            record=record,
            clock=lambda: self._now or datetime.now(),
            outside=self._outside,
        )

    @property
    def flow(self) -> Flow:
        """The version of the flow that is running."""
        return self._runner.flow

    @property
    def state(self) -> State:
        """Where the conversation stands in the flow."""
        return self._runner.state

    @property
    def notice(self) -> str:
        """What was reloaded before the last turn, or why it was not."""
        return self._runner.notice

    async def open(self) -> FlowReply:
        """What the flow says first."""
        return self._reply(await self._runner.open())

    async def say(self, text: str, now: datetime | None = None) -> FlowReply:
        """One turn."""
        self.dialogue, self._now = self._with(Role.USER, text), now
        signals = {}
        if text.strip():
            _, route = self.agent.place(self.dialogue, Recorder())
            signals["automaton"] = self.agent.model.automaton.state(route.state).name
        return self._reply(await self._runner.say(text, **signals))

    async def _outside(self, before: State, turn: Turn) -> Turn:
        if not self.dialogue.utterances[-1].text.strip():
            return turn
        self._answer = await self.agent.turn(self.dialogue)
        return answered(before, turn, self._answer.text)

    def _reply(self, turn: Turn) -> FlowReply:
        answer, self._answer = self._answer, None
        self.dialogue = self._with(Role.SYSTEM, turn.text)
        return FlowReply(turn.text, "automaton" if answer else "flow", turn.events, answer)

    def _with(self, role: Role, text: str) -> Dialogue:
        return replace(self.dialogue, utterances=(*self.dialogue.utterances, Utterance(role, text)))
