"""A flow as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator

from dialoom.flows.drawing.labels import arrows, kind, text_of
from dialoom.flows.flow import Flow, Graph
from dialoom.flows.nodes import RESERVED

_SHAPES = {
    "prompt": ('(["', '"])'),
    "say": ('["', '"]'),
    "set": ('[/"', '"/]'),
    "if": ('{"', '"}'),
    "call": ('[["', '"]]'),
    "describe": ('[["', '"]]'),
    "answer": ('[["', '"]]'),
    "subflow": ('[["', '"]]'),
}


def to_mermaid(flow: Flow) -> str:
    """The flow and its sub-flows, each in a box of its own."""
    lines = ["flowchart TD"]
    for label, graph in flow.graphs():
        lines.append(f'  subgraph {_id(label, "")}["{_escaped(graph.title or label)}"]')
        lines += [f"    {line}" for line in _graph(label, graph)]
        lines.append("  end")
    return "\n".join(lines) + "\n"


def _graph(label: str, graph: Graph) -> Iterator[str]:
    for name, node in graph.nodes.items():
        opening, closing = _SHAPES[kind(node)]
        yield f"{_id(label, name)}{opening}<b>{_escaped(name)}</b><br/>{_escaped(text_of(node))}{closing}"
    used: set[str] = set()
    for arrow in arrows(graph):
        if arrow.target in RESERVED and arrow.target not in graph.nodes:
            used.add(arrow.target)
        said = f'|"{_escaped(arrow.label)}"|' if arrow.label else ""
        yield f"{_id(label, arrow.source)} -->{said} {_id(label, arrow.target)}"
    for name in sorted(used):
        yield f'{_id(label, name)}(("{name}"))'


def _id(label: str, name: str) -> str:
    return f"f_{label}__{name}" if name else f"g_{label}"


def _escaped(text: str) -> str:
    for mark, code in (("#", "#35;"), ("&", "#amp;"), ('"', "#quot;"), ("<", "#lt;"), (">", "#gt;")):
        text = text.replace(mark, code)
    return text
