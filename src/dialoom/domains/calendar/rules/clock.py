"""How times, parts of the day, moments, lengths and counts are said."""

from __future__ import annotations

import datetime as dt
from typing import Any

from dialoom.dataflow import Call, Computation, Graph
from dialoom.domains.calendar.rules.phrases import Found, items_of, value_of, world_of
from dialoom.generation import Rules

rules = Rules()

# TIME, CLOCK and HALF: a time of day, its digits, AM or PM


@rules.rule("TIME", "{<digits>} {<half>}")
def clock_time(node: Computation, graph: Graph) -> Found:
    return clock_words(value_of(node, graph, dt.time))


@rules.rule("TIME", "{<digits>}", weight=0.05)
def clock_time_of_either_half(node: Computation, graph: Graph) -> Found:
    return clock_words(value_of(node, graph, dt.time))


def clock_words(time: dt.time | None) -> Found:
    """Digits without a leading zero, and the half of the day."""
    if time is None:
        return None
    return {"digits": f"{(time.hour - 1) % 12 + 1}:{time.minute:02d}", "half": "AM" if time.hour < 12 else "PM"}


def two_times(first: dt.time, last: dt.time) -> dict[str, Any]:
    """What a template may say of two times."""
    return {"first": first, "last": last, "begin": (clock_words(first) or {})["digits"]}


@rules.rule("PART", "in the {<part>}", "in the {<part>}", weight=1)
def part_of_day(node: Computation, graph: Graph) -> Found:
    return {"part": _PARTS[node.function]} if isinstance(node, Call) and node.function in _PARTS else None


@rules.rule("PART", "at night")
def at_night(node: Computation, graph: Graph) -> Found:
    return {} if isinstance(node, Call) and node.function == "Night" else None


@rules.rule("PART", "late in the {<part>}", "in the late {<part>}")
def late_part(node: Computation, graph: Graph) -> Found:
    return {"part": _LATE[node.function]} if isinstance(node, Call) and node.function in _LATE else None


@rules.rule("PART", "early in the {<part>}", "in the early {<part>}")
def early_part(node: Computation, graph: Graph) -> Found:
    return {"part": "morning"} if isinstance(node, Call) and node.function == "EarlyMorning" else None


@rules.rule("PART", "between {CLOCK <times>}", weight=0.5)
def part_as_times(node: Computation, graph: Graph) -> Found:
    outcome = graph.outcome(node)
    bounds = getattr(outcome, "bounds", None)
    if bounds is None or not isinstance(bounds[0], dt.time):
        return None
    last = bounds[1].replace(second=0)
    if last.minute in (29, 59):
        last = (dt.datetime.combine(dt.date(2000, 1, 1), last) + dt.timedelta(minutes=1)).time()
    return {"times": (bounds[0], last)}


_PARTS = {"Morning": "morning", "Afternoon": "afternoon", "Evening": "evening", "Night": "night"}
_LATE = {"LateAfternoon": "afternoon", "LateMorning": "morning", "LateNight": "night"}


@rules.rule("CLOCK", "{<begin>} and {TIME <last>}", weight=3)
def times_of_one_half(node: Computation, graph: Graph) -> Found:
    first, last = items_of(node)
    return two_times(first, last) if (first.hour < 12) == (last.hour < 12) else None


@rules.rule("CLOCK", "{TIME <first>} and {TIME <last>}")
def times_of_two_halves(node: Computation, graph: Graph) -> Found:
    first, last = items_of(node)
    return two_times(first, last)


# MOMENT: a day and a time, as a noun


@rules.rule("MOMENT", "{DAY <day>} at {TIME <time>}")
def day_at_time(node: Computation, graph: Graph) -> Found:
    moment = value_of(node, graph, dt.datetime)
    return {"day": moment.date(), "time": moment.time()} if moment else None


@rules.rule("MOMENT", "right now", "now", weight=2)
def this_moment(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, dt.datetime) == world_of(graph).now else None


# LENGTH


@rules.rule("LENGTH", "{<minutes>} {plural <minutes> minute|minutes}")
def length_in_minutes(node: Computation, graph: Graph) -> Found:
    minutes = _minutes(node, graph)
    return {"minutes": minutes} if minutes is not None and 0 < minutes < 120 else None


@rules.rule("LENGTH", "{<hours>} {plural <hours> hour|hours}")
def length_in_hours(node: Computation, graph: Graph) -> Found:
    minutes = _minutes(node, graph)
    return {"hours": minutes // 60} if minutes and minutes % 60 == 0 else None


@rules.rule("LENGTH", "{<word>}", weight=2)
def length_in_words(node: Computation, graph: Graph) -> Found:
    minutes = _minutes(node, graph)
    return {"word": _LENGTHS[minutes]} if minutes in _LENGTHS else None


@rules.rule("LENGTH", "a half hour")
def half_an_hour(node: Computation, graph: Graph) -> Found:
    return {} if _minutes(node, graph) == 30 else None


@rules.rule(
    "LENGTH",
    "{<hours>} {plural <hours> hour|hours} and {<minutes>} {plural <minutes> minute|minutes}",
    "{<hours>} and a half hours",
)
def length_in_hours_and_minutes(node: Computation, graph: Graph) -> Found:
    minutes = _minutes(node, graph)
    if not minutes or minutes < 60 or minutes % 60 != 30:
        return None
    return {"hours": minutes // 60, "minutes": minutes % 60}


@rules.rule("LENGTH", "{<hours>} {plural <hours> hour|hours}[ and] {<minutes>} {plural <minutes> minute|minutes}")
def length_with_odd_minutes(node: Computation, graph: Graph) -> Found:
    minutes = _minutes(node, graph)
    if not minutes or minutes < 60 or minutes % 60 in (0, 30):
        return None
    return {"hours": minutes // 60, "minutes": minutes % 60}


@rules.rule("LENGTH", "{<days>} {plural <days> day|days}")
def length_in_days(node: Computation, graph: Graph) -> Found:
    minutes = _minutes(node, graph)
    return {"days": minutes // 1440} if minutes and minutes % 1440 == 0 else None


_LENGTHS = {30: "half an hour", 60: "an hour", 90: "an hour and a half", 1440: "a day"}


def _minutes(node: Computation, graph: Graph) -> int | None:
    length = value_of(node, graph, dt.timedelta)
    return None if length is None else int(length.total_seconds() // 60)


# COUNT


@rules.rule("COUNT", "{<n>}")
def count_in_digits(node: Computation, graph: Graph) -> Found:
    number = value_of(node, graph, int)
    return {"n": number} if number else None


@rules.rule("COUNT", "{<word>}", weight=2)
def count_in_words(node: Computation, graph: Graph) -> Found:
    number = value_of(node, graph, int)
    return {"word": "no" if number == 0 else "one"} if number in (0, 1) else None
