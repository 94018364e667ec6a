"""A small calendar of one's own, with a rule of one's own beside the ready ones."""

from __future__ import annotations

import datetime as dt

from dialoom.dataflow import Call, Computation, Graph
from dialoom.domains.calendar import Attendee, Event, EventId, Recipient, World, calendar_library, calendar_rules
from dialoom.generation import Domain, Rules

NOW = dt.datetime(2024, 5, 14, 9, 0)
DAY = dt.timedelta(days=1)
HOUR = dt.timedelta(hours=1)

rules = Rules()
rules.include(calendar_rules)


@rules.rule("SAY", "Your day is free {DATE <day>}.")
def free_day(computation: Computation, graph: Graph) -> dict[str, Computation] | None:
    match computation:
        case Call("FindEventWrapperWithDefaults", (Call("EventOnDate", (day, Call("EmptyStructConstraint"))),)):
            return None if graph.value(computation).results else {"day": day}
    return None


def world() -> World:
    ada, bo = Recipient("Ada Brook"), Recipient("Bo Castillo")
    standup = Event(EventId(1), "stand-up", NOW + HOUR, NOW + 2 * HOUR, (Attendee(ada), Attendee(bo)), "Room 12")
    review = Event(EventId(2), "review", NOW + DAY, NOW + DAY + HOUR, (Attendee(ada),), "Harbour Cafe")
    return World(NOW, [standup, review], [ada, bo], managers={"you": ada.name})


domain = Domain(calendar_library, rules, resources=lambda: [world()])
