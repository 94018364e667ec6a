"""Worlds in which a program could have been answered as it was: the clues of a reply turned into a calendar.

A world is proposed, not trusted: the program is executed in it and the reply must be in the language of its grammar.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from dialoom.dataflow import Call, Computation, Constant, Failure, Graph, walk
from dialoom.domains.calendar.clues import Clues
from dialoom.domains.calendar.facets import find_constraint
from dialoom.domains.calendar.library import calendar_library
from dialoom.domains.calendar.model import (
    Attendee,
    Event,
    EventId,
    LocationKeyphrase,
    Recipient,
    ResponseStatus,
    ResponseStatusType,
    ShowAsStatus,
    World,
)
from dialoom.domains.calendar.smcalflow.bare import HALF_HOUR, USER, bare_world
from dialoom.domains.calendar.smcalflow.cast import populate
from dialoom.domains.calendar.smcalflow.moments import moments

_DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Draft:
    """An event as far as the clues and the constraint say."""

    subject: str
    date: dt.date
    start: dt.time
    length: dt.timedelta
    fields: dict[str, Any]


def worlds(root: Computation, clues: Clues, limit: int = 400) -> Iterator[World]:
    """Proposals, likeliest first, at most `limit`."""
    return islice(_worlds(root, clues), limit)


def example_world(root: Computation, now: dt.datetime = dt.datetime(2019, 10, 9, 8)) -> World:
    """A world in which the program finds one event, as far as an example of its constraint can bring that about."""
    clues = Clues("", 0, 1, (), (), (), "", False, None, None)
    return _world(root, clues, now, None)


def _worlds(root: Computation, clues: Clues) -> Iterator[World]:
    functions = {node.function for node in walk(root) if isinstance(node, Call)}
    spoken = {node.type.name for node in walk(root) if isinstance(node, Call) and node.function == "Execute"}
    for now in moments(root, clues, functions):
        for date in _event_dates(root, clues, now):
            world = _world(root, clues, now, date)
            if not _fits(root, world, clues):
                continue
            yield world
            if clues.count == 0 and world.events:
                yield replace(world, events=[])
            if "Event" in spoken and world.events:
                yield replace(world, salient_event=world.events[0])
            if "Date" in spoken:
                for days in (7, 1, -1, 14, -7):
                    yield replace(world, salient_date=(world.salient_date or now.date()) - days * _DAY)


def _fits(root: Computation, world: World, clues: Clues) -> bool:
    """Whether the events proposed are found by the program's search; a cheap test before a grammar is made."""
    constraint = find_constraint(root)
    if clues.count == 0 or not world.events or constraint is None:
        return True
    outcome = Graph(constraint, calendar_library, [world]).outcome(constraint)
    return isinstance(outcome, Failure) or bool(outcome.test(world.events[0]))


def _event_dates(root: Computation, clues: Clues, now: dt.datetime) -> list[dt.date | None]:
    """Days the event may be on: those the answer names, else those the question names, else what fits."""
    if clues.count == 0:
        return [None]
    if clues.year is not None:
        return [dt.date(clues.year, 6, 15)]
    after = [m for m in clues.days if m.place >= clues.tail]
    before = [m for m in clues.days if m.place < clues.tail]
    dates = [date for mention in (*after[:1], *before) for date in mention.dates(now.date())[:2]]
    dates = dates[:3]
    example = _example(root, now).get("date")
    if isinstance(example, dt.date) and not after:
        dates = [example, *(example + n * _DAY for n in (1, 2, 3, 4, 5, 6)), *dates] if not dates else [*dates, example]
    return [*dict.fromkeys(dates)] or [now.date(), now.date() + _DAY]


def _example(root: Computation, now: dt.datetime) -> dict[str, Any]:
    """An example of the constraint of the program's search, in an empty world."""
    constraint = find_constraint(root)
    if constraint is None:
        return {}
    graph = Graph(constraint, calendar_library, [bare_world(root, now)])
    outcome = graph.outcome(constraint)
    example = None if isinstance(outcome, Failure) else outcome.example
    return example if isinstance(example, dict) else {}


def _world(root: Computation, clues: Clues, now: dt.datetime, date: dt.date | None) -> World:
    world = bare_world(root, now)
    populate(world, root, clues)
    _remember(world, clues, now, by_end=any(isinstance(n, Call) and n.function == "Event.end" for n in walk(root)))
    world.events = _inner_events(root, world)
    if clues.count == 0 or re.search(r"anyone named|different people|could not find", clues.text):
        return world
    example = _example_in(root, world)
    draft = _draft(example, clues, now, date)
    world.events = [*_events(root, draft, world, clues), *world.events]
    return world


def _inner_events(root: Computation, world: World) -> list[Event]:
    """Events for the searches inside the constraint of the program's search, when the last event spoken of was."""
    outer = find_constraint(root)
    remembered = world.salient_event
    found: list[Event] = []
    for node in walk(outer) if outer is not None and remembered is not None else ():
        if isinstance(node, Call) and node.function.startswith("Find") and node.type.name != "Recipient":
            example = _example_in(node, world)
            subject = _text(example.get("subject")) or "standup"
            people = [item for item in example.get("attendees") or [] if isinstance(item, Recipient)]
            attendees = tuple(Attendee(_resolved(person, world)) for person in people)
            number = EventId(100 + len(found))
            if remembered is not None:
                moved = dt.datetime.combine(_date(example) or remembered.start.date(), remembered.start.time())
                found.append(
                    replace(
                        remembered,
                        id=number,
                        subject=subject,
                        attendees=attendees,
                        start=moved,
                        end=moved + remembered.duration,
                    )
                )
    return found


def _example_in(root: Computation, world: World) -> dict[str, Any]:
    constraint = find_constraint(root)
    outcome = Graph(constraint, calendar_library, [world]).outcome(constraint) if constraint is not None else None
    example = None if outcome is None or isinstance(outcome, Failure) else outcome.example
    return example if isinstance(example, dict) else {}


def _remember(world: World, clues: Clues, now: dt.datetime, *, by_end: bool) -> None:
    """What was spoken of before: an event that ends (`by_end`) or begins when the reply's first time says."""
    first = next((time for place, time in clues.times if place < clues.tail or clues.tail == 0), None)
    days = [m for m in clues.days if m.place < clues.tail] or list(clues.days)
    today = days[0].dates(now.date())[:1] if days else []
    date = today[0] if today else now.date()
    place = re.search(r"\b(?:at|in) (?:the )?\"?([^\d\W][^.\"]*?)\"?(?:\.| on | this | next | tomorrow)", clues.text)
    moment = dt.datetime.combine(date, first or dt.time(9))
    begins = moment - HALF_HOUR if first is not None and by_end else moment
    world.salient_event = Event(EventId(0), "standup", begins, begins + HALF_HOUR, location=place[1] if place else "")
    world.salient_date = date


def _draft(example: dict[str, Any], clues: Clues, now: dt.datetime, date: dt.date | None) -> Draft:
    said = [quote for place, quote in clues.quotes if place >= clues.tail] or [
        quote for _, quote in clues.quotes if not clues.tail
    ]
    subject = said[0] if said else _thing(clues) or _text(example.get("subject")) or "Appointment"
    times = [time for place, time in clues.times if place >= clues.tail]
    if not times and clues.tail == 0:
        times = [time for _, time in clues.times]
    start = times[0] if times else _time(example) or dt.time(10)
    length = clues.length or example.get("duration") or HALF_HOUR
    chosen = date or _date(example) or now.date()
    if len(times) == 1 and re.search(r"\b(ends|ended)\b", clues.text):
        start = (dt.datetime.combine(chosen, start) - length).time()
    if len(times) > 1:
        begin = dt.datetime.combine(chosen, start)
        finish = dt.datetime.combine(chosen, times[1])
        length = finish - begin if finish > begin else finish + _DAY - begin
    exact = example.get("start")
    if isinstance(exact, dt.datetime) and not times:
        chosen, start = exact.date(), exact.time()
    return Draft(subject, chosen, start, length, example)


def _thing(clues: Clues) -> str:
    """The subject in `The "gala" is ...` and in `the "gala" invitation`."""
    match = re.search(r'(?:^|(?:The|Your|the|of|to|for|accepted|declined) (?:event )?)"([^"]*)"', clues.text)
    if match and not re.match(r"(I |Yes, I|No, I)", clues.text):
        return match[1]
    plain = re.search(r"\. Your ([^\"]+?) (?:is|was) ", clues.text)
    return plain[1] if plain else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _time(example: dict[str, Any]) -> dt.time | None:
    time = example.get("time")
    return time if isinstance(time, dt.time) else None


def _date(example: dict[str, Any]) -> dt.date | None:
    date = example.get("date")
    return date if isinstance(date, dt.date) else None


def _events(root: Computation, draft: Draft, world: World, clues: Clues) -> list[Event]:
    """The event and as many of its like as the reply counts, those before it for an n-th one."""
    start = dt.datetime.combine(draft.date, draft.start)
    place = draft.fields.get("location")
    constraint = find_constraint(root)
    inner = set(map(id, walk(constraint))) if constraint is not None else set()
    located = any(
        isinstance(node, Call) and node.function == "Event.location" and id(node) not in inner for node in walk(root)
    )
    where = clues.place if located and clues.place else place.text if isinstance(place, LocationKeyphrase) else ""
    all_day = bool(draft.fields.get("isAllDay")) or bool(re.search(r"\ball day\.$", clues.text))
    response = draft.fields.get("responseStatus")
    event = Event(
        id=EventId(1),
        subject=draft.subject,
        start=dt.datetime.combine(draft.date, dt.time()) if all_day else start,
        end=dt.datetime.combine(draft.date, dt.time()) + _DAY if all_day else start + draft.length,
        attendees=_attendees(root, draft, world, clues),
        location=where,
        organizer=_organizer(clues, draft),
        show_as=draft.fields.get("showAs") or ShowAsStatus.BUSY,
        all_day=all_day,
        response=response.response if isinstance(response, ResponseStatus) else clues.answer or ResponseStatusType.NONE,
    )
    if "You are the organizer" in clues.text:
        event = replace(event, response=ResponseStatusType.ORGANIZER, organizer=USER)
    number = next(
        (
            node.arguments[1].value
            for node in walk(root)
            if isinstance(node, Call)
            and node.function == "FindNumNextEvent"
            and isinstance(node.arguments[1], Constant)
        ),
        1,
    )
    copies = max(clues.count or 1, number)
    return [replace(event, id=EventId(n)) for n in range(1, min(copies, 60) + 1)]


def _organizer(clues: Clues, draft: Draft) -> Recipient | None:
    match = re.search(r"^(?:Yes[.,] |No[.,] )?(.+?) is the organizer", clues.text)
    wanted = draft.fields.get("organizer")
    return Recipient(match[1]) if match else wanted if isinstance(wanted, Recipient) else None


def _attendees(root: Computation, draft: Draft, world: World, clues: Clues) -> tuple[Attendee, ...]:
    wanted = draft.fields.get("attendees") or []
    people = [_resolved(item, world) for item in wanted if isinstance(item, Recipient)]
    for node in walk(root):
        match node:
            case Call("AttendeeFromEvent", (_, who)):
                person = Graph(who, calendar_library, [world]).outcome(who)
                answered = clues.answer or ResponseStatusType.NONE
                extra = [Attendee(person, answered)] if isinstance(person, Recipient) else []
                return (*extra, *(Attendee(p) for p in people if Attendee(p) not in extra))
            case Call("allows", (constraint, _)) if not re.search(r"\bnot\b|n't|^No\b", clues.text):
                outcome = Graph(constraint, calendar_library, [world]).outcome(constraint)
                example = [] if isinstance(outcome, Failure) else outcome.example or []
                people += [_resolved(item, world) for item in example if isinstance(item, Recipient)]
            case Call("AttendeesWithResponse" | "AttendeesWithNotResponse" | "Event.attendees" as name, arguments):
                if name != "Event.attendees" or (root, node) == (root, getattr(root, "arguments", (None,))[0]):
                    return _listed(name, arguments, clues, world) or tuple(map(Attendee, people))
    return tuple(Attendee(person) for person in dict.fromkeys(people))


def _listed(name: str, arguments: Any, clues: Clues, world: World) -> tuple[Attendee, ...]:
    """Attendees as the reply lists them: after the colon, and those it regrets."""
    asked = Graph(arguments[1], calendar_library, [world]).outcome(arguments[1]) if len(arguments) > 1 else None
    counted = re.search(r"I found (one|\d+) attendee", clues.text)
    listed = re.search(r': ([^"]*?)\.(?: Unfortunately, (.*?) (?:has |have )?declined\.)?$', clues.text)
    regretted = _split(listed[2]) if listed and listed[2] else []
    names = _split(listed[1]) if listed else []
    if counted:
        names = [f"Guest {n}" for n in range(1 if counted[1] == "one" else int(counted[1]))]
    other = ResponseStatusType.ACCEPTED if asked is ResponseStatusType.NONE else ResponseStatusType.NONE
    usual = asked if name == "AttendeesWithResponse" and isinstance(asked, ResponseStatusType) else other
    found = [Attendee(Recipient(n), ResponseStatusType.DECLINED if n in regretted else usual) for n in names]
    found += [Attendee(Recipient(n), ResponseStatusType.DECLINED) for n in regretted if n not in names]
    return tuple(found)


def _split(names: str) -> list[str]:
    return [name for name in re.split(r",? and |, ", names) if name]


def _resolved(person: Recipient, world: World) -> Recipient:
    people = world.named(person.name)
    return people[0] if people else person
