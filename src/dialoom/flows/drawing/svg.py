"""A flow as SVG: each graph in layers from its start node, drawn without any other program."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from dialoom.flows.drawing.labels import Arrow, arrows, kind, short, text_of
from dialoom.flows.flow import Flow, Graph
from dialoom.flows.nodes import RESERVED

BOX_WIDTH, BOX_HEIGHT, GAP_X, GAP_Y, MARGIN, TITLE = 230, 46, 30, 64, 24, 34
_FILLS = {
    "prompt": "#dbeafe",
    "say": "#ecfccb",
    "set": "#f3f4f6",
    "if": "#fef3c7",
    "call": "#fae8ff",
    "subflow": "#e0e7ff",
    "end": "#e5e7eb",
}

Corner = tuple[float, float]


def to_svg(flow: Flow) -> str:
    """The flow and its sub-flows below each other."""
    parts: list[str] = []
    top, width = 0.0, 0.0
    for label, graph in flow.graphs():
        places = _places(graph)
        right = max(x for x, _ in places.values()) + BOX_WIDTH + MARGIN
        bottom = max(y for _, y in places.values()) + BOX_HEIGHT + MARGIN
        parts.append(f'<g transform="translate(0 {top:g})">')
        parts.append(f'<text x="{MARGIN}" y="22" class="title">{escape(graph.title or label)}</text>')
        parts += _drawn(graph, places)
        parts.append("</g>")
        top, width = top + bottom + 10, max(width, right)
    return _HEAD.format(width=width, height=top) + "\n".join(parts) + "\n</svg>\n"


_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" role="img">
<style>text{{font:12px sans-serif}} .title{{font:bold 16px sans-serif}}
.name{{font-weight:bold}} .when{{font-size:10px}}
.when{{fill:#555}} path{{fill:none;stroke:#888}} rect{{stroke:#555}}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<polygon points="0,0 8,4 0,8" fill="#888"/></marker></defs>
"""


def _places(graph: Graph) -> dict[str, Corner]:
    """The upper left corner of every box: a layer is the distance from the start; the unreachable come last."""
    following: dict[str, list[str]] = {}
    for arrow in arrows(graph):
        following.setdefault(arrow.source, []).append(arrow.target)
    depth = {graph.start: 0}
    ahead = [graph.start]
    for name in ahead:
        for target in following.get(name, ()):
            if target not in depth:
                depth[target] = depth[name] + 1
                ahead.append(target)
    last = max(depth.values())
    for name in (*graph.nodes, *(target for targets in following.values() for target in targets)):
        depth.setdefault(name, last + 1)
    layers: dict[int, list[str]] = {}
    for name, layer in depth.items():
        layers.setdefault(layer, []).append(name)
    return {
        name: (MARGIN + column * (BOX_WIDTH + GAP_X), TITLE + row * (BOX_HEIGHT + GAP_Y))
        for row, layer in enumerate(sorted(layers))
        for column, name in enumerate(layers[layer])
    }


def _drawn(graph: Graph, places: dict[str, Corner]) -> Iterator[str]:
    for arrow in arrows(graph):
        yield from _arrow(arrow, places)
    for name, (x, y) in places.items():
        node = graph.nodes.get(name)
        what = kind(node) if node is not None else "end"
        told = text_of(node) if node is not None else RESERVED.get(name, "is missing").split(":")[0]
        stroke = ' stroke-width="2.5"' if name == graph.start else ""
        yield f'<rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="7" fill="{_FILLS[what]}"{stroke}/>'
        yield f'<text x="{x + 9}" y="{y + 18}" class="name">{escape(short(name, 30))}</text>'
        yield f'<text x="{x + 9}" y="{y + 36}">{escape(short(told, 36))}</text>'


def _arrow(arrow: Arrow, places: dict[str, Corner]) -> Iterator[str]:
    (x1, y1), (x2, y2) = places[arrow.source], places[arrow.target]
    if y2 > y1:
        a, b, bend = (x1 + BOX_WIDTH / 2, y1 + BOX_HEIGHT), (x2 + BOX_WIDTH / 2, y2), GAP_Y / 2
        path = f"M{a[0]:g} {a[1]:g} C{a[0]:g} {a[1] + bend:g} {b[0]:g} {b[1] - bend:g} {b[0]:g} {b[1]:g}"
    else:
        a, b = (x1 + BOX_WIDTH, y1 + BOX_HEIGHT / 2), (x2 + BOX_WIDTH, y2 + BOX_HEIGHT / 2 + 8)
        out = max(x1, x2) + BOX_WIDTH + 26
        path = f"M{a[0]:g} {a[1]:g} C{out:g} {a[1]:g} {out:g} {b[1]:g} {b[0]:g} {b[1]:g}"
    yield f'<path d="{path}" marker-end="url(#tip)"/>'
    if arrow.label:
        x, y = (a[0] + b[0]) / 2 + 4, (a[1] + b[1]) / 2
        yield f'<text x="{x:g}" y="{y:g}" class="when">{escape(short(arrow.label, 34))}</text>'
