"""What conversation tests touched of a flow: nodes, transitions, constraints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dialoom.flows.flow import Flow
from dialoom.flows.nodes import RESERVED, PromptNode
from dialoom.flows.state import Event


@dataclass
class Coverage:
    """Every node, transition and constraint of the flow's own graphs, and which of them the tests saw."""

    flow: Flow
    nodes: set[str] = field(default_factory=set)
    moves: set[tuple[str, str]] = field(default_factory=set)
    violated: set[tuple[str, str]] = field(default_factory=set)

    def see(self, events: Iterable[Event]) -> None:
        """Count one conversation, all its events in order."""
        last: dict[str, str] = {name: graph.start for name, graph in self.flow.graphs()}
        self.nodes.add(f"{self.flow.flow}.{self.flow.start}")
        for event in events:
            flow, node = event.data.get("flow"), event.data.get("node")
            if event.kind == "node_entered" and flow in last:
                if event.cause not in ("call", "digression", "queue", "repair"):
                    self.moves.add((f"{flow}.{last[flow]}", f"{flow}.{node}"))
                self.nodes.add(f"{flow}.{node}")
                last[flow] = str(node)
            elif event.kind == "flow_ended" and flow in last:
                self.moves.add((f"{flow}.{last[flow]}", "end"))
            elif event.kind in ("handed_over", "closed") and flow in last:
                self.moves.add((f"{flow}.{last[flow]}", event.kind))
            elif event.kind == "constraint_violated":
                label = str(event.data["constraint"])
                self.violated |= {(f"{flow}.{node}", label), (str(flow), label), (self.flow.flow, label)}

    def all_nodes(self) -> list[str]:
        """Every node, as `flow.node`."""
        return [f"{label}.{name}" for label, graph in self.flow.graphs() for name in graph.nodes]

    def all_moves(self) -> list[tuple[str, str]]:
        """Every declared transition between nodes; those to reserved targets but `end` are left out."""
        return [
            (f"{label}.{name}", "end" if target == "end" else f"{label}.{target}")
            for label, graph in self.flow.graphs()
            for name, node in graph.nodes.items()
            for target in dict.fromkeys(node.targets())
            if target not in RESERVED or target == "end"
        ]

    def all_constraints(self) -> list[tuple[str, str]]:
        """Every constraint: where it is declared (a flow, or `flow.node`) and its label."""
        found: dict[tuple[str, str], None] = {}
        for name, graph in self.flow.graphs():
            found |= dict.fromkeys((name, item.label) for item in graph.constraints)
            for at, node in graph.nodes.items():
                if isinstance(node, PromptNode):
                    found |= dict.fromkeys((f"{name}.{at}", item.label) for item in node.constraints)
        return list(found)

    def untouched(self) -> dict[str, list[str]]:
        """What no test saw, by kind."""
        return {
            "nodes": [name for name in self.all_nodes() if name not in self.nodes],
            "transitions": [f"{a} -> {b}" for a, b in self.all_moves() if (a, b) not in self.moves],
            "constraints": [
                f"{place}: {label}" for place, label in self.all_constraints() if (place, label) not in self.violated
            ],
        }

    def summary(self) -> dict[str, tuple[int, int]]:
        """Seen and all, by kind."""
        missing = self.untouched()
        sizes = {
            "nodes": len(self.all_nodes()),
            "transitions": len(self.all_moves()),
            "constraints": len(self.all_constraints()),
        }
        return {kind: (size - len(missing[kind]), size) for kind, size in sizes.items()}
