"""Computations about a made-up calendar: one of each kind of question, over its own subjects and people."""

from __future__ import annotations

import random
from collections.abc import Iterator

from dialoom.domains.calendar.model import World

ANY = "(^(Event) EmptyStructConstraint)"
_DAYS = (
    "(Today)", "(Tomorrow)", "(NextDOW (Friday))", "(NextDOW (Monday))", "(MD 13L (March))", "(Yesterday)",
    "(nextDayOfMonth (Today) 20L)", "(adjustByPeriod (Today) (toWeeks 1))",
)  # fmt: skip
_RANGES = ("(ThisWeek)", "(NextWeekList)", "(FullMonthofMonth (March))", "(ThisWeekend)", "(NextPeriod (toDays 10))")
_PARTS = ("(Morning)", "(Afternoon)", "(Evening)")


def questions(world: World, n: int, seed: int = 0) -> Iterator[str]:
    """`n` programs in Lispress; the same for the same world and seed."""
    chance = random.Random(seed)  # noqa: S311 (not for secrets)
    for _ in range(n):
        constraint = _constraint(chance, world)
        found = f"(QueryEventResponse.results (FindEventWrapperWithDefaults {constraint}))"
        number = chance.choice((1, 1, 2, 3))
        yield f"(Yield {chance.choice(_shapes(constraint, found, number))})"


def _shapes(constraint: str, found: str, number: int) -> list[str]:
    nth = f"(FindNumNextEvent {constraint} {number}L)"
    one = f"(singleton {found})"
    return [
        f"(FindEventWrapperWithDefaults {constraint})",
        f"(> (size {found}) 0L)",
        f"(size {found})",
        nth,
        f"(FindLastEvent {constraint})",
        f"(Event.start {nth})",
        f"(Event.start {one})",
        f"(Event.end {nth})",
        f"(Event.duration {nth})",
        f"(Event.location {nth})",
        f"(Event.organizer {nth})",
        f"(Event.attendees {nth})",
        f"(AttendeesWithResponse (Event.attendees {nth}) (ResponseStatusType.Accepted))",
        f"(< (Event.start {nth}) (Now))",
    ]


def _constraint(chance: random.Random, world: World) -> str:
    event = chance.choice(world.events)
    first = chance.choice(world.people).name.split()[0]
    inner = chance.choice(
        (
            ANY,
            ANY,
            f'(Event.subject_? (?~= "{event.subject}"))',
            "(Event.attendees_? (AttendeeListHasRecipientConstraint "
            f'(RecipientWithNameLike (^(Recipient) EmptyStructConstraint) (PersonName.apply "{first}"))))',
        )
    )
    day = chance.choice(_DAYS)
    return chance.choice(
        (
            inner,
            f"(EventOnDate {day} {inner})",
            f"(EventDuringRange {inner} {chance.choice(_RANGES)})",
            f"(EventOnDateWithTimeRange (EventOnDate {day} {inner}) {chance.choice(_PARTS)})",
            f"(EventOnDateAfterTime {day} {inner} (NumberPM {chance.randint(1, 5)}L))",
            f"(EventOnDateBeforeTime {day} {inner} (NumberAM {chance.randint(8, 11)}L))",
        )
    )
