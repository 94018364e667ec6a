"""Adjuncts of time: what a sentence may repeat of the days and times of the question."""

from __future__ import annotations

import datetime as dt
from typing import Any

from dialoom.dataflow import Call, Computation, Constant, Graph
from dialoom.domains.calendar.facets import Facets, Window
from dialoom.domains.calendar.rules.context import facets
from dialoom.domains.calendar.rules.phrases import Found, value_of, world_of
from dialoom.generation import Rules

rules = Rules()

# WHEN


@rules.rule("WHEN", "{DATES <f>}", weight=3)
def when_day(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule("WHEN", "{DATES <f>}{WINDOWS <f>}", weight=3)
def when_day_and_time(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule("WHEN", "{WINDOWS <f>}[{DATES <f>}]", weight=0.5)
def when_time(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule("WHEN", "{LASTING <f>}", "{DATES <f>}{LASTING <f>}", "{DATES <f>}{WINDOWS <f>}{LASTING <f>}")
def when_and_how_long(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule("LASTING", " for {LENGTH <length>}", " lasting {LENGTH <length>}")
def lasting(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"length": found.durations[0]} if found and found.durations else None


@rules.rule("DATES", " {DATE <day>}", weight=2)
def on_day(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"day": found.days[0]} if found and found.days and not graph.failed(found.days[0]) else None


@rules.rule("DATES", " {RANGE <days>}", weight=2)
def in_range(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"days": found.ranges[0]} if found and found.ranges and not graph.failed(found.ranges[0]) else None


@rules.rule("DATES", "{DATES <rest>}", "{DATES <first>}{DATES <rest>}")
def several_dates(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    if not found or len(found.days) + len(found.ranges) < 2:
        return None
    if found.days:
        return {"first": Facets(days=found.days[:1]), "rest": Facets(days=found.days[1:], ranges=found.ranges)}
    return {"first": Facets(ranges=found.ranges[:1]), "rest": Facets(ranges=found.ranges[1:])}


@rules.rule("WINDOWS", "{WINDOW <w>}")
def in_window(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"w": found.windows[0]} if found and found.windows else None


@rules.rule("WINDOWS", "{WINDOWS <rest>}", "{WINDOW <w>}{WINDOWS <rest>}")
def in_several_windows(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    if not found or len(found.windows) < 2:
        return None
    return {"w": found.windows[0], "rest": Facets(windows=found.windows[1:])}


def _window(node: Computation, *kinds: str) -> Window | None:
    value = node.value if isinstance(node, Constant) else None
    return value if isinstance(value, Window) and value.kind in kinds else None


@rules.rule("WINDOW", " at {TIME <t>}")
def at_time(node: Computation, graph: Graph) -> Found:
    window = _window(node, "at")
    return {"t": window.nodes[0]} if window else None


@rules.rule("WINDOW", " after {TIME <t>}")
def after_time(node: Computation, graph: Graph) -> Found:
    window = _window(node, "after")
    return {"t": window.nodes[0]} if window else None


@rules.rule(
    "WINDOW",
    " after right now",
    " from now on",
    " from now until the end of the day",
    " for the rest of [today|the day]",
)
def after_now(node: Computation, graph: Graph) -> Found:
    window = _window(node, "after")
    match window:
        case Window("after", (Call("DateTime.time", (Call("Now"),)),)):
            return {}
    return None


@rules.rule("WINDOW", " before right now", " before now", " up to now")
def before_now(node: Computation, graph: Graph) -> Found:
    window = _window(node, "before")
    match window:
        case Window("before", (Call("DateTime.time", (Call("Now"),)),)):
            return {}
    return None


@rules.rule("WINDOW", " before[ at] {TIME <t>}")
def before_time(node: Computation, graph: Graph) -> Found:
    window = _window(node, "before")
    return {"t": window.nodes[0]} if window else None


@rules.rule("WINDOW", " between {CLOCK <times>}")
def between_times(node: Computation, graph: Graph) -> Found:
    window = _window(node, "between")
    times = [value_of(item, graph, dt.time) for item in window.nodes] if window else []
    return {"times": tuple(times)} if times and all(times) else None


@rules.rule("WINDOW", " {DATE <day>} at {TIME <t>}", " at {TIME <t>}", " at {TIME <t>} {DATE <day>}")
def at_moment(node: Computation, graph: Graph) -> Found:
    window = _window(node, "moment")
    moment = value_of(window.nodes[0], graph, dt.datetime) if window else None
    return {"day": moment.date(), "t": moment.time()} if moment else None


@rules.rule("WINDOW", " right now")
def at_present(node: Computation, graph: Graph) -> Found:
    window = _window(node, "moment")
    return {} if window and value_of(window.nodes[0], graph, dt.datetime) == world_of(graph).now else None


@rules.rule("WINDOW", " before [at ]{MOMENT <m>}")
def before_moment(node: Computation, graph: Graph) -> Found:
    window = _window(node, "before moment")
    return {"m": window.nodes[0]} if window and not graph.failed(window.nodes[0]) else None


@rules.rule("WINDOW", " {DATE <day>} before[ at] {TIME <t>}")
def before_moment_of_day(node: Computation, graph: Graph) -> Found:
    window = _window(node, "before moment")
    moment = value_of(window.nodes[0], graph, dt.datetime) if window else None
    return {"day": moment.date(), "t": moment.time()} if moment else None


@rules.rule("WINDOW", " after {MOMENT <m>}")
def after_moment(node: Computation, graph: Graph) -> Found:
    window = _window(node, "after moment")
    return {"m": window.nodes[0]} if window and not graph.failed(window.nodes[0]) else None


@rules.rule("WINDOW", " after {MOMENT <m>}", weight=0.5)
def after_day_and_time(node: Computation, graph: Graph) -> Found:
    """A day and "after" a time of it, said as one moment."""
    value = node.value if isinstance(node, Constant) else None
    return {"m": value.moment} if isinstance(value, _Moment) and value.kind == "after" else None


@rules.rule("WINDOW", " before {MOMENT <m>}", weight=0.5)
def before_day_and_time(node: Computation, graph: Graph) -> Found:
    value = node.value if isinstance(node, Constant) else None
    return {"m": value.moment} if isinstance(value, _Moment) and value.kind == "before" else None


@rules.rule("WHEN", "{WINDOW <w>}")
def when_moment(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    window = found.windows[0] if found and found.days and found.windows else None
    if not found or not window or window.kind not in ("after", "before"):
        return None
    day, time = value_of(found.days[0], graph, dt.date), value_of(window.nodes[0], graph, dt.time)
    return {"w": _Moment(window.kind, dt.datetime.combine(day, time))} if day and time else None


class _Moment(tuple[str, dt.datetime]):
    """(`after` or `before`, moment)."""

    __slots__ = ()

    def __new__(cls, kind: str, moment: dt.datetime) -> _Moment:
        return super().__new__(cls, (kind, moment))

    @property
    def kind(self) -> str:
        return self[0]

    @property
    def moment(self) -> dt.datetime:
        return self[1]


@rules.rule("WINDOW", " between {MOMENT <a>} and {MOMENT <b>}", " from {MOMENT <a>} to {MOMENT <b>}")
def between_moments(node: Computation, graph: Graph) -> Found:
    bounds = _moments(node, graph)
    return {"a": bounds[0], "b": bounds[1]} if bounds else None


@rules.rule("WINDOW", " {DATE <day>} between {CLOCK <times>}", " between {CLOCK <times>}")
def between_moments_of_day(node: Computation, graph: Graph) -> Found:
    bounds = _moments(node, graph)
    if not bounds or bounds[0].date() != bounds[1].date():
        return None
    return {"day": bounds[0].date(), "times": (bounds[0].time(), bounds[1].time())}


def _moments(node: Computation, graph: Graph) -> Any:
    window = _window(node, "moments")
    return getattr(graph.outcome(window.nodes[0]), "bounds", None) if window else None


@rules.rule("WINDOW", " for the rest of [today|the day]", " from now until the end of the day", " after right now")
def rest_of_today(node: Computation, graph: Graph) -> Found:
    return {} if _window(node, "rest of today") else None


@rules.rule("WINDOW", "[ today] after {TIME <t>}")
def from_this_time_on(node: Computation, graph: Graph) -> Found:
    return {"t": world_of(graph).now.time()} if _window(node, "rest of today") else None


@rules.rule("WINDOW", " {PART <p>}")
def in_part_of_day(node: Computation, graph: Graph) -> Found:
    window = _window(node, "part")
    return {"p": window.nodes[0]} if window else None


# A day with a part of it: "tomorrow morning", "this afternoon", "tonight"


@rules.rule("WHEN", " {DATE <day>} {<part>}", weight=2)
def part_of_named_day(node: Computation, graph: Graph) -> Found:
    day, part = _day_and_part(node, graph)
    return {"day": day, "part": part} if day and part and day != world_of(graph).today else None


@rules.rule("WHEN", " this {<part>}", weight=2)
def part_of_today(node: Computation, graph: Graph) -> Found:
    day, part = _day_and_part(node, graph)
    return {"part": part} if part and part != "night" and day == world_of(graph).today else None


@rules.rule("WHEN", " tonight", weight=2)
def tonight(node: Computation, graph: Graph) -> Found:
    day, part = _day_and_part(node, graph)
    return {} if part in ("night", "evening") and day == world_of(graph).today else None


def _day_and_part(node: Computation, graph: Graph) -> tuple[dt.date | None, str]:
    found = facets(node)
    window = found.windows[0] if found and found.days and found.windows else None
    if not found or not window or window.kind != "part" or not isinstance(window.nodes[0], Call):
        return None, ""
    part = {"Morning": "morning", "Afternoon": "afternoon", "Evening": "evening", "Night": "night"}
    return value_of(found.days[0], graph, dt.date), part.get(window.nodes[0].function, "")
