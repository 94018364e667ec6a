"""What a check finds, and where: file, line, node, the valid choices, the mend."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from dialoom.flows.flow import Flow, Graph
from dialoom.flows.load import LoadedFlow
from dialoom.flows.nodes import Node, PromptNode, SetNode
from dialoom.flows.slots import Slot
from dialoom.flows.source import Place

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong (`error`: the flow should not run; `warning`: it will disappoint)."""

    path: str
    line: int
    node: str
    severity: Severity
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" + (f" [{self.node}]" if self.node else "")
        return f"{where}: {self.severity}: {self.message} {self.hint}".rstrip()


@dataclass(frozen=True, slots=True)
class Spot:
    """A node with its graph and its place in the file."""

    label: str
    graph: Graph
    name: str
    node: Node
    place: Place


class Survey:
    """A flow under check, and what was found."""

    def __init__(self, loaded: LoadedFlow) -> None:
        self.flow: Flow = loaded.flow
        self.findings: list[Finding] = []
        self._source = loaded.source

    def found(
        self, severity: Severity, code: str, place: Place, message: str, hint: str = "", spot: Spot | None = None
    ) -> None:
        """Note a finding."""
        node = f"{spot.label}.{spot.name}" if spot else ""
        line = self._source.line(place)
        self.findings.append(Finding(self._source.path, line, node, severity, code, message, hint))

    def unknown(self, kind: str, name: str, valid: Iterable[str], place: Place, spot: Spot | None = None) -> None:
        """Note a name that is not declared, with the valid ones and the nearest."""
        names = sorted(valid)
        near = difflib.get_close_matches(name, names, n=1)
        guess = f" Did you mean '{near[0]}'?" if near else ""
        shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
        message = f"Unknown {kind} '{name}'.{guess}"
        self.found("error", f"unknown {kind}", place, message, f"Valid: {shown or 'none are declared'}.", spot)

    def prefix(self, label: str) -> Place:
        """The key path of a graph."""
        return () if label == self.flow.flow else ("flows", label)

    def spots(self) -> Iterator[Spot]:
        """Every node of the file."""
        for label, graph in self.flow.graphs():
            for name, node in graph.nodes.items():
                yield Spot(label, graph, name, node, (*self.prefix(label), "nodes", name))

    def slots(self, spot: Spot) -> dict[str, Slot]:
        """The slots in reach of a node."""
        local = spot.node.slots if isinstance(spot.node, PromptNode) else {}
        return {**self.flow.slots, **spot.graph.slots, **local}


def written(node: Node) -> set[str]:
    """The slots a node can change."""
    if isinstance(node, PromptNode):
        return set(node.writable)
    if isinstance(node, SetNode):
        return set(node.set)
    into = getattr(node, "into", {})
    return set(into) if isinstance(into, dict) else {into} - {""}
