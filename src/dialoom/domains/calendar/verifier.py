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
    """What the program is about: events it found, whether it searched, and the values it names.

    `named` are events that a search refers to ("after the standup"): a reply may name them, but not as what was found.
    """

    events: tuple[Event, ...]
    named: tuple[Event, ...]
    searched: bool
    answer: bool | None
    failed: bool
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
    claims += [*_places(clues, topic, world), *_lengths(clues, topic), *_together(clues, topic)]
    claims += [*_loose_numbers(clues, topic), *_strangers(clues, topic, world)]
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
    inner = {id(node) for node in walk(constraint)} if constraint is not None else set()
    outer = [graph.outcome(node) for node in walk(graph.root) if id(node) not in inner]
    events = list(_events_in([outcome, *outer])) or found
    if isinstance(outcome, Failure):
        events = found
    values = [graph.outcome(node) for node in walk(graph.root)]
    spans = [bounds for value in values if (bounds := getattr(value, "bounds", None))]
    flat = [*values, *(edge for bounds in spans for edge in bounds)]
    return _Topic(
        events=tuple(events),
        named=tuple(_events_in(graph.outcome(node) for node in walk(graph.root) if id(node) in inner)),
        searched=constraint is not None,
        answer=outcome if isinstance(outcome, bool) else None,
        failed=isinstance(outcome, Failure),
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


def _plain(clues: Clues, topic: _Topic) -> str:
    """What is said outside quotations and outside subjects that stand without them ("Your lunch with Bob is ...")."""
    text = re.sub(r'"[^"]*"', '""', clues.text)
    for event in topic.events:
        text = re.sub(rf"\b(Your|[Tt]he|an?) {re.escape(event.subject)}(?!\w)", r'\1 ""', text)
    return text


def _counts(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    if clues.count is not None and topic.searched:
        yield Claim("count", str(clues.count), clues.count == len(topic.events))


def _verdict(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    verdict = re.match(r"(Yes|No)\b", clues.text)
    if verdict and (topic.answer is not None or topic.failed):  # what failed has no yes in it
        yield Claim("verdict", verdict[1], (verdict[1] == "Yes") is bool(topic.answer))


def _quotes(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    spoken = (*topic.events, *topic.named)
    known = {*topic.texts, *(event.subject for event in spoken), *(event.location for event in spoken)}
    for _, text in clues.quotes:
        yield Claim("quotation", text, text in known)


def _days(clues: Clues, topic: _Topic, world: World) -> Iterable[Claim]:
    of_events = [event.start.date() for event in topic.events] + [event.end.date() for event in topic.events]
    taken = {event.start.date() for event in world.events} | {event.end.date() for event in world.events}
    for mention in clues.days:
        said = clues.text[mention.place : mention.place + 24]
        asked = [*topic.days, *(edge for bounds in topic.bounds for edge in bounds)]
        candidates = of_events if clues.tail and mention.place >= clues.tail and of_events else [*asked, *of_events]
        # Where a search on all days found nothing, there is nothing on a day without events either.
        everywhere = topic.searched and not topic.events and not topic.days and not topic.bounds
        free = everywhere and not any(mention.fits(day, world.today) for day in taken)
        yield Claim("day", said, free or any(_meant(mention, day, world.today) for day in candidates))


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
    said = _plain(clues, topic)
    spoken = (*topic.events, *topic.named)
    involved = {item.recipient.name for event in spoken for item in event.attendees}
    involved |= {event.organizer.name for event in spoken if event.organizer}
    involved |= set(world.managers.values())
    asked = " ".join(topic.texts).casefold()
    for person in world.people:
        if person.name in said:
            known = person.name in involved or any(word.casefold() in asked for word in person.name.split())
            yield Claim("person", person.name, known)


def _places(clues: Clues, topic: _Topic, world: World) -> Iterable[Claim]:
    said = _plain(clues, topic)
    known = {event.location for event in (*topic.events, *topic.named)} | set(topic.texts)
    for place in sorted({event.location for event in world.events if event.location}):
        if re.search(rf"\b{re.escape(place)}\b", said):
            yield Claim("place", place, place in known)


_ONE_EVENT = re.compile(r"\. (?:It's|It is|It was|The first is|The first was|Your)(?: (?:a|an|the|your))? (.*)")
_SPAN = re.compile(r"from (\d{1,2}:\d\d(?: [AP]M)?) to (\d{1,2}:\d\d(?: [AP]M)?)")


def _together(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    """What is said of one event found, its subject with its times, has to be true of one and the same event."""
    said = _ONE_EVENT.search(clues.text)
    span = _SPAN.search(said[1]) if said else None
    subject = re.match(r'"([^"]*)"|(.+?) (?:is|was) ', said[1]) if said else None
    if said and span and subject and clues.count and not said[1].startswith("from "):
        name = subject[1] or subject[2]
        same = [event for event in topic.events if event.subject == name]
        agree = any(_may_be(span[1], e.start.time()) and _may_be(span[2], e.end.time()) for e in same)
        yield Claim("event", f"{name} {span[0]}", agree)


_WORDS = {"no": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_LOOSE = re.compile(
    rf"\b(?<!found )(?<!have )(?<!only )(?<!than )({'|'.join(_WORDS)}|\d+)"
    r" (?:[a-z]+ )?(?:events?|meetings?|appointments?)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:do(?:es)? not|don't|didn't|couldn't) (?:have|find|see) any (?:events|meetings|appoint)", re.IGNORECASE
)


def _loose_numbers(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    """Counts and absences in words that the rules never use."""
    said = _plain(clues, topic)
    if not topic.searched or clues.count is not None:
        return
    for match in _LOOSE.finditer(said):
        number = _WORDS[match[1].lower()] if match[1].lower() in _WORDS else int(match[1])
        yield Claim("count", match[0], number == len(topic.events))
    for match in _NOTHING.finditer(said):
        yield Claim("existence", match[0], not topic.events)


_WITH = re.compile(r"\bwith ([A-Z][a-z]+(?: [A-Z][a-z]+)*)")


def _strangers(clues: Clues, topic: _Topic, world: World) -> Iterable[Claim]:
    """People whom neither the directory nor the program knows."""
    known = " ".join([*(person.name for person in world.people), *topic.texts, *world.managers.values()]).casefold()
    known += " ".join(item.recipient.name for event in topic.events for item in event.attendees).casefold()
    for name in _WITH.findall(_plain(clues, topic)):
        if not any(word in known for word in name.casefold().split()):
            yield Claim("person", name, False)


def _lengths(clues: Clues, topic: _Topic) -> Iterable[Claim]:
    if clues.length is not None and topic.events:
        yield Claim("length", str(clues.length), clues.length in {event.duration for event in topic.events})
