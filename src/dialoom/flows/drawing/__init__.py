"""Drawings of a flow: Mermaid for documents, SVG and HTML for people."""

from dialoom.flows.drawing.html import to_html
from dialoom.flows.drawing.mermaid import to_mermaid
from dialoom.flows.drawing.svg import to_svg

__all__ = ["to_html", "to_mermaid", "to_svg"]
