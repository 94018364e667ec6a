"""A calendar made up from a seed: people, a month of events, answers, places."""

from __future__ import annotations

import datetime as dt
import random

from dialoom.domains.calendar.model import Attendee, Event, EventId, Recipient, ResponseStatusType, World

PEOPLE = (
    "Ada Brook",
    "Ben Castillo",
    "Cleo Danner",
    "Dev Ekstrom",
    "Eve Fontaine",
    "Finn Garza",
    "Gus Hale",
    "Ida Jonas",
)
PLACES = ("", "", "Room 12", "Harbour Cafe", "the north office", "Lido Park")
SUBJECTS = (
    "budget review", "design sync", "dentist", "lunch", "team meeting", "piano lesson", "swim", "board meeting",
    "planning", "book club", "interview", "yoga", "dinner", "sales call", "retrospective", "parent evening",
)  # fmt: skip
NOW = dt.datetime(2020, 3, 4, 10, 0)


def sample_world(seed: int = 0, *, now: dt.datetime = NOW, events: int = 60) -> World:
    """A world around `now`: half of its events within a week, some past; the same for the same seed."""
    chance = random.Random(seed)  # noqa: S311 (not for secrets)
    people = [Recipient(name) for name in PEOPLE]
    made = []
    for number in range(1, events + 1):
        days = chance.choice([*range(-10, 0), *range(8), *range(8), *range(8, 32)])
        minutes = chance.choice((30, 30, 30, 60, 60, 90))
        start = dt.datetime.combine(now.date(), dt.time()) + dt.timedelta(days=days, hours=chance.randrange(8, 20))
        invited = chance.sample(people, chance.choice((0, 0, 1, 1, 2, 3)))
        answers = [chance.choice((*ResponseStatusType,)[:4]) for _ in invited]
        made.append(
            Event(
                id=EventId(number),
                subject=chance.choice(SUBJECTS),
                start=start,
                end=start + dt.timedelta(minutes=minutes),
                attendees=tuple(Attendee(who, answer) for who, answer in zip(invited, answers, strict=True)),
                location=chance.choice(PLACES),
                organizer=chance.choice(invited) if invited and chance.random() < 0.3 else None,
            )
        )
    bosses = dict.fromkeys(PEOPLE[1:5], PEOPLE[0]) | {"you": PEOPLE[0], PEOPLE[5]: PEOPLE[6]}
    return World(now, sorted(made, key=lambda event: event.start), people, managers=bosses)
