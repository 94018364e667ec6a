"""A flow: an authored graph of nodes with memory, intents, sub-flows and constraints."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from dialoom.errors import UnknownName
from dialoom.flows.constraints import Constraint
from dialoom.flows.nodes import REPAIRS, RESERVED, Fallback, Node, PromptNode, Understanding
from dialoom.flows.slots import Slot, Strict, pattern_text
from dialoom.flows.source import parse_yaml

NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
Name = Annotated[str, Field(pattern=NAME)]

_BUILT_IN = (
    "turns misses text intent now signals session LAST_USER_UTTERANCE LAST_ASSISTANT_UTTERANCE MEMORY "
    "ADDITIONAL_ERROR_MESSAGES output"
)
BUILT_IN = frozenset(_BUILT_IN.split())
"""Names that templates and conditions may read besides slots."""


class Intent(Strict):
    """Something a user may want, recognised by phrases, patterns, or likeness to examples."""

    description: str = ""
    words: list[str] = []
    """Words and phrases, found with tolerance for misspelling."""
    patterns: list[str] = []
    examples: list[str] = []
    """Sentences; an encoder compares them with the message where the runner has one."""
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.75
    """Least similarity to an example, as a cosine."""

    @field_validator("patterns")
    @classmethod
    def _compile(cls, value: list[str]) -> list[str]:
        return [pattern_text(item) for item in value]


class Graph(Strict):
    """Nodes and where to start: the flow itself, or one of its sub-flows."""

    title: str = ""
    """What the user is told it is about."""
    description: str = ""
    start: Name
    slots: dict[Name, Slot] = {}
    nodes: Annotated[dict[Name, Node], Field(min_length=1)]
    trigger: str | list[str] = []
    """Intents that start it from anywhere (sub-flows only)."""
    constraints: list[Constraint] = []
    """Constraints of every prompt node."""
    repair: dict[str, str | Literal[False]] = {}

    @property
    def triggers(self) -> tuple[str, ...]:
        """The intents that start it."""
        return (self.trigger,) if isinstance(self.trigger, str) else tuple(self.trigger)

    @property
    def interactive(self) -> bool:
        """Whether any of its nodes listens to the user."""
        return any(isinstance(node, PromptNode) for node in self.nodes.values())


class Flow(Graph):
    """A whole flow file."""

    flow: Name
    version: str | int = 1
    language: str = "en"
    intents: dict[Name, Intent] = {}
    flows: dict[Name, Graph] = {}
    """Sub-flows; one with the name of a repair takes its place."""
    understand: list[Understanding] | None = None
    """The default of the nodes that do not say."""
    retries: Annotated[int, Field(ge=0, le=10)] = 2
    fallback: Fallback = Fallback(say="I am sorry, that did not work.")
    also: list[str] = ["and", "also", "plus", "then", "as well as"]
    """Words that join two requests in one message."""
    beside: list[str] = ["with", "along with", "together with"]
    """Words that join two requests where an intent stands on either side of them."""
    another: list[str] = ["another", "one more", "a second", "also", "too", "as well", "in addition"]
    """Words that ask for one more: with one of them a message does not correct what is done."""
    handed_over: str = "A colleague has taken over this conversation and will answer you here."
    """The reply to messages after a hand-off."""
    too_late: str = "That is already done, and I cannot change it any more."
    """The reply to a correction of something that cannot be done again."""
    moved: dict[str, str] = {}
    """Former node names to present ones, for sessions that began on an older version."""

    @model_validator(mode="after")
    def _names(self) -> Flow:
        for label, graph in self.graphs():
            for name in graph.nodes:
                if name in RESERVED:
                    raise ValueError(f"'{name}' is a reserved target ({RESERVED[name]}) and cannot name a node")
            for node in graph.nodes.values():
                local = node.slots if isinstance(node, PromptNode) else {}
                for name in (*graph.slots, *local):
                    if name in BUILT_IN:
                        raise ValueError(f"'{name}' is a built-in name and cannot name a slot of {label}")
        if self.flow in self.flows:
            raise ValueError(f"a sub-flow cannot have the flow's own name '{self.flow}'")
        return self

    def graphs(self) -> Iterator[tuple[str, Graph]]:
        """The flow itself under its name, then its sub-flows."""
        yield self.flow, self
        yield from self.flows.items()

    def graph(self, name: str) -> Graph:
        """The flow or sub-flow of this name, default repairs included. Raises `UnknownName`."""
        if name == self.flow:
            return self
        found = self.flows.get(name) or (default_repairs().flows.get(name) if self is not default_repairs() else None)
        if found is None:
            raise UnknownName("flow", name, [self.flow, *self.flows, *REPAIRS])
        return found

    def all_intents(self) -> dict[str, Intent]:
        """The intents of the flow and those of the repairs that it does not define itself."""
        return {**default_repairs().intents, **self.intents}

    def startable(self) -> dict[str, str]:
        """Intent to the sub-flow of the author that it starts."""
        return {intent: name for name, graph in self.flows.items() for intent in graph.triggers if name not in REPAIRS}

    def order(self, node: PromptNode) -> tuple[Understanding, ...]:
        """Who understands the user at this node, in order."""
        if node.understand is None and self.understand is not None:
            usable = tuple(who for who in self.understand if who == "recognisers" or node.prompt)
            return usable or ("recognisers",)
        return node.order

    def repair_for(self, repair: str, graph: Graph, node: PromptNode | None) -> str | None:
        """The sub-flow that does a repair at a node: of the node, else the sub-flow, else the flow; None if off."""
        for place in (node, graph, self):
            if place is not None and repair in place.repair:
                return place.repair[repair] or None
        return repair


@lru_cache(maxsize=1)
def default_repairs() -> Flow:
    """The repairs every flow has, written in the flow language (repairs.yaml beside this module)."""
    data, _ = parse_yaml(files("dialoom.flows").joinpath("repairs.yaml").read_text("utf-8"), "repairs.yaml")
    return Flow.model_validate(data)
