"""A check of what a reply claims against the calendar, independent of rules and grammars.

It reads English by patterns (`clues`), takes the search and the days of the program as the topic, and looks every claim
up: counts, existence, yes or no, quoted subjects, days, times, lengths, people and places.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dialoom.dataflow import Constant, Failure, Graph, walk
from dialoom.domains.calendar.clues import Clues, Mention, normalised, read_clues
from dialoom.domains.calendar.facets import find_constraint
from dialoom.domains.calendar.model import Change, Event, QueryEventResponse, World


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that a reply says about the data, and whether the data agree."""

    kind: str
    said: str
    true: bool


@dataclass(frozen=True, slots=True)
class _Topic:
    """What the program is about: events it found, whether it searched, and the values it names."""

    events: tuple[Event, ...]
    searched: bool
    answer: bool | None
    texts: tuple[str, ...]
    days: tuple[dt.date, ...]
    bounds: tuple[tuple[dt.date, dt.date], ...]
    times: tuple[dt.time, ...]


def verify(reply: str, graph: Graph) -> list[Claim]:
    """Every claim of the reply that can be read, looked up in the world of the executed graph."""
    world: World = graph.resource(World)
    clues = read_clues(normalised(reply))
    topic = _topic(graph)
    claims = [*_counts(clues, topic), *_verdict(clues, topic), *_quotes(clues, topic)]
    claims += [*_days(clues, topic, world), *_times(clues, topic, world), *_people(clues, topic, world)]
    claims += [*_places(clues, topic, world), *_lengths(clues, topic)]
    return claims


def precision(claims: Iterable[Claim]) -> float:
    """The share of claims that are true; 1.0 where there is none."""
    found = list(claims)
    return sum(claim.true for claim in found) / len(found) if found else 1.0


def _topic(graph: Graph) -> _Topic:
    outcome = graph.outcome(graph.root)
    constraint = find_constraint(graph.root)
    found: list[Event] = []
    if constraint is not None:
        result = graph.outcome(graph.call("FindEventWrapperWithDefaults", constraint))
        found = list(result.results) if isinstance(result, QueryEventResponse) else []
    events = list(_events_in([outcome, *(graph.outcome(node) for node in walk(graph.root))])) or found
    if isinstance(outcome, Failure):
        events = found
    values = [graph.outcome(node) for node in walk(graph.root)]
    spans = [bounds for value in values if (bounds := getattr(value, "bounds", None))]
    flat = [*values, *(edge for bounds in spans for edge in bounds)]
    return _Topic(
        events=tuple(events or found),
        searched=constraint is not None,
        answer=outcome if isinstance(outcome, bool) else None,
        texts=tuple(
            node.value for node in walk(graph.root) if isinstance(node, Constant) and isinstance(node.value, str)
        ),
        days=tuple(_day(value) for value in flat if isinstance(value, dt.date)),
        bounds=tuple((_day(a), _day(b)) for a, b in spans if isinstance(a, dt.date)),
        times=tuple(_clock(value) for value in flat if isinstance(value, dt.time | dt.datetime)),
    )


def _events_in(values: Iterable[Any]) -> Iterable[Event]:
    for value in values:
        if isinstance(value, Event):
            yield value
        elif isinstance(value, Change):
            yield from (event for event in (value.before, value.after) if event)


def _day(value: dt.date) -> dt.date:
    return value.date() if isinstance(value, dt.datetime) else value


def _clock(value: dt.time | dt.datetime) -> dt.time:
    return value.time() if isinstance(value, dt.datetime) else value


def _counts(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    if clues.count is not None and topic.searched:
        yield Claim("count", str(clues.count), clues.count == len(topic.events))


def _verdict(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    verdict = re.match(r"(Yes|No)\b", clues.text)
    if verdict and topic.answer is not None:
        yield Claim("verdict", verdict[1], (verdict[1] == "Yes") is topic.answer)


def _quotes(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    known = {*topic.texts, *(event.subject for event in topic.events), *(event.location for event in topic.events)}
    for _, text in clues.quotes:
        yield Claim("quotation", text, text in known)


def _days(clues: Clues, topic: _Topic, world: World) -> Iterable[Claim]:
    of_events = [event.start.date() for event in topic.events] + [event.end.date() for event in topic.events]
    for mention in clues.days:
        said = clues.text[mention.place : mention.place + 24]
        asked = [*topic.days, *(edge for bounds in topic.bounds for edge in bounds)]
        candidates = of_events if clues.tail and mention.place >= clues.tail and of_events else [*asked, *of_events]
        yield Claim("day", said, any(_meant(mention, day, world.today) for day in candidates))


def _meant(mention: Mention, day: dt.date, today: dt.date) -> bool:
    """Whether a day may be spoken of so; a weekday alone is one within a week, a number alone one within a month."""
    away = abs((day - today).days)
    near = mention.relative is not None or mention.month is not None or away < (7 if mention.day is None else 31)
    return mention.fits(day, today) and near


def _times(clues: Clues, topic: _Topic, world: World) -> Iterable[Claim]:
    edges = {edge for event in topic.events for edge in (event.start.time(), event.end.time())}
    starts = {(event.start.time(), event.end.time()) for event in topic.events}
    for first, last in re.findall(r"from (\d{1,2}:\d\d(?: [AP]M)?) to (\d{1,2}:\d\d(?: [AP]M)?)", clues.text):
        agree = any(_may_be(first, begin) and _may_be(last, end) for begin, end in starts)
        yield Claim("times", f"{first} to {last}", agree)
    named = {*topic.times, *edges, world.now.time()}
    near = {time.replace(second=0) for time in named} | {_next_minute(time) for time in named}
    for place, _ in clues.times:
        if not clues.text.endswith(("from ", "to "), 0, place):
            said = _TIME.match(clues.text, place)
            text = said[0] if said else ""
            yield Claim("time", text, any(_may_be(text, time) for time in near))


_TIME = re.compile(r"\d{1,2}:\d\d(?: ?[AP]M)?")


def _may_be(said: str, time: dt.time) -> bool:
    """Whether a time may be said so; one without AM or PM may be of either half of the day."""
    hour, minute = said[:5].strip(" APM").split(":")
    half = said[-2] if said.endswith("M") else ""
    same = int(hour) % 12 == time.hour % 12 and int(minute) == time.minute
    return same and half in ("", "A" if time.hour < 12 else "P")


def _next_minute(time: dt.time) -> dt.time:
    moment = dt.datetime.combine(dt.date(2000, 1, 1), time.replace(second=0, microsecond=0))
    return (moment + dt.timedelta(minutes=1)).time() if time.second else moment.time()


def _people(clues: Clues, topic: _Topic, world: World) -> Iterable[Claim]:
    """People of the directory that the reply names: they take part, organize, were asked for, or lead who was."""
    said = re.sub(r'"[^"]*"', '""', clues.text)
    involved = {item.recipient.name for event in topic.events for item in event.attendees}
    involved |= {event.organizer.name for event in topic.events if event.organizer}
    involved |= set(world.managers.values())
    asked = " ".join(topic.texts).casefold()
    for person in world.people:
        if person.name in said:
            known = person.name in involved or any(word.casefold() in asked for word in person.name.split())
            yield Claim("person", person.name, known)


def _places(clues: Clues, topic: _Topic, world: World) -> Iterable[Claim]:
    said = re.sub(r'"[^"]*"', '""', clues.text)
    known = {event.location for event in topic.events} | set(topic.texts)
    for place in sorted({event.location for event in world.events if event.location}):
        if re.search(rf"\b{re.escape(place)}\b", said):
            yield Claim("place", place, place in known)


def _lengths(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    if clues.length is not None and topic.events:
        yield Claim("length", str(clues.length), clues.length in {event.duration for event in topic.events})
