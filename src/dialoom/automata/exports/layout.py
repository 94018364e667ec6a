"""Where states and arrows go: a tidy tree from left to right over the busiest ways in, other arrows drawn around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dialoom.automata.automaton import START, Transition
from dialoom.automata.exports.view import View

WIDTH, HEIGHT = 168.0, 40.0
COLUMN, ROW = 250.0, 54.0
MARGIN = 28.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Arrow:
    """A transition as a cubic curve (start, two handles, end). `main` if it is its target's busiest way in."""

    transition: Transition
    curve: tuple[Point, Point, Point, Point]
    main: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """Top left corners of the boxes (`WIDTH` by `HEIGHT` pixels) by state, the arrows, and the size of the whole."""

    corners: Mapping[int, Point]
    arrows: tuple[Arrow, ...]
    width: float
    height: float


def layout(shown: View) -> Layout:
    """Place a view. Children stand beside their parent, the busiest on top; time is linear in its size."""
    children: dict[int, list[Transition]] = {}
    for way in shown.ways_in.values():
        children.setdefault(way.source, []).append(way)
    for ways in children.values():
        ways.sort(key=lambda way: (-way.traffic, way.symbol))
    rows = _rows({source: [way.target for way in ways] for source, ways in children.items()})
    corners = {
        state: (MARGIN + shown.depth[state] * COLUMN, MARGIN + rows[state] * ROW) for state in sorted(shown.depth)
    }
    arrows = []
    for transition in shown.transitions:
        main = shown.ways_in.get(transition.target) is transition
        arrows.append(Arrow(transition, _curve(corners[transition.source], corners[transition.target]), main))
    right = max(x for x, _ in corners.values()) + WIDTH + MARGIN
    bottom = max(y for _, y in corners.values()) + HEIGHT + MARGIN
    lowest = max((y for arrow in arrows for _, y in arrow.curve[1:3]), default=0.0)
    return Layout(corners, tuple(arrows), right, max(bottom, lowest + MARGIN))


def _rows(children: Mapping[int, list[int]]) -> dict[int, float]:
    """Rows of a tree: leaves one below the other, a parent in the middle of its first and last child."""
    rows: dict[int, float] = {}
    free = 0.0
    pending = [(START, False)]
    while pending:
        state, placed = pending.pop()
        below = children.get(state, [])
        if not below:
            rows[state] = free
            free += 1.0
        elif placed:
            rows[state] = (rows[below[0]] + rows[below[-1]]) / 2
        else:
            pending.append((state, True))
            pending.extend((child, False) for child in reversed(below))
    return rows


def _curve(source: Point, target: Point) -> tuple[Point, Point, Point, Point]:
    (sx, sy), (tx, ty) = source, target
    middle = HEIGHT / 2
    if source == target:
        top = (sx + WIDTH * 0.7, sy + HEIGHT)
        return (
            top,
            (sx + WIDTH * 0.9, sy + HEIGHT + 26),
            (sx + WIDTH * 0.4, sy + HEIGHT + 26),
            (sx + WIDTH * 0.6, sy + HEIGHT),
        )
    if tx > sx:
        bend = max(40.0, (tx - sx - WIDTH) / 2)
        start, end = (sx + WIDTH, sy + middle), (tx, ty + middle)
        return start, (start[0] + bend, start[1]), (end[0] - bend, end[1]), end
    if tx == sx:
        start, end = (sx + WIDTH, sy + middle), (tx + WIDTH, ty + middle)
        return start, (start[0] + 46, start[1]), (end[0] + 46, end[1]), end
    start, end = (sx, sy + HEIGHT * 0.8), (tx + WIDTH, ty + HEIGHT * 0.8)
    return start, (start[0] - 60, start[1] + 34), (end[0] + 60, end[1] + 34), end
