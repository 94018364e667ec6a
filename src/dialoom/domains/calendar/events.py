"""Functions on events: finding them, their fields, and conditions on fields, days and times."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

from dialoom.domains.calendar.dates import shifted
from dialoom.domains.calendar.library import always, function
from dialoom.domains.calendar.model import (
    Attendee,
    Constraint,
    Event,
    EventId,
    LocationKeyphrase,
    Missing,
    NothingFound,
    Period,
    QueryEventResponse,
    Recipient,
    ResponseStatus,
    ShowAsStatus,
    World,
)

# Finding


def _found(constraint: Constraint[Event], world: World) -> list[Event]:
    return sorted((event for event in world.events if constraint.test(event)), key=lambda event: event.start)


@function("FindEventWrapperWithDefaults")
def find_events(constraint: Constraint[Event], *, world: World) -> QueryEventResponse:
    """Events that meet the condition, by start."""
    return QueryEventResponse(tuple(_found(constraint, world)))


@function("QueryEventResponse.results")
def results(obj: QueryEventResponse) -> list[Event]:
    """The events of an answer."""
    return list(obj.results)


@function("FindNumNextEvent")
def find_next(constraint: Constraint[Event], number: int, *, world: World) -> Event:
    """The n-th coming event that meets the condition; among past ones where none is coming. Raises `NothingFound`."""
    events = _found(constraint, world)
    coming = [event for event in events if event.start >= world.now] or events
    if not 1 <= number <= len(coming):
        raise NothingFound("There are not so many events.")
    return coming[number - 1]


@function("FindLastEvent")
def find_last(constraint: Constraint[Event], *, world: World) -> Event:
    """The latest past event that meets the condition; the latest at all where none is past. Raises `NothingFound`."""
    events = _found(constraint, world)
    if not events:
        raise NothingFound("Nothing was found.")
    past = [event for event in events if event.end <= world.now]
    return max(past or events, key=lambda event: event.end)


# Fields


@function("Event.subject")
def subject(obj: Event) -> str:
    """What it is called."""
    return obj.subject


@function("Event.start")
def start(obj: Event) -> dt.datetime:
    """When it begins."""
    return obj.start


@function("Event.end")
def end(obj: Event) -> dt.datetime:
    """When it ends."""
    return obj.end


@function("Event.duration")
def duration(obj: Event) -> dt.timedelta:
    """How long it is."""
    return obj.duration


@function("Event.location")
def location(obj: Event) -> LocationKeyphrase:
    """Where it is. Raises `Missing`."""
    if not obj.location:
        raise Missing("location", obj)
    return LocationKeyphrase(obj.location)


@function("Event.attendees")
def attendees(obj: Event) -> list[Attendee]:
    """Who is invited."""
    return list(obj.attendees)


@function("Event.organizer")
def organizer(obj: Event, *, world: World) -> Recipient:
    """Who made it."""
    return obj.organizer or world.user


@function("Event.id")
def event_id(obj: Event) -> EventId:
    """What tells it apart."""
    return obj.id


@function("Event.responseStatus")
def response_status(obj: Event) -> ResponseStatus:
    """What the user answered."""
    return ResponseStatus(obj.response)


@function("Event.isAllDay")
def is_all_day(obj: Event) -> bool:
    """Whether it lasts whole days."""
    return obj.all_day


@function("Event.showAs")
def show_as(obj: Event) -> ShowAsStatus:
    """How it shows on the calendar."""
    return obj.show_as


# Conditions on fields


def _field(name: str, get: Callable[[Event], Any], kind: Any) -> None:
    def constrain(obj: Any) -> Constraint[Event]:
        example = {} if obj.example is None else {name: obj.example}
        return Constraint(lambda event: obj.test(get(event)), example)

    constrain.__annotations__ = {"obj": Constraint[kind], "return": Constraint[Event]}
    constrain.__doc__ = f"Events whose {name} meets the condition."
    function(f"Event.{name}_?")(constrain)


_field("subject", lambda event: event.subject, str)
_field("start", lambda event: event.start, dt.datetime)
_field("end", lambda event: event.end, dt.datetime)
_field("duration", lambda event: event.duration, dt.timedelta)
_field("location", lambda event: LocationKeyphrase(event.location), LocationKeyphrase)
_field("attendees", lambda event: list(event.attendees), list[Attendee])
_field("organizer", lambda event: event.organizer, Recipient)
_field("id", lambda event: event.id, EventId)
_field("showAs", lambda event: event.show_as, ShowAsStatus)
_field("isAllDay", lambda event: event.all_day, bool)
_field("isOneOnOne", lambda event: event.one_on_one, bool)
_field("responseStatus", lambda event: ResponseStatus(event.response), ResponseStatus)


@function("roomRequest")
def room_request() -> Constraint[LocationKeyphrase]:
    """Any room."""
    return Constraint(always, None)


@function("LocationKeyphrase.apply")
def location_keyphrase(inner: str) -> LocationKeyphrase:
    """A place in words."""
    return LocationKeyphrase(inner)


# Conditions on days and times


def _and(event: Constraint[Event], test: Callable[[Event], bool], **example: Any) -> Constraint[Event]:
    return Constraint(lambda item: event.test(item) and test(item), {**(event.example or {}), **example})


def _overlaps(event: Event, begin: dt.datetime, finish: dt.datetime) -> bool:
    return event.start < finish and (event.end > begin or event.start >= begin)


def _days(event: Event) -> tuple[dt.date, dt.date]:
    last = event.end - dt.timedelta(microseconds=1) if event.end > event.start else event.end
    return event.start.date(), last.date()


@function("EventOnDate")
def on_date(date: dt.date, event: Constraint[Event]) -> Constraint[Event]:
    """Events that begin on a day."""
    return _and(event, lambda item: item.start.date() == date, date=date)


@function("EventDuringRange")
def during_range(event: Constraint[Event], range: Constraint[dt.date]) -> Constraint[Event]:  # noqa: A002
    """Events with a day in a range."""

    def test(item: Event) -> bool:
        first, last = _days(item)
        if range.bounds:
            return bool(first <= range.bounds[1] and last >= range.bounds[0])
        return range.test(first)

    return _and(event, test, date=range.example)


@function("EventOnDateWithTimeRange")
def on_date_with_time_range(event: Constraint[Event], timeRange: Constraint[dt.time]) -> Constraint[Event]:  # noqa: N803
    """Events that overlap a part of their day."""
    return _and(event, lambda item: _within(item, timeRange), time=timeRange.example)


@function("EventDuringRangeTime")
def during_range_time(event: Constraint[Event], timeRange: Constraint[dt.time]) -> Constraint[Event]:  # noqa: N803
    """Events that overlap a part of their day."""
    return _and(event, lambda item: _within(item, timeRange), time=timeRange.example)


def _within(item: Event, window: Constraint[dt.time]) -> bool:
    if not window.bounds:
        return window.test(item.start.time())
    first, last = window.bounds
    day = item.start.date()
    return _overlaps(item, dt.datetime.combine(day, first), dt.datetime.combine(day, last))


@function("EventOnDateTime")
def on_date_time(dateTime: dt.datetime, event: Constraint[Event]) -> Constraint[Event]:  # noqa: N803
    """Events under way at a moment."""

    def test(item: Event) -> bool:
        return item.start == dateTime or item.start <= dateTime < item.end

    return _and(event, test, date=dateTime.date(), time=dateTime.time())


@function("EventAtTime")
def at_time(event: Constraint[Event], time: dt.time) -> Constraint[Event]:
    """Events under way at a time of their day."""

    def test(item: Event) -> bool:
        moment = dt.datetime.combine(item.start.date(), time)
        return item.start == moment or item.start <= moment < item.end

    return _and(event, test, time=time)


@function("EventOnDateAfterTime")
def on_date_after_time(date: dt.date, event: Constraint[Event], time: dt.time) -> Constraint[Event]:
    """Events that begin on a day, at a time or later."""
    return _and(
        event, lambda item: item.start.date() == date and item.start.time() >= time, date=date, time=_later(time)
    )


@function("EventOnDateBeforeTime")
def on_date_before_time(date: dt.date, event: Constraint[Event], time: dt.time) -> Constraint[Event]:
    """Events that begin on a day, before a time."""
    return _and(
        event, lambda item: item.start.date() == date and item.start.time() < time, date=date, time=_earlier(time)
    )


@function("EventOnDateFromTimeToTime")
def on_date_from_to(date: dt.date, event: Constraint[Event], time1: dt.time, time2: dt.time) -> Constraint[Event]:
    """Events on a day that overlap the time between two times."""

    def test(item: Event) -> bool:
        begin, finish = dt.datetime.combine(date, time1), dt.datetime.combine(date, time2)
        return item.start.date() == date and _overlaps(item, begin, finish if finish > begin else finish + _DAY)

    return _and(event, test, date=date, time=time1)


_DAY = dt.timedelta(days=1)


@function("EventBeforeDateTime")
def before_date_time(dateTime: dt.datetime, event: Constraint[Event]) -> Constraint[Event]:  # noqa: N803
    """Events over by a moment."""
    begin = dateTime - dt.timedelta(minutes=30)
    return _and(event, lambda item: item.end <= dateTime, date=begin.date(), time=begin.time())


@function("EventAfterDateTime")
def after_date_time(event: Constraint[Event], dateTime: dt.datetime) -> Constraint[Event]:  # noqa: N803
    """Events that begin at a moment or later."""
    return _and(event, lambda item: item.start >= dateTime, date=dateTime.date(), time=dateTime.time())


@function("EventDuringRangeDateTime")
def during_range_date_time(event: Constraint[Event], range: Constraint[dt.datetime]) -> Constraint[Event]:  # noqa: A002
    """Events that overlap a range of moments."""

    def test(item: Event) -> bool:
        return _overlaps(item, *range.bounds) if range.bounds else range.test(item.start)

    moment = range.example
    return _and(event, test, **({"date": moment.date(), "time": moment.time()} if moment else {}))


@function("EventBetweenEvents")
def between_events(event: Constraint[Event], event1: Event, event2: Event) -> Constraint[Event]:
    """Events after one and before another."""
    moment = event1.end
    return _and(
        event,
        lambda item: item.start >= event1.end and item.end <= event2.start,
        date=moment.date(),
        time=moment.time(),
    )


@function("EventSometimeOnDate")
def sometime_on_date(date: dt.date, event: Constraint[Event]) -> Constraint[Event]:
    """Events that begin on a day."""
    return on_date(date, event)


@function("EventAllDayOnDate")
def all_day_on_date(event: Constraint[Event], date: dt.date) -> Constraint[Event]:
    """Events that take a whole day."""
    return _and(event, lambda item: item.all_day and item.start.date() == date, date=date, isAllDay=True)


@function("EventAllDayForDateRange")
def all_day_for_range(event: Constraint[Event], dateRange: Constraint[dt.date]) -> Constraint[Event]:  # noqa: N803
    """Events that take whole days, beginning in a range."""
    return _and(
        event,
        lambda item: item.all_day and dateRange.test(item.start.date()),
        date=dateRange.example,
        isAllDay=True,
    )


@function("EventAllDayStartingDateForPeriod")
def all_day_for_period(event: Constraint[Event], startDate: dt.date, period: Period) -> Constraint[Event]:  # noqa: N803
    """Events that take whole days from a date for a period."""
    last = shifted(startDate, period)
    return _and(
        event, lambda item: item.all_day and startDate <= item.start.date() < last, date=startDate, isAllDay=True
    )


@function("DateTimeAndConstraintBetweenEvents")
def between_two(event1: Event, event2: Event) -> Constraint[dt.datetime]:
    """From the end of one event to the beginning of another."""
    bounds = (event1.end, event2.start)
    return Constraint(lambda moment: bounds[0] <= moment <= bounds[1], event1.end, bounds)


@function("TimeSinceEvent")
def time_since(event: Event, *, world: World) -> dt.timedelta:
    """How long ago an event ended."""
    return world.now - event.end


@function("EventForRestOfToday")
def for_rest_of_today(event: Constraint[Event], *, world: World) -> Constraint[Event]:
    """Events that begin today, from now on."""
    return _and(
        event,
        lambda item: item.start.date() == world.today and item.start >= world.now,
        date=world.today,
        time=world.now.time(),
    )


def _later(time: dt.time) -> dt.time:
    return time if time.hour >= 23 else time.replace(hour=time.hour + 1)


def _earlier(time: dt.time) -> dt.time:
    return time if time.hour < 1 else time.replace(hour=time.hour - 1)
