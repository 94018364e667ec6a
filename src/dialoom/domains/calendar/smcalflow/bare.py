"""A world with people and without a calendar: where a program is looked at before its events are proposed."""

from __future__ import annotations

import datetime as dt

from dialoom.dataflow import Computation
from dialoom.domains.calendar.model import Event, EventId, Recipient, World
from dialoom.domains.calendar.smcalflow.cast import names_of

USER = Recipient("you")
HALF_HOUR = dt.timedelta(minutes=30)


def bare_world(root: Computation, now: dt.datetime) -> World:
    """The people whom the program names, and something to refer back to."""
    names = [node.value for node in names_of(root)]
    return World(
        now,
        people=[Recipient(name) for name in dict.fromkeys(names)],
        managers=_AnyManager("Your Manager"),
        user=USER,
        salient_event=_salient(now),
        salient_date=now.date(),
        salient_person=Recipient(names[0]) if names else Recipient("Ann Lee"),
    )


class _AnyManager(dict[str, str]):
    """Everybody has this manager."""

    def __init__(self, name: str) -> None:
        super().__init__({"you": name})
        self.name = name

    def __missing__(self, key: str) -> str:
        return self.name

    def __contains__(self, key: object) -> bool:
        return True


def _salient(now: dt.datetime) -> Event:
    start = dt.datetime.combine(now.date(), dt.time(9))
    return Event(EventId(0), "standup", start, start + HALF_HOUR)
