"""One turn in the making: a copy of the state, the events and words so far, and memory with its rules.

Nothing here touches the state the turn began with; `step` keeps the copy or drops it whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from dialoom.flows.application import Application
from dialoom.flows.expressions import TemplateFailed, render
from dialoom.flows.flow import Flow, Graph
from dialoom.flows.intents import Likeness
from dialoom.flows.nodes import Node, PromptNode
from dialoom.flows.recognise import Hearing
from dialoom.flows.slots import Slot, checked, empty
from dialoom.flows.state import HISTORY, Event, EventKind, Frame, Said, State
from dialoom.models.base import LanguageModel

HIDDEN = "[hidden]"


class SlotRefused(ValueError):
    """A value that a slot or its rules do not allow."""


@dataclass(frozen=True, slots=True)
class Ports:
    """What a step may use besides the flow: all optional but the application's registry."""

    app: Application = field(default_factory=Application)
    model: LanguageModel | None = None
    likeness: Likeness | None = None
    signals: Mapping[str, Any] = field(default_factory=dict)
    observe: Callable[[Event], None] | None = None


@dataclass
class Work:
    """The turn in the making."""

    flow: Flow
    state: State
    ports: Ports
    now: datetime
    text: str = ""
    intent: str = ""
    events: list[Event] = field(default_factory=list)
    reply: list[str] = field(default_factory=list)
    hearing: Hearing | None = None
    fresh: bool = False
    """Whether nobody has yet heard the message in full."""
    model_spoke: bool = False
    """Whether the last thing said was the model's, so that the node it chose need not ask again."""
    secrets: list[str] = field(default_factory=list)
    """Pieces of the message that must not be written down."""
    output: dict[str, Any] = field(default_factory=dict)

    # Where we are

    @property
    def frame(self) -> Frame:
        """The flow that has the word."""
        return self.state.top

    @property
    def graph(self) -> Graph:
        """Its definition."""
        return self.flow.graph(self.frame.flow)

    @property
    def node(self) -> Node:
        """Its present node."""
        return self.graph.nodes[self.frame.node]

    # What happened

    def record(self, kind: EventKind, cause: str = "", **data: Any) -> None:
        """Append an event."""
        event = Event(offset=self.state.events, kind=kind, data=data, cause=cause)
        self.state.events += 1
        self.events.append(event)
        if self.ports.observe is not None:
            self.ports.observe(event)

    def say(self, text: str, cause: str) -> None:
        """Add an utterance to the reply."""
        if text.strip():
            self.reply.append(text.strip())
            self.state.history = [*self.state.history, Said(role="assistant", text=text.strip())][-HISTORY:]
            self.record("assistant_said", cause, text=text.strip(), node=self.frame.node, flow=self.frame.flow)

    def say_template(self, template: str, cause: str) -> None:
        """Fill in a template and say it; a template that fails is recorded and left unsaid."""
        try:
            self.say(render(template, self.values()), cause)
        except TemplateFailed as error:
            self.record("template_failed", cause, error=str(error), node=self.frame.node)

    def recognisers(self) -> dict[str, Callable[[str], Any]]:
        """The application's recognisers; one that raises is recorded and has read nothing."""
        return {name: self._guarded(name, function) for name, function in self.ports.app.recognisers.items()}

    def _guarded(self, name: str, function: Callable[[str], Any]) -> Callable[[str], Any]:
        def read(text: str) -> Any:
            try:
                return function(text)
            except Exception as error:
                problem = f"{type(error).__name__}: {error}"
                self.record("function_failed", "recogniser", function=name, error=problem, node=self.frame.node)
                return None

        return read

    # Memory

    def declared(self) -> dict[str, Slot]:
        """The slots in reach: of the flow, of the sub-flow, of the node."""
        node = self.graph.nodes.get(self.frame.node)
        local = node.slots if isinstance(node, PromptNode) else {}
        return {**self.flow.slots, **(self.graph.slots if self.graph is not self.flow else {}), **local}

    def memory(self) -> dict[str, Any]:
        """Every slot in reach with its value; a slot that was never filled has its default."""
        declared = self.declared()
        facts = {name: value for name, value in self.frame.memory.items() if name not in declared}
        return {name: self.home(name).get(name, slot.default) for name, slot in declared.items()} | facts

    def values(self) -> dict[str, Any]:
        """What templates and conditions see."""
        history = self.state.history
        said = {role: [item.text for item in history if item.role == role] for role in ("user", "assistant")}
        memory = self.memory()
        return {
            **memory,
            "MEMORY": memory,
            "LAST_USER_UTTERANCE": self.text or (said["user"] or [""])[-1],
            "LAST_ASSISTANT_UTTERANCE": (said["assistant"] or [""])[-1],
            "ADDITIONAL_ERROR_MESSAGES": "",
            "turns": self.frame.turns,
            "misses": self.state.misses,
            "text": self.text,
            "intent": self.intent,
            "now": self.now,
            "signals": self.ports.signals,
            "session": self.state.session,
            "output": self.output,
        }

    def home(self, name: str) -> dict[str, Any]:
        """The memory that holds a slot."""
        node = self.graph.nodes.get(self.frame.node)
        if isinstance(node, PromptNode) and name in node.slots:
            return self.frame.local
        if (self.graph is not self.flow and name in self.graph.slots) or name not in self.flow.slots:
            return self.frame.memory
        return self.state.memory

    def allowed(self, name: str, value: Any) -> Any:
        """`value` as the slot would hold it. Raises `SlotRefused` that says what is wrong."""
        slot = self.declared().get(name)
        if slot is None:
            raise SlotRefused(f"there is no slot '{name}' here; slots: {', '.join(self.declared())}")
        try:
            new = checked(slot, value)
        except ValueError as error:
            raise SlotRefused(f"{name}: {error}.") from error
        old = self.memory().get(name)
        if slot.frozen and not empty(old) and new != old:
            raise SlotRefused(f"{name} is fixed and cannot change.")
        if slot.append_only and list(new or [])[: len(old or [])] != list(old or []):
            raise SlotRefused(f"{name} can only be added to.")
        return new

    def set(self, name: str, value: Any, cause: str) -> bool:
        """Fill a slot; returns whether that changed it. Raises `SlotRefused`."""
        new, old = self.allowed(name, value), self.memory().get(name)
        if new == old:
            return False
        self.home(name)[name] = new
        secret = self.declared()[name].secret
        old, new = (HIDDEN if secret and not empty(item) else item for item in (old, new))
        self.record("slot_changed", cause, slot=name, old=old, new=new, node=self.frame.node, flow=self.frame.flow)
        return True
