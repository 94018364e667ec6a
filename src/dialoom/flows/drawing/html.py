"""A flow as one HTML page: the drawing, and every node in full. No scripts, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import yaml

from dialoom.flows.checking.findings import Finding
from dialoom.flows.drawing.labels import kind
from dialoom.flows.drawing.svg import to_svg
from dialoom.flows.flow import Flow

_STYLE = """body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222}
pre{background:#f6f6f6;padding:.7rem;overflow:auto;border-radius:6px} figure{overflow:auto;margin:1rem 0}
summary{cursor:pointer} .error{color:#b00020} .warning{color:#8a5a00} h2{margin-top:2rem}"""


def to_html(flow: Flow, findings: Sequence[Finding] = ()) -> str:
    """The page; findings of the check are listed at its head."""
    title = escape(flow.title or flow.flow)
    return "\n".join(
        [
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
            f"<style>{_STYLE}</style></head><body>",
            f"<h1>{title}</h1><p>{escape(flow.description)}</p>",
            *(f'<p class="{item.severity}">{escape(str(item))}</p>' for item in findings),
            f"<figure>{to_svg(flow)}</figure>",
            *_graphs(flow),
            "</body></html>\n",
        ]
    )


def _graphs(flow: Flow) -> Iterator[str]:
    for label, graph in flow.graphs():
        yield f"<h2>{escape(graph.title or label)}</h2><p>{escape(graph.description)}</p>"
        for name, node in graph.nodes.items():
            data = node.model_dump(by_alias=True, exclude_defaults=True, mode="json")
            text = yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=100)
            head = f"<b>{escape(name)}</b> ({kind(node)}) {escape(node.description)}"
            anchor = escape(f"{label}.{name}")
            yield f'<details id="{anchor}"><summary>{head}</summary><pre>{escape(text)}</pre></details>'
