"""How days, ranges, times, lengths, counts and names are said. Days are said relative to the world's today."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from dialoom.dataflow import Computation, Constant, Failure, Graph
from dialoom.domains.calendar import dates
from dialoom.domains.calendar.model import World
from dialoom.domains.calendar.times import MONTHS
from dialoom.generation import Rules

Found = dict[str, Any] | None
rules = Rules()


def world_of(graph: Graph) -> World:
    """The world the graph runs in."""
    world: World = graph.resource(World)
    return world


def value_of(node: Computation, graph: Graph, kind: Any) -> Any:
    """The node's value if it has one of this class, else None."""
    outcome = graph.outcome(node)
    return outcome if isinstance(outcome, kind) and not isinstance(outcome, Failure) else None


def items_of(node: Computation) -> tuple[Any, ...]:
    """The values of a constant tuple, else none."""
    return node.value if isinstance(node, Constant) and isinstance(node.value, tuple) else ()


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th ..."""
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


# DATE: a day without a preposition in front of relative words, with one elsewhere


def _date(*templates: str, weight: float = 1.0) -> Callable[[Callable[[dt.date, dt.date], bool]], Any]:
    """A rule for DATE that applies where `when(day, today)` holds."""

    def register(when: Callable[[dt.date, dt.date], bool]) -> Any:
        def body(node: Computation, graph: Graph) -> Found:
            day = value_of(node, graph, dt.date)
            if isinstance(day, dt.datetime):
                day = day.date()
            today = world_of(graph).today
            return day_words(day) if day is not None and when(day, today) else None

        place = f"{when.__module__}, line {when.__code__.co_firstlineno}"
        rules.add("DATE", templates, body, name=when.__name__, place=place, weight=weight)
        return when

    return register


def day_words(day: dt.date) -> dict[str, Any]:
    """What a template may say of a day."""
    return {
        "weekday": f"{day:%A}",
        "short": f"{day:%a}",
        "nth": ordinal(day.day),
        "month": MONTHS[day.month - 1],
        "mon": MONTHS[day.month - 1][:3],
        "day": day.day,
        "year": day.year,
    }


@_date("today", weight=4)
def today(day: dt.date, today: dt.date) -> bool:
    return day == today


@_date("on today", weight=0.02)
def on_this_day(day: dt.date, today: dt.date) -> bool:
    return day == today


@_date("tomorrow", weight=4)
def tomorrow(day: dt.date, today: dt.date) -> bool:
    return day == today + dt.timedelta(days=1)


@_date("yesterday", weight=4)
def yesterday(day: dt.date, today: dt.date) -> bool:
    return day == today - dt.timedelta(days=1)


@_date("on {<weekday>}", "{<weekday>}", weight=2)
def weekday_near(day: dt.date, today: dt.date) -> bool:
    first, last = dates.week_of(today)
    return first <= day <= last or 0 < (day - today).days < 7


@_date("on {<weekday>} the {<nth>}", "on the {<nth>}", weight=2)
def weekday_and_number(day: dt.date, today: dt.date) -> bool:
    return abs((day - today).days) < 31


@_date("on {<month>} {<nth>}")
def month_and_number(day: dt.date, today: dt.date) -> bool:
    return day.year == today.year or 0 <= (day - today).days < 365


@_date("on {<weekday>}, {<month>} {<nth>}", "on {<short>}, {<month>} {<day>}", "{<short>}, {<month>} {<day>}")
def weekday_month_number(day: dt.date, today: dt.date) -> bool:
    return day.year == today.year or 0 <= (day - today).days < 365


@_date("on {<month>} {<day>}, {<year>}", "on {<weekday>}, {<month>} {<day>}, {<year>}", weight=0.5)
def full_date(day: dt.date, today: dt.date) -> bool:
    return True


@_date("{<weekday>}, {<month>} {<day>}, {<year>}", weight=0.2)
def full_date_bare(day: dt.date, today: dt.date) -> bool:
    return True


# DAY: a day as a noun, after "between", "before", "from" ...


@rules.rule("DAY", "{<word>}", weight=4)
def day_relative(node: Computation, graph: Graph) -> Found:
    day = _day(node, graph)
    away = (day - world_of(graph).today).days if day else None
    words = {0: "today", 1: "tomorrow", -1: "yesterday"}
    return {"word": words[away]} if away in words else None


@rules.rule("DAY", "{<weekday>}", weight=2)
def day_weekday(node: Computation, graph: Graph) -> Found:
    day = _day(node, graph)
    return day_words(day) if day and weekday_near(day, world_of(graph).today) else None


@rules.rule("DAY", "{<weekday>} the {<nth>}", weight=2)
def day_weekday_number(node: Computation, graph: Graph) -> Found:
    day = _day(node, graph)
    return day_words(day) if day and weekday_and_number(day, world_of(graph).today) else None


@rules.rule("DAY", "{<month>} {<nth>}")
def day_month_number(node: Computation, graph: Graph) -> Found:
    day = _day(node, graph)
    return day_words(day) if day and month_and_number(day, world_of(graph).today) else None


@rules.rule("DAY", "{<month>} {<day>}, {<year>}", weight=0.5)
def day_full(node: Computation, graph: Graph) -> Found:
    day = _day(node, graph)
    return day_words(day) if day else None


def _day(node: Computation, graph: Graph) -> dt.date | None:
    day = value_of(node, graph, dt.date)
    return day.date() if isinstance(day, dt.datetime) else day


# RANGE: several days


def _bounds(node: Computation, graph: Graph) -> tuple[dt.date, dt.date] | None:
    outcome = graph.outcome(node)
    return getattr(outcome, "bounds", None)


def _range(template: str, weight: float = 2.0) -> Callable[[Callable[[dt.date], Any]], Any]:
    """A rule for RANGE that applies where the bounds are those that `of(today)` gives."""

    def register(of: Callable[[dt.date], Any]) -> Any:
        def body(node: Computation, graph: Graph) -> Found:
            bounds = _bounds(node, graph)
            return {} if bounds is not None and bounds == of(world_of(graph).today) else None

        place = f"{of.__module__}, line {of.__code__.co_firstlineno}"
        rules.add("RANGE", (template,), body, name=of.__name__, place=place, weight=weight)
        return of

    return register


_WEEK = dt.timedelta(days=7)


@_range("this week")
def this_week(today: dt.date) -> dates.Range:
    return dates.week_of(today)


@_range("next week")
def next_week(today: dt.date) -> dates.Range:
    return dates.week_of(today + _WEEK)


@_range("last week")
def last_week(today: dt.date) -> dates.Range:
    return dates.week_of(today - _WEEK)


@_range("this weekend")
def this_weekend(today: dt.date) -> dates.Range:
    return dates.weekend_of(today)


@_range("next weekend")
def next_weekend(today: dt.date) -> dates.Range:
    return dates.weekend_of(dates.weekend_of(today)[1] + dt.timedelta(days=1))


@_range("last weekend")
def last_weekend(today: dt.date) -> dates.Range:
    return dates.weekend_of(dates.weekend_of(today)[0] - dt.timedelta(days=2))


@_range("this month")
def this_month(today: dt.date) -> dates.Range:
    return dates.month_range(today.year, today.month)


@_range("next month")
def next_month(today: dt.date) -> dates.Range:
    return dates.month_range(today.year + today.month // 12, today.month % 12 + 1)


@_range("last month")
def last_month(today: dt.date) -> dates.Range:
    before = today.replace(day=1) - dt.timedelta(days=1)
    return dates.month_range(before.year, before.month)


@_range("this year")
def this_year(today: dt.date) -> dates.Range:
    return dt.date(today.year, 1, 1), dt.date(today.year, 12, 31)


@_range("next year")
def next_year(today: dt.date) -> dates.Range:
    return dt.date(today.year + 1, 1, 1), dt.date(today.year + 1, 12, 31)


@_range("last year")
def last_year(today: dt.date) -> dates.Range:
    return dt.date(today.year - 1, 1, 1), dt.date(today.year - 1, 12, 31)


def _whole_month(node: Computation, graph: Graph) -> dt.date | None:
    bounds = _bounds(node, graph)
    if bounds is None or bounds != dates.month_range(bounds[0].year, bounds[0].month):
        return None
    return bounds[0]


@rules.rule("RANGE", "in {<month>}", weight=2)
def in_month(node: Computation, graph: Graph) -> Found:
    first = _whole_month(node, graph)
    near = first is not None and abs((first - world_of(graph).today).days) < 365
    return day_words(first) if first and near else None


@rules.rule("RANGE", "in {<month>} {<year>}")
def in_month_and_year(node: Computation, graph: Graph) -> Found:
    first = _whole_month(node, graph)
    return day_words(first) if first else None


@rules.rule("RANGE", "last {<month>}", weight=2)
def last_named_month(node: Computation, graph: Graph) -> Found:
    first = _whole_month(node, graph)
    past = first is not None and 27 < (world_of(graph).today - first).days < 366
    return day_words(first) if first and past else None


@rules.rule("RANGE", "in {<year>}")
def in_year(node: Computation, graph: Graph) -> Found:
    bounds = _bounds(node, graph)
    whole = bounds and (bounds[0].month, bounds[0].day, bounds[1].month, bounds[1].day) == (1, 1, 12, 31)
    return {"year": bounds[0].year} if bounds and whole and bounds[0].year == bounds[1].year else None


@rules.rule("RANGE", "between {DAY <first>} and {DAY <last>}", "from {DAY <first>} to {DAY <last>}", weight=0.5)
def between_days(node: Computation, graph: Graph) -> Found:
    bounds = _bounds(node, graph)
    return {"first": bounds[0], "last": bounds[1]} if bounds else None
