"""What a reply says about the world it was given in: counts, quotations, days, times, people, places.

This reads English by patterns of its own, not by the rules, so that the rules are put to a test by what it finds.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from dialoom.domains.calendar.model import ResponseStatusType
from dialoom.domains.calendar.times import MONTHS

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTH = "|".join(f"{month}|{month[:3]}" for month in MONTHS)
_WEEKDAY = "|".join(f"{day}|{day[:3]}" for day in WEEKDAYS)
_DAY = re.compile(
    rf"\b(?P<relative>today|tomorrow|yesterday|tonight|this (?:morning|afternoon|evening|night))\b"
    rf"|\b(?:(?P<weekday>{_WEEKDAY})(?:,\s+|\s+the\s+|\s+)?)?"
    rf"(?:(?P<month>{_MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,\s+(?P<year>\d{{4}}))?\b"
    rf"|(?P<nth>\d{{1,2}})(?:st|nd|rd|th)\b)"
    rf"|\b(?P<bare>{'|'.join(WEEKDAYS)})\b"
)
_TIME = re.compile(r"\b(\d{1,2}):(\d{2})(?:\s*([AP])M)?\b")
_COUNT = re.compile(r"\b(?:found|have) (one|no|\d+)\b(?! different| attendee)")
_TAIL = re.compile(
    r"\. (?:It's|It is|It was|The first is|The first was|Your)|^(?:It's|It is|It was)"
    r"|(?<!There) (?:is|was|are|starts?|started|ends?|ended|located) "
)
_ANSWERS = (
    ("tentatively accepted", ResponseStatusType.TENTATIVE),
    ("accepted", ResponseStatusType.ACCEPTED),
    ("declined", ResponseStatusType.DECLINED),
    ("not responded", ResponseStatusType.NONE),
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A day as said: a distance from today, or some of weekday, day, month and year; `place` is where it stands."""

    place: int
    relative: int | None = None
    weekday: int | None = None
    day: int | None = None
    month: int | None = None
    year: int | None = None

    def fits(self, date: dt.date, today: dt.date) -> bool:
        """Whether the date could be meant."""
        if self.relative is not None:
            return (date - today).days == self.relative
        return (
            self.weekday in (None, date.weekday())
            and self.day in (None, date.day)
            and self.month in (None, date.month)
            and self.year in (None, date.year)
        )

    def dates(self, today: dt.date) -> list[dt.date]:
        """Dates that could be meant, nearest first, those ahead before those behind."""
        if self.relative is not None:
            return [today + dt.timedelta(days=self.relative)]
        if self.year is not None and self.month is not None and self.day is not None:
            return [dt.date(self.year, self.month, self.day)]
        reach = 6 if self.day is None else 31 if self.month is None else 366
        days = [today + dt.timedelta(days=n) for n in sorted(range(-reach, reach + 1), key=lambda n: (abs(n), -n))]
        return [day for day in days if self.fits(day, today)][:4]


@dataclass(frozen=True, slots=True)
class Clues:
    """What one reply says. `tail` is where it turns from the question to the answer."""

    text: str
    tail: int
    count: int | None
    quotes: tuple[tuple[int, str], ...]
    days: tuple[Mention, ...]
    times: tuple[tuple[int, dt.time], ...]
    place: str
    past: bool
    length: dt.timedelta | None
    answer: ResponseStatusType | None
    year: int | None = None


def normalised(text: str) -> str:
    """A reply with straight quotation marks, single spaces, none before a stop, and one stop at most."""
    text = text.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r"\.\.+$", ".", re.sub(r"\s+([.,?!])", r"\1", text))


def read_clues(reply: str) -> Clues:
    """The clues of a normalised reply."""
    masked = re.sub(r'"[^"]*"', lambda match: '"' + "_" * (len(match[0]) - 2) + '"', reply)
    ends = [match.end() for match in _TAIL.finditer(masked)]
    turns = re.finditer(r"\. (?:It's|It is|It was|The first is|The first was|Your) ", masked)
    marks = [match.end() for match in turns if match.start() > len("Yes")]
    tail = marks[0] if marks else ends[-1] if ends else 0
    count = _COUNT.search(masked)
    number = None if count is None else {"one": 1, "no": 0}.get(count[1]) if not count[1].isdigit() else int(count[1])
    if re.search(r"didn't find any|I found no\b|have no\b", masked):
        number = 0
    place = re.search(r"located(?: at| in)? (?:the )?(.+?)\.?$", reply) or re.search(
        r"(?:is|was|It's)(?: at| in| a)? (?:the )?(.+?)\.?$", reply
    )
    year = re.search(r"\bin (\d{4})\.$", masked)
    return Clues(
        text=reply,
        tail=tail,
        count=number,
        quotes=tuple((match.start(), match[1]) for match in re.finditer(r'"([^"]*)"', reply)),
        days=tuple(_mention(match) for match in _DAY.finditer(masked) if _is_day(match, masked)),
        times=_times(masked),
        place=place[1] if place else "",
        past=bool(re.search(r"\b(was|were|started|ended)\b", masked)),
        length=_length(masked),
        answer=next((status for words, status in _ANSWERS if words in masked), None),
        year=int(year[1]) if year else None,
    )


def _is_day(match: re.Match[str], text: str) -> bool:
    """A number alone is a day only as in "on the 5th": otherwise it counts events."""
    alone = match["nth"] and not match["weekday"]
    return not alone or text.endswith("on the ", 0, match.start())


def _mention(match: re.Match[str]) -> Mention:
    words = match["relative"]
    if words:
        return Mention(match.start(), relative={"tomorrow": 1, "yesterday": -1}.get(words, 0))
    weekday = match["weekday"] or match["bare"]
    return Mention(
        match.start(),
        weekday=next((n for n, day in enumerate(WEEKDAYS) if weekday and day.startswith(weekday[:3])), None),
        day=int(match["day"] or match["nth"]) if match["day"] or match["nth"] else None,
        month=next((n for n, m in enumerate(MONTHS, 1) if match["month"] and m.startswith(match["month"][:3])), None),
        year=int(match["year"]) if match["year"] else None,
    )


def _times(text: str) -> tuple[tuple[int, dt.time], ...]:
    """Times with where they stand; a time without AM or PM takes that of the next one that has it."""
    found = [(match.start(), int(match[1]), int(match[2]), match[3]) for match in _TIME.finditer(text)]
    times: list[tuple[int, dt.time]] = []
    half: str | None = None
    later: dt.time | None = None
    for place, hour, minute, own in reversed(found):
        half = own or half or "P"
        time = _clock(hour, minute, half)
        if own is None and later is not None and time > later:
            time = _clock(hour, minute, "A" if half == "P" else "P")
        times.append((place, time))
        later = time
    return tuple(reversed(times))


def _clock(hour: int, minute: int, half: str) -> dt.time:
    return dt.time(hour % 12 + (12 if half == "P" else 0), min(minute, 59))


def _length(text: str) -> dt.timedelta | None:
    if "an hour and a half" in text:
        return dt.timedelta(minutes=90)
    if re.search(r"\b(?:half an|(?<!and )a half) hour", text):
        return dt.timedelta(minutes=30)
    if re.search(r"\ban hour\b", text):
        return dt.timedelta(hours=1)
    hours = re.search(r"\b(\d+)(?: and a half)? hours?", text)
    minutes = re.search(r"\b(\d+) minutes?", text)
    days = re.search(r"\b(\d+) days?\b", text)
    if not hours and not minutes and not days:
        return None
    half = 30 if "and a half hours" in text else 0
    return dt.timedelta(
        days=int(days[1]) if days else 0,
        hours=int(hours[1]) if hours else 0,
        minutes=(int(minutes[1]) if minutes else 0) + half,
    )
