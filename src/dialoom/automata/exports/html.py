"""An automaton as one self-contained page to explore: pan, zoom, search, click a state. It loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from importlib import resources

from dialoom.automata.automaton import START
from dialoom.automata.exports.graphs import FILLS, OTHER_FILL, OTHER_STROKE, STROKES
from dialoom.automata.exports.layout import HEIGHT, layout
from dialoom.automata.exports.svg import counted, drawing
from dialoom.automata.exports.text import plain, xml
from dialoom.automata.exports.view import View

SAMPLE = 400


def html(shown: View, *, title: str = "Conversation automaton") -> str:
    """The page. Its policy allows its own script only; tags and samples enter as data and are shown as text."""
    here = resources.files("dialoom.automata.exports")
    script = here.joinpath("page.js").read_text("utf-8")
    place = layout(shown)
    data = {
        "states": [
            {
                "id": state.id,
                "name": plain(state.name),
                "role": plain(state.role),
                "tag": plain(state.tag),
                "count": state.count,
                "ends": state.ends,
                "samples": [plain(sample, SAMPLE) for sample in state.samples],
                "fill": FILLS.get(state.role, OTHER_FILL),
                "stroke": STROKES.get(state.role, OTHER_STROKE),
            }
            for state in shown.states
        ],
        "transitions": [[source, plain(name), target, traffic] for source, name, target, traffic in shown.transitions],
        "dialogues": shown.dialogues,
        "width": place.width,
        "height": place.height,
        "start": {"x": place.corners[START][0], "y": place.corners[START][1] + HEIGHT / 2},
    }
    filled = {
        "TITLE": xml(title),
        "COUNTED": xml(counted(shown)),
        "LEGEND": _legend(shown),
        "DRAWING": drawing(shown, place),
        "DATA": json.dumps(data, separators=(",", ":")).replace("<", "\\u003c").replace("&", "\\u0026"),
        "SCRIPT": script,
        "HASH": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    }
    page = here.joinpath("page.html").read_text("utf-8")
    return re.sub("@@([A-Z]+)@@", lambda match: filled[match.group(1)], page)


def _legend(shown: View) -> str:
    marks = []
    for role in dict.fromkeys(state.role for state in shown.states if state.role):
        fill, stroke = FILLS.get(role, OTHER_FILL), STROKES.get(role, OTHER_STROKE)
        marks.append(f'<span style="--fill: {fill}; --stroke: {stroke}">{xml(role)}</span>')
    end = '<span style="--fill: #fff; --stroke: #6b7280; --edge: 3px">a dialogue may end here</span>'
    return "".join([*marks, end])
