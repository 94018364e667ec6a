"""Dates and times in messages: dateparser reads dates, a short grammar reads clock times."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from dialoom.errors import MissingExtra

_CLOCK = re.compile(
    r"(?:\bat\s+|\baround\s+|\babout\s+)?\b(?:"
    r"(?P<hour>[01]?\d|2[0-3])[:.h](?P<minute>[0-5]\d)\s*(?P<half1>[ap]\.?m\b\.?)?"
    r"|(?P<hour2>1[0-2]|0?[1-9])\s*(?P<half2>[ap]\.?m\b\.?)"
    r"|(?P<word>noon|midday|midnight)"
    r"|(?P<part>half|quarter)\s+(?P<side>past|to)\s+(?P<hour3>1[0-2]|[1-9]|\w+))",
    re.IGNORECASE,
)
_BARE = re.compile(r"\bat\s+(?P<hour>[01]?\d|2[0-3])\b(?!\s*[:.]\d)(?:\s+o'?clock\b)?", re.IGNORECASE)
_AFTER_TOMORROW = re.compile(r"\b(?:the\s+)?day\s+after\s+tomorrow\b", re.IGNORECASE)
_HOURS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


class Moment(NamedTuple):
    """A date, time or datetime and where it stands in the text."""

    value: date | time | datetime
    start: int
    end: int


def find_moment(
    text: str, kind: Literal["date", "time", "datetime"], now: datetime, language: str, prefer: str = "future"
) -> Moment | None:
    """The first date, clock time, or both in a text. A datetime needs a clock time; without a date it is the next
    such time. Raises `MissingExtra` without dateparser.
    """
    clock = find_time(text)
    if kind == "time":
        return clock
    blanked = text if clock is None else text[: clock.start] + " " * (clock.end - clock.start) + text[clock.end :]
    day = find_date(blanked, now, language, prefer)
    if kind == "date":
        return day
    if clock is None or not isinstance(clock.value, time):
        return None
    if day is None or isinstance(day.value, time):
        moment = datetime.combine(now.date(), clock.value)
        if prefer == "future" and moment <= now:
            moment += timedelta(days=1)
        return Moment(moment, clock.start, clock.end)
    moment = datetime.combine(day.value, clock.value)
    return Moment(moment, min(day.start, clock.start), max(day.end, clock.end))


def find_time(text: str) -> Moment | None:
    """The first clock time: 14:30, 3pm, noon, half past nine, at 9."""
    match = _CLOCK.search(text) or _BARE.search(text)
    if match is None:
        return None
    parts = match.groupdict()
    word = (parts.get("word") or "").lower()
    if word:
        hour, minute = (0, 0) if word == "midnight" else (12, 0)
    elif parts.get("part"):
        spoken = parts["hour3"].lower()
        if not spoken.isdigit() and spoken not in _HOURS:
            return None
        hour = int(spoken) if spoken.isdigit() else _HOURS.index(spoken) + 1
        minute = 30 if parts["part"].lower() == "half" else 15
        if parts["side"].lower() == "to":
            hour, minute = hour - 1, 60 - minute
    else:
        hour, minute = int(parts["hour"] or parts["hour2"]), int(parts.get("minute") or 0)
    half = (parts.get("half1") or parts.get("half2") or "").lower()
    if half and hour <= 12:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return Moment(time(hour % 24, minute), match.start(), match.end())


def find_date(text: str, now: datetime, language: str, prefer: str = "future") -> Moment | None:
    """The first date, absolute or relative to `now`."""
    match = _AFTER_TOMORROW.search(text)
    if match and language == "en":
        return Moment(now.date() + timedelta(days=2), match.start(), match.end())
    found = _search(text, now.replace(second=0, microsecond=0), language, prefer)
    for phrase, moment in found:
        start = text.find(phrase)
        if start >= 0:
            return Moment(moment.date(), start, start + len(phrase))
    return None


@lru_cache(maxsize=256)
def _search(text: str, now: datetime, language: str, prefer: str) -> tuple[tuple[str, Any], ...]:
    try:
        from dateparser.search import search_dates
    except ImportError as error:
        raise MissingExtra("Recognising dates", "flows") from error
    settings = {"RELATIVE_BASE": now, "PREFER_DATES_FROM": prefer, "RETURN_AS_TIMEZONE_AWARE": False}
    return tuple(search_dates(text, languages=[language], settings=settings) or ())
