"""Pictures and exchange formats of automata."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dialoom.automata.automaton import Automaton
from dialoom.automata.exports.graphs import dot, graphml, mermaid, scxml
from dialoom.automata.exports.html import html
from dialoom.automata.exports.png import png
from dialoom.automata.exports.svg import svg
from dialoom.automata.exports.view import View, view
from dialoom.errors import UnknownName

FORMATS: Mapping[str, Callable[[View], str | bytes]] = {
    "dot": dot,
    "graphml": graphml,
    "html": html,
    "mermaid": mermaid,
    "png": png,
    "scxml": scxml,
    "svg": svg,
}

DRAWN = frozenset({"html", "mermaid", "png", "svg"})
"""Formats for the eye: of a large automaton they show the busiest 400 states, and twice as many further arrows."""

MAX_DRAWN = 400


def export(
    automaton: Automaton,
    name: str,
    *,
    max_depth: int | None = None,
    min_dialogues: int = 1,
    max_states: int | None = None,
) -> bytes:
    """The automaton in the format `name`, as the bytes of a file; see `view` for what the limits leave out.

    Raises `UnknownName` for a format there is not, `MissingExtra` for a PNG without matplotlib.
    """
    if name not in FORMATS:
        raise UnknownName("export format", name, FORMATS)
    states, transitions = max_states, None
    if name in DRAWN:
        states = MAX_DRAWN if max_states is None else max_states
        transitions = 2 * states
    shown = view(
        automaton,
        max_depth=max_depth,
        min_dialogues=min_dialogues,
        max_states=states,
        max_transitions=transitions,
    )
    written = FORMATS[name](shown)
    return written if isinstance(written, bytes) else written.encode("utf-8")


__all__ = ["DRAWN", "FORMATS", "MAX_DRAWN", "View", "export", "view"]
