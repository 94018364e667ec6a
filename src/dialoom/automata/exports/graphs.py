"""Text formats other tools read: Mermaid, DOT, GraphML, SCXML."""

from __future__ import annotations

import re

from dialoom.automata.automaton import START, State
from dialoom.automata.exports.text import plain, xml
from dialoom.automata.exports.view import View

FILLS = {"": "#e5e7eb", "user": "#dbeafe", "system": "#dcfce7", "tool": "#f3e8ff"}
STROKES = {"": "#6b7280", "user": "#2563eb", "system": "#15803d", "tool": "#7e22ce"}
OTHER_FILL, OTHER_STROKE = "#fef3c7", "#b45309"


def caption(state: State) -> str:
    """What a state is called in a drawing: its tag, which many states may share."""
    return state.tag if state.id != START else "start"


def mermaid(shown: View) -> str:
    """A Mermaid flowchart. Everything but letters, digits and blanks is written as a character code."""
    lines = ["flowchart LR"]
    for state in shown.states:
        left, right = ("([", "])") if state.id == START else ("[[", "]]") if state.accept else ("[", "]")
        lines.append(f'  s{state.id}{left}"{_codes(caption(state))}<br/>{state.count}"{right}:::{_class(state.role)}')
    for transition in shown.transitions:
        label = _codes(shown.label(transition))
        lines.append(f'  s{transition.source} -->|"{label}"| s{transition.target}')
    for role in ("", "user", "system", "tool", "other"):
        fill, stroke = FILLS.get(role, OTHER_FILL), STROKES.get(role, OTHER_STROKE)
        lines.append(f"  classDef {_class(role)} fill:{fill},stroke:{stroke},color:#111827")
    return "\n".join(lines) + "\n"


def dot(shown: View) -> str:
    """A Graphviz digraph; accept states have a double border."""
    lines = [
        "digraph automaton {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10, color="#64748b"];',
    ]
    for state in shown.states:
        fill, stroke = FILLS.get(state.role, OTHER_FILL), STROKES.get(state.role, OTHER_STROKE)
        label = f"{_quoted(caption(state))}\\n{state.count}"
        tip = _quoted(f"{state.name}: {' / '.join(state.samples)}" if state.samples else state.name)
        look = f'fillcolor="{fill}", color="{stroke}", peripheries={2 if state.accept else 1}'
        lines.append(f'  s{state.id} [label="{label}", tooltip="{tip}", {look}];')
    for transition in shown.transitions:
        label = _quoted(shown.label(transition))
        lines.append(f'  s{transition.source} -> s{transition.target} [label="{label}"];')
    return "\n".join([*lines, "}"]) + "\n"


def graphml(shown: View) -> str:
    """GraphML with name, role, tag, count, ends and samples of states, symbol and traffic of transitions."""
    node_keys = {
        "name": "string",
        "role": "string",
        "tag": "string",
        "count": "int",
        "ends": "int",
        "samples": "string",
    }
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    for key, kind in node_keys.items():
        lines.append(f'  <key id="{key}" for="node" attr.name="{key}" attr.type="{kind}"/>')
    for key, kind in (("symbol", "string"), ("traffic", "int")):
        lines.append(f'  <key id="{key}" for="edge" attr.name="{key}" attr.type="{kind}"/>')
    lines.append('  <graph id="automaton" edgedefault="directed">')
    for state in shown.states:
        values = (state.name, state.role, state.tag, state.count, state.ends, " / ".join(state.samples))
        data = _data(dict(zip(node_keys, values, strict=True)))
        lines.append(f'    <node id="s{state.id}">{data}</node>')
    for number, (source, name, target, traffic) in enumerate(shown.transitions):
        data = _data({"symbol": name, "traffic": traffic})
        lines.append(f'    <edge id="e{number}" source="s{source}" target="s{target}">{data}</edge>')
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def scxml(shown: View) -> str:
    """A W3C SCXML machine. Event `role.tag` is a symbol, its odd characters written as `_xHHHH_`; `dialogue.end` ends.

    The attributes of the namespace `urn:dialoom:automaton` say the same in plain text.
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<scxml xmlns="http://www.w3.org/2005/07/scxml" xmlns:d="urn:dialoom:automaton" '
        f'version="1.0" initial="s{START}">',
    ]
    leaving: dict[int, list[str]] = {}
    for source, name, target, traffic in shown.transitions:
        role, _, tag = name.partition(":")
        event = f'event="{_event(role)}.{_event(tag)}" target="s{target}"'
        text = f'    <transition {event} d:symbol="{xml(name)}" d:traffic="{traffic}"/>'
        leaving.setdefault(source, []).append(text)
    for state in shown.states:
        about = f'd:name="{xml(state.name)}" d:count="{state.count}" d:ends="{state.ends}"'
        lines.append(f'  <state id="s{state.id}" {about}>')
        lines.extend(leaving.get(state.id, ()))
        if state.accept:
            lines.append('    <transition event="dialogue.end" target="end"/>')
        lines.append("  </state>")
    if any(state.accept for state in shown.states):
        lines.append('  <final id="end"/>')
    return "\n".join([*lines, "</scxml>"]) + "\n"


def _class(role: str) -> str:
    return {"": "start", "user": "user", "system": "system", "tool": "tool"}.get(role, "other")


def _codes(text: str) -> str:
    return re.sub(r"[^\w ]", lambda match: f"#{ord(match.group())};", plain(text, 60))


def _quoted(text: str) -> str:
    return plain(text).replace("\\", "\\\\").replace('"', '\\"')


def _event(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]", lambda match: f"_x{ord(match.group()):04X}_", text) or "_x_"


def _data(values: dict[str, str | int]) -> str:
    return "".join(f'<data key="{key}">{xml(str(value), 2000)}</data>' for key, value in values.items())
