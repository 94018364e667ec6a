"""An automaton as one SVG picture, without any program but this one."""

from __future__ import annotations

from math import sqrt

from dialoom.automata.automaton import START, State
from dialoom.automata.exports.graphs import FILLS, OTHER_FILL, OTHER_STROKE, STROKES, caption
from dialoom.automata.exports.layout import HEIGHT, WIDTH, Arrow, Layout, Point, layout
from dialoom.automata.exports.text import plain, xml
from dialoom.automata.exports.view import View

HEAD = 46.0
FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif"
CAPTION = 21
BAR = 62.0


def svg(shown: View) -> str:
    """The picture with a heading and a legend; every box and arrow has a tooltip with the full text."""
    place = layout(shown)
    width, height = max(place.width, 560.0), place.height + HEAD
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}" font-size="13">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            *_heading(shown),
            f'<g transform="translate(0 {HEAD:.0f})">',
            drawing(shown, place),
            "</g>",
            "</svg>",
            "",
        ]
    )


def drawing(shown: View, place: Layout) -> str:
    """Arrows, then boxes. Boxes carry `data-state`, arrows `data-source` and `data-target`."""
    arrows = sorted(place.arrows, key=lambda arrow: arrow.main)
    lines = [
        '<defs><marker id="tip" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="8" refY="4" '
        'orient="auto"><path d="M0 0L9 4L0 8z" fill="#64748b"/></marker></defs>'
    ]
    lines += [_arrow(shown, arrow) for arrow in arrows]
    lines += [_box(shown, state, place.corners[state.id]) for state in shown.states]
    lines += [_note(shown, arrow) for arrow in arrows if arrow.main or len(shown.states) <= 60]
    return "\n".join(line for line in lines if line)


def counted(shown: View) -> str:
    """How much of the automaton is shown, in words."""
    total = len(shown.states) + shown.hidden
    states = f"{total} states" if not shown.hidden else f"{len(shown.states)} of {total} states"
    return f"{states}, learned from {shown.dialogues} dialogues"


def _heading(shown: View) -> list[str]:
    roles = list(dict.fromkeys(state.role for state in shown.states if state.role))
    lines = [f'<text x="28" y="30" font-size="15" fill="#111827">{xml(counted(shown))}</text>']
    x = 50.0 + 8.0 * len(counted(shown))
    for role in [*roles, "end"]:
        fill, stroke, edge, text = FILLS.get(role, OTHER_FILL), STROKES.get(role, OTHER_STROKE), 1, role
        if role == "end":
            fill, stroke, edge, text = "#ffffff", "#6b7280", 3, "a dialogue may end here"
        box = f'<rect x="{x:.0f}" y="19" width="12" height="12" rx="3"'
        lines.append(f'{box} fill="{fill}" stroke="{stroke}" stroke-width="{edge}"/>')
        lines.append(f'<text x="{x + 18:.0f}" y="30" fill="#4b5563">{xml(text)}</text>')
        x += 44.0 + 7.0 * len(text)
    return lines


def _box(shown: View, state: State, corner: Point) -> str:
    x, y = corner
    fill, stroke = FILLS.get(state.role, OTHER_FILL), STROKES.get(state.role, OTHER_STROKE)
    share, room = state.count / max(1, shown.dialogues), WIDTH - BAR - 14
    tip = [state.name, f"{state.count} dialogues ({share:.0%}), {state.ends} end here", *state.samples]
    return (
        f'<g class="state" data-state="{state.id}" transform="translate({x:.1f} {y:.1f})">'
        f"<title>{xml('; '.join(tip), 600)}</title>"
        f'<rect width="{WIDTH:.0f}" height="{HEIGHT:.0f}" rx="{20 if state.id == START else 7}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="{3 if state.accept else 1.2}"/>'
        f'<text x="12" y="17" fill="#111827">{xml(caption(state), CAPTION)}</text>'
        f'<text x="12" y="32" font-size="11" fill="#4b5563">{state.count}</text>'
        f'<rect x="{BAR:.0f}" y="27" width="{room:.0f}" height="4" rx="2" fill="#ffffff"/>'
        f'<rect x="{BAR:.0f}" y="27" width="{max(2.0, room * share):.1f}" height="4" rx="2" fill="{stroke}"/>'
        "</g>"
    )


def _arrow(shown: View, arrow: Arrow) -> str:
    (a, b), (c, d), (e, f), (g, h) = arrow.curve
    source, name, target, traffic = arrow.transition
    thick = 1.0 + 6.0 * sqrt(traffic / max(1, shown.dialogues))
    look = 'stroke="#94a3b8"' if arrow.main else 'stroke="#cbd5e1" stroke-dasharray="5 4"'
    return (
        f'<path class="arrow" marker-end="url(#tip)" data-source="{source}" data-target="{target}" fill="none" {look} '
        f'stroke-width="{min(thick, 7.0):.1f}" d="M{a:.1f} {b:.1f}C{c:.1f} {d:.1f} {e:.1f} {f:.1f} {g:.1f} {h:.1f}">'
        f"<title>{xml(name)}, {traffic} times</title></path>"
    )


def _note(shown: View, arrow: Arrow) -> str:
    """The tag of an arrow that its target is not labelled with."""
    label = shown.label(arrow.transition)
    if label.isdecimal():
        return ""
    (a, b), (c, d), (e, f), (g, h) = arrow.curve
    x, y = (a + 3 * c + 3 * e + g) / 8, (b + 3 * d + 3 * f + h) / 8
    return (
        f'<text class="note" x="{x:.1f}" y="{y - 3:.1f}" font-size="10" text-anchor="middle" fill="#475569" '
        f'stroke="#ffffff" stroke-width="3" paint-order="stroke">{xml(plain(label), 18)}</text>'
    )
