"""What a calendar holds: events, people, places, and the world a computation runs in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from dialoom.errors import CallError

T = TypeVar("T")


class CalendarError(CallError):
    """An outcome that people should hear about: nothing found, nobody by that name. Rules describe each kind."""


class NothingFound(CalendarError):
    """No event satisfies the constraint."""


class TooMany(CalendarError):
    """More than one event where one was meant."""


class PersonNotFound(CalendarError):
    """Nobody in the directory has this name; `name` is what was looked for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"Nobody is named {name}.")
        self.name = name


class SeveralPeople(CalendarError):
    """Several people fit; `count` is how many."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} people fit.")
        self.count = count


class NoManager(CalendarError):
    """The directory knows no manager of this person."""


class NotInvited(CalendarError):
    """This person is not among the attendees."""


class Missing(CalendarError):
    """An event without what was asked for: `field` names it, `event` is the event."""

    def __init__(self, field_name: str, event: Event) -> None:
        super().__init__(f"The event has no {field_name}.")
        self.field = field_name
        self.event = event


class NothingPending(CalendarError):
    """A yes, and no change that waits for one."""


class NoReferent(CalendarError):
    """Nothing of this kind was spoken of before."""


@dataclass(frozen=True, slots=True)
class Constraint(Generic[T]):
    """A condition on values, with an `example` that satisfies it (for an event: the fields that matter).

    `bounds` are the first and last value of a range, inclusive, where it is one.
    """

    test: Callable[[Any], bool]
    example: Any = None
    bounds: tuple[Any, Any] | None = None


class DayOfWeek(StrEnum):
    """Monday is the first, as in `datetime`."""

    MONDAY = "Monday"
    TUESDAY = "Tuesday"
    WEDNESDAY = "Wednesday"
    THURSDAY = "Thursday"
    FRIDAY = "Friday"
    SATURDAY = "Saturday"
    SUNDAY = "Sunday"

    @property
    def number(self) -> int:
        """0 for Monday."""
        return list(DayOfWeek).index(self)


@dataclass(frozen=True, slots=True)
class Month:
    """1 to 12; `year` where the month is one in particular."""

    number: int
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Year:
    """A year of the Gregorian calendar."""

    number: int


@dataclass(frozen=True, slots=True)
class Period:
    """A span in calendar units."""

    years: int = 0
    months: int = 0
    weeks: int = 0
    days: int = 0


@dataclass(frozen=True, slots=True)
class PeriodDuration:
    """A span that may be shorter than a day."""

    duration: dt.timedelta = dt.timedelta()
    period: Period = field(default_factory=Period)


class Holiday(StrEnum):
    """Holidays by the names that programs use."""

    APRIL_FOOLS = "AprilFoolsDay"
    BLACK_FRIDAY = "BlackFriday"
    CHRISTMAS = "Christmas"
    CHRISTMAS_EVE = "ChristmasEve"
    COLUMBUS = "ColumbusDay"
    EARTH_DAY = "EarthDay"
    EASTER = "Easter"
    EASTER_MONDAY = "EasterMonday"
    ELECTION = "ElectionDay"
    FATHERS = "FathersDay"
    GOOD_FRIDAY = "GoodFriday"
    GROUNDHOG = "GroundhogDay"
    HALLOWEEN = "Halloween"
    INDEPENDENCE = "IndependenceDay"
    LABOR = "LaborDay"
    MARDI_GRAS = "MardiGras"
    MLK = "MLKDay"
    MEMORIAL = "MemorialDay"
    MOTHERS = "MothersDay"
    NEW_YEARS = "NewYearsDay"
    NEW_YEARS_EVE = "NewYearsEve"
    PATRIOT = "PatriotDay"
    PRESIDENTS = "PresidentsDay"
    ST_PATRICKS = "StPatricksDay"
    TAX_DAY = "TaxDay"
    THANKSGIVING = "Thanksgiving"
    VALENTINES = "ValentinesDay"
    VETERANS = "VeteransDay"
    FLAG_DAY = "FlagDay"
    PALM_SUNDAY = "PalmSunday"
    ASH_WEDNESDAY = "AshWednesday"
    BOXING_DAY = "BoxingDay"
    KWANZAA = "Kwanzaa"
    CINCO_DE_MAYO = "CincoDeMayo"


class ResponseStatusType(StrEnum):
    """What an attendee answered."""

    ACCEPTED = "Accepted"
    DECLINED = "Declined"
    TENTATIVE = "TentativelyAccepted"
    NONE = "None"
    NOT_RESPONDED = "NotResponded"
    ORGANIZER = "Organizer"


class ShowAsStatus(StrEnum):
    """How an event shows on its owner's calendar."""

    BUSY = "Busy"
    FREE = "Free"
    OUT_OF_OFFICE = "OutOfOffice"
    TENTATIVE = "Tentative"
    WORKING_ELSEWHERE = "WorkingElsewhere"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class ResponseStatus:
    """An answer to an invitation."""

    response: ResponseStatusType


@dataclass(frozen=True, slots=True)
class Person:
    """Someone in the directory."""

    name: str


@dataclass(frozen=True, slots=True)
class PersonName:
    """A name as someone says it."""

    name: str


@dataclass(frozen=True, slots=True)
class Recipient:
    """Someone who can be invited."""

    name: str


@dataclass(frozen=True, slots=True)
class Attendee:
    """Someone invited and what they answered."""

    recipient: Recipient
    response: ResponseStatusType = ResponseStatusType.NONE


@dataclass(frozen=True, slots=True)
class LocationKeyphrase:
    """A place in words."""

    text: str


@dataclass(frozen=True, slots=True)
class EventId:
    """What tells events apart."""

    number: int


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a calendar; times are local."""

    id: EventId
    subject: str
    start: dt.datetime
    end: dt.datetime
    attendees: tuple[Attendee, ...] = ()
    location: str = ""
    organizer: Recipient | None = None
    show_as: ShowAsStatus = ShowAsStatus.BUSY
    all_day: bool = False
    response: ResponseStatusType = ResponseStatusType.ORGANIZER

    @property
    def duration(self) -> dt.timedelta:
        """From start to end."""
        return self.end - self.start

    @property
    def one_on_one(self) -> bool:
        """Whether it is with exactly one other person."""
        return len(self.attendees) == 1


@dataclass(frozen=True, slots=True)
class QueryEventResponse:
    """Events found, by start."""

    results: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """Something to be done to the calendar: `kind` is create, update or delete. `done` once it was confirmed.

    `before` is the event as it was (None for a new one), `after` as it will be (None for one to delete).
    """

    kind: str
    before: Event | None
    after: Event | None
    done: bool = False


@dataclass(frozen=True, slots=True)
class Intension(Generic[T]):
    """What `refer` stands for: something that satisfies a constraint, found when it is executed.

    With `confirms`, executing it carries out the change that waits for a yes.
    """

    constraint: Constraint[Any]
    confirms: bool = False


@dataclass(slots=True)
class World:
    """Where a computation runs: the time, the calendar, the people, and what was spoken of last."""

    now: dt.datetime
    events: list[Event] = field(default_factory=list)
    people: list[Recipient] = field(default_factory=list)
    user: Recipient = field(default_factory=lambda: Recipient("you"))
    managers: Mapping[str, str] = field(default_factory=dict)
    salient_event: Event | None = None
    salient_date: dt.date | None = None
    salient_person: Recipient | None = None
    pending: Change | None = None

    def confirm(self) -> Change:
        """Carries out the change that waits. Raises `NothingPending`."""
        if self.pending is None:
            raise NothingPending("There is nothing to confirm.")
        change, self.pending = replace(self.pending, done=True), None
        gone = change.before.id if change.before else None
        self.events = [event for event in self.events if event.id != gone]
        if change.after:
            self.events.append(change.after)
            self.salient_event = change.after
        return change

    @property
    def today(self) -> dt.date:
        """The day of `now`."""
        return self.now.date()

    def named(self, name: str) -> list[Recipient]:
        """People whose name holds every word of `name`."""
        words = name.casefold().split()
        return [person for person in self.people if all(word in person.name.casefold().split() for word in words)]

    def manager(self, person: Recipient) -> Recipient:
        """Raises `NoManager` where the directory knows none."""
        if person.name not in self.managers:
            raise NoManager(f"The manager of {person.name} is not known.")
        return Recipient(self.managers[person.name])

    def team(self, person: Recipient) -> list[Recipient]:
        """People with the same manager, without the person."""
        manager = self.managers.get(person.name)
        names = [name for name, boss in self.managers.items() if boss == manager and name != person.name]
        return [Recipient(name) for name in names]
