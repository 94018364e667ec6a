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
_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_NEXT_WEEK = re.compile(
    rf"\bnext\s+week\W+(?:on\s+)?(?P<day1>{'|'.join(_DAYS)})\b|\b(?P<day2>{'|'.join(_DAYS)})\s+(?:of\s+)?next\s+week\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    r"\b(?:on\s+)?the\s+(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)\b(?!\s+(?!at\b|please\b)[a-z])", re.IGNORECASE
)
ATTEMPTS = 6
"""Phrases of a message that are tried as a date."""
MIN_PHRASE = 3
"""Shorter phrases are words: 'we' is not Wednesday."""
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
    """The first date, absolute or relative to `now`.

    What dateparser takes for a month without a day ("may I", "4 on Friday") is passed over, word by word.
    """
    if language == "en" and (match := _AFTER_TOMORROW.search(text)):
        return Moment(now.date() + timedelta(days=2), match.start(), match.end())
    if language == "en" and (match := _NEXT_WEEK.search(text)):
        ahead = 7 - now.weekday() + _DAYS.index((match["day1"] or match["day2"]).lower())
        return Moment(now.date() + timedelta(days=ahead), match.start(), match.end())
    now, rest = now.replace(second=0, microsecond=0), text
    for _ in range(ATTEMPTS):
        found = next(((phrase, day) for phrase, day in _search(rest, now, language, prefer) if phrase in rest), None)
        if found is None:
            break
        phrase, start = found[0], rest.find(found[0])
        if _tells_the_day(phrase, now, language, prefer):
            short = _without_count(phrase, found[1], now, language, prefer)
            return Moment(found[1].date(), start + len(phrase) - len(short), start + len(phrase))
        first = re.match(r"\W*\w*", phrase)
        end = start + max(1, first.end() if first else 1)
        rest = rest[:start] + " " * (end - start) + rest[end:]
    return _day_of_month(text, now) if language == "en" and prefer == "future" else None


def _tells_the_day(phrase: str, now: datetime, language: str, prefer: str) -> bool:
    """Whether a phrase says which day: it holds a day of a month, or a weekday, which is the same if asked a day later
    (or a week later). Of a month alone, dateparser makes today's day in that month.
    """
    if len(phrase) < MIN_PHRASE:
        return False
    if _search(phrase, now, language, prefer, day=True):
        return True
    today, tomorrow = (_search(phrase, base, language, prefer) for base in (now, now + timedelta(days=1)))
    return bool(today and tomorrow) and (tomorrow[0][1].date() - today[0][1].date()).days in (0, 7)


def _without_count(phrase: str, day: datetime, now: datetime, language: str, prefer: str) -> str:
    """'4 tomorrow' is no other day than 'tomorrow', and the number is somebody else's."""
    _, _, rest = phrase.partition(" ")
    found = _search(rest, now, language, prefer) if rest else ()
    return rest if found and found[0] == (rest, day) else phrase


def _day_of_month(text: str, now: datetime) -> Moment | None:
    """'The 4th': the next such day."""
    match = _ORDINAL.search(text)
    if match is None:
        return None
    days = (now.date() + timedelta(days=ahead) for ahead in range(62))
    day = next((day for day in days if day.day == int(match["day"])), None)
    return Moment(day, match.start(), match.end()) if day else None


@lru_cache(maxsize=512)
def _search(
    text: str, now: datetime, language: str, prefer: str, *, day: bool = False
) -> tuple[tuple[str, datetime], ...]:
    try:
        from dateparser.search import search_dates
    except ImportError as error:
        raise MissingExtra("Recognising dates", "flows") from error
    settings: dict[str, Any] = {
        "RELATIVE_BASE": now,
        "PREFER_DATES_FROM": prefer,
        "RETURN_AS_TIMEZONE_AWARE": False,
        "REQUIRE_PARTS": ["day"] if day else [],
    }
    return tuple(search_dates(text, languages=[language], settings=settings) or ())
