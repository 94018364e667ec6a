"""When a reply may have been said: moments that agree with the days and times it names."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from dialoom.dataflow import Call, Computation, Graph, walk
from dialoom.domains.calendar.clues import Clues, Mention
from dialoom.domains.calendar.library import calendar_library
from dialoom.domains.calendar.smcalflow.bare import bare_world

_DAY = dt.timedelta(days=1)
_NEAR = (1, 2, 3, 4, 5, 6, 7, 0, 8, 9, 10, 11, 12, 13, 14, 17, 20, 24, 28)
_FAR = (*_NEAR, 35, 45, 60, 90, 120, 150, 180, 210, 240, 300, 340)
# Days to try where a reply names no date: every weekday, at the middle and the edges of months.
_PLAIN = (
    *(dt.date(2019, 10, day) for day in (9, 10, 11, 12, 13, 14, 15, 1, 31)),
    *(dt.date(2020, 1, 2), dt.date(2019, 12, 30), dt.date(2020, 5, 20), dt.date(2020, 7, 31), dt.date(2019, 3, 1)),
    *(dt.date(2019, month, 15) for month in range(1, 13)),
)


def moments(root: Computation, clues: Clues, functions: set[str]) -> Iterator[dt.datetime]:
    """Moments at which the program may have been answered with these clues, likeliest first; `functions`: its own."""
    times = [dt.time(0, 5), dt.time(23, 50)] if not clues.past else [dt.time(23, 50), dt.time(0, 5)]
    named = [time for _, time in clues.times]
    if functions & {"Now", "NextTime", "EventForRestOfToday", "NextPeriodDuration"}:
        later = [time.replace(minute=time.minute + 5) for time in named if time.minute < 55]
        earlier = [time.replace(hour=time.hour - n) for time in named for n in range(1, 6) if time.hour >= n]
        times = [*dict.fromkeys([*named, *later, *(earlier if "toHours" in functions else [])]), dt.time(12), *times]
    asked = [mention for mention in clues.days if mention.place < clues.tail]
    for today in dict.fromkeys(_todays(root, clues)):
        if not all(mention.dates(today) for mention in clues.days):
            continue
        known = _program_days(root, dt.datetime.combine(today, times[0])) if asked else []
        if known and not any(mention.fits(day, today) for mention in asked for day in known):
            continue
        for time in times:
            yield dt.datetime.combine(today, time)


def _program_days(root: Computation, now: dt.datetime) -> list[dt.date]:
    """Every day that the program itself names, were this the time."""
    graph = Graph(root, calendar_library, [bare_world(root, now)])
    days: list[dt.date] = []
    for node in walk(root):
        if not isinstance(node, Call) or node.type.name not in ("Date", "DateTime", "Constraint"):
            continue
        outcome = graph.outcome(node)
        values = (outcome, *(getattr(outcome, "bounds", None) or ()))
        days += [
            value.date() if isinstance(value, dt.datetime) else value for value in values if isinstance(value, dt.date)
        ]
    return days


def _todays(root: Computation, clues: Clues) -> Iterator[dt.date]:
    """Dates that today may be, from the fullest mention of a date; else a few, then those near the program's own."""
    full = [m for m in clues.days if m.day is not None]
    if not full:
        yield from _PLAIN
        for year in (2019, 2020, 2021, 2018):
            for day in _program_days(root, dt.datetime(year, 1, 15, 8)):
                yield from (day - n * _DAY for n in _NEAR)
                yield from (day + n * _DAY for n in _NEAR)
        return
    mention = max(full, key=lambda m: (m.year is not None, m.month is not None, m.weekday is not None))
    anchors = list(_anchors(mention))
    away = _FAR if mention.month is not None else _NEAR
    signs = (-1, 1) if clues.past else (1, -1)
    for sign in signs:
        for days in away:
            for anchor in anchors:
                yield anchor - sign * days * _DAY


def _anchors(mention: Mention) -> Iterator[dt.date]:
    years = [mention.year] if mention.year is not None else [2019, 2020, 2018, 2021]
    for year in years:
        for month in [mention.month] if mention.month is not None else range(1, 13):
            try:
                date = dt.date(year, month, mention.day or 1)
            except ValueError:
                continue
            if mention.weekday in (None, date.weekday()):
                yield date
