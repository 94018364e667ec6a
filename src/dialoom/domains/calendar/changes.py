"""Functions that change the calendar. A change is prepared, waits for a yes, and is carried out once it comes."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any, TypeVar

from dialoom.domains.calendar.library import always, function
from dialoom.domains.calendar.model import (
    Attendee,
    Change,
    Constraint,
    Event,
    EventId,
    Intension,
    LocationKeyphrase,
    NothingFound,
    Recipient,
    World,
)

T = TypeVar("T")
_HALF_HOUR = dt.timedelta(minutes=30)


@function("CreatePreflightEventWrapper")
def prepare_creation(constraint: Constraint[Event], *, world: World) -> Change:
    """A new event that meets the constraint; what it leaves open is filled: half an hour, tomorrow at nine."""
    wish: dict[str, Any] = constraint.example or {}
    day = wish.get("date") or world.today + dt.timedelta(days=1)
    start = wish.get("start") or dt.datetime.combine(day, wish.get("time") or dt.time(9))
    number = 1 + max((event.id.number for event in world.events), default=0)
    blank = Event(EventId(number), "New event", start, start + _HALF_HOUR)
    return Change("create", None, _with(blank, wish))


@function("UpdatePreflightEventWrapper")
def prepare_update(id: EventId, update: Constraint[Event], *, world: World) -> Change:  # noqa: A002
    """An event changed so that it meets the constraint. Raises `NothingFound`."""
    before = _event(id, world)
    return Change("update", before, _with(before, update.example or {}))


@function("DeletePreflightEventWrapper")
def prepare_deletion(id: EventId, *, world: World) -> Change:  # noqa: A002
    """The removal of an event. Raises `NothingFound`."""
    return Change("delete", _event(id, world), None)


def _propose(event: Change, world: World) -> Change:
    world.pending = event
    return event


@function("CreateCommitEventWrapper")
def create(event: Change, *, world: World) -> Change:
    """Asks for a yes before it creates."""
    return _propose(event, world)


@function("UpdateCommitEventWrapper")
def update(event: Change, *, world: World) -> Change:
    """Asks for a yes before it updates."""
    return _propose(event, world)


@function("DeleteCommitEventWrapper")
def delete(event: Change, *, world: World) -> Change:
    """Asks for a yes before it deletes."""
    return _propose(event, world)


@function("ConfirmAndReturnAction")
def confirm() -> Intension[T]:
    """A yes to the change that waits."""
    return Intension(Constraint(always), confirms=True)


def _event(number: EventId, world: World) -> Event:
    for event in world.events:
        if event.id == number:
            return event
    raise NothingFound("There is no such event.")


def _with(event: Event, wish: dict[str, Any]) -> Event:
    """The event with the fields that a wish names. Moving its start moves its end."""
    length = wish.get("duration") or event.duration
    start = wish.get("start")
    if start is None and ("date" in wish or "time" in wish):
        day, time = wish.get("date") or event.start.date(), wish.get("time") or event.start.time()
        start = dt.datetime.combine(day, time)
    start = start or event.start
    end = wish.get("end") or start + length
    invited = tuple(Attendee(person) for person in wish.get("attendees") or [] if isinstance(person, Recipient))
    place = wish.get("location")
    return replace(
        event,
        subject=wish.get("subject") or event.subject,
        start=start,
        end=end if end > start else start + length,
        attendees=(*event.attendees, *invited),
        location=place.text if isinstance(place, LocationKeyphrase) else event.location,
        show_as=wish.get("showAs") or event.show_as,
    )
