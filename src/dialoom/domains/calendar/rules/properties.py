"""Sentences about one property of an event: when, where, how long, which year, whether it is over."""

from __future__ import annotations

import datetime as dt

from dialoom.dataflow import Call, Computation, Graph
from dialoom.domains.calendar.model import Event, LocationKeyphrase, Year
from dialoom.domains.calendar.rules.events import asked, event_of
from dialoom.domains.calendar.rules.phrases import Found, value_of, world_of
from dialoom.generation import Rules

rules = Rules()


def _property(node: Computation, graph: Graph, name: str) -> dict[str, object] | None:
    """The event whose property is asked for, and how it was asked for."""
    match node:
        case Call(function, (event,)) if function == name:
            found = asked(event, graph)
            return {"a": found, "e": event} if found and event_of(event, graph) else None
    return None


# When


@rules.rule("SAY", "{THING <a>}{BE <e>} {AT <m>}.", weight=4)
def starts_at(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.start")
    return {**found, "m": node} if found else None


@rules.rule("SAY", "It {STARTS <e>} {AT <m>}.", "{THING <a>} {STARTS <e>} {AT <m>}.", weight=2)
def it_starts_at(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.start")
    return {**found, "m": node} if found else None


@rules.rule("SAY", "That{BE <e>} {AT <m>}.", "{AT <m>}[.]", "{ITS <e>} {AT <m>}.", weight=0.3)
def that_is_at(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.start") or _property(node, graph, "Event.end")
    return {**found, "m": node} if found else None


@rules.rule(
    "SAY", "{THING <a>} {ENDS <e>} {AT <m>}.", "It {ENDS <e>} {AT <m>}.", "{THING <a>}{BE <e>} {AT <m>}.", weight=4
)
def ends_at(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.end")
    return {**found, "m": node} if found else None


@rules.rule("SAY", "{THING <a>}{BE <e>} all day.", "{ITS <e>} all day.", weight=2)
def lasts_all_day(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.start") or _property(node, graph, "Event.end")
    found = found or _property(node, graph, "Event.duration")
    event = event_of(node.arguments[0], graph) if found and isinstance(node, Call) else None
    return found if event and event.all_day else None


@rules.rule("STARTS", "starts")
def starts(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {} if event and event.start >= world_of(graph).now else None


@rules.rule("STARTS", "started")
def started(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {} if event and event.start <= world_of(graph).now else None


@rules.rule("ENDS", "ends")
def ends(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {} if event and event.end >= world_of(graph).now else None


@rules.rule("ENDS", "ended")
def ended(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {} if event and event.end <= world_of(graph).now else None


@rules.rule("AT", "{DATE <day>} at {TIME <time>}", weight=4)
def on_day_at_time(node: Computation, graph: Graph) -> Found:
    return _moment(node, graph)


@rules.rule("AT", "at {TIME <time>}", weight=2)
def only_at_time(node: Computation, graph: Graph) -> Found:
    return _moment(node, graph)


@rules.rule("AT", "at {TIME <time>} {DATE <day>}", "{DATE <day>}", weight=0.3)
def time_before_day(node: Computation, graph: Graph) -> Found:
    return _moment(node, graph)


def _moment(node: Computation, graph: Graph) -> Found:
    moment = value_of(node, graph, dt.datetime)
    return {"day": moment.date(), "time": moment.time()} if moment else None


# How long


@rules.rule("SAY", "{THING <a>}{BE <e>} [for ]{LENGTH <l>}[ long].", weight=4)
def lasts(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.duration")
    return {**found, "l": node} if found else None


@rules.rule("SAY", "{ITS <e>} [for ]{LENGTH <l>}[ long].", "It lasts {LENGTH <l>}.", "{THING <a>} lasts {LENGTH <l>}.")
def it_lasts(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.duration")
    return {**found, "l": node} if found else None


# Where


@rules.rule("SAY", "{THING <a>}{BE <e>} [located ]at [the ]{PLACENAME <l>}.", weight=4)
def is_at(node: Computation, graph: Graph) -> Found:
    return _place(node, graph)


@rules.rule(
    "SAY", "{THING <a>}{BE <e>} [located ]in [the ]{PLACENAME <l>}.", "{THING <a>}{BE <e>} located {PLACENAME <l>}."
)
def is_in(node: Computation, graph: Graph) -> Found:
    return _place(node, graph)


@rules.rule("SAY", "{THING <a>}{BE <e>} a {PLACENAME <l>}.", weight=0.2)
def is_a_place(node: Computation, graph: Graph) -> Found:
    return _place(node, graph)


@rules.rule("SAY", "{ITS <e>} [located ]at [the ]{PLACENAME <l>}.", "{ITS <e>} [located ]in [the ]{PLACENAME <l>}.")
def it_is_at(node: Computation, graph: Graph) -> Found:
    return _place(node, graph)


def _place(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.location")
    return {**found, "l": node} if found and value_of(node, graph, LocationKeyphrase) else None


# Which year


@rules.rule("SAY", "{THING <a>} {STARTS <e>} in {<year>}.", weight=4)
def starts_in_year(node: Computation, graph: Graph) -> Found:
    return _year(node, graph, "Event.start")


@rules.rule("SAY", "{THING <a>} {ENDS <e>} in {<year>}.", weight=4)
def ends_in_year(node: Computation, graph: Graph) -> Found:
    return _year(node, graph, "Event.end")


@rules.rule("SAY", "{THING <a>}{BE <e>} in {<year>}.")
def is_in_year(node: Computation, graph: Graph) -> Found:
    return _year(node, graph, "Event.start")


def _year(node: Computation, graph: Graph, edge: str) -> Found:
    match node:
        case Call("Date.year", (Call("DateTime.date", (moment,)),)):
            found, year = _property(moment, graph, edge), value_of(node, graph, Year)
            return {**found, "year": year.number} if found and year else None
    return None


@rules.rule(
    "SAY",
    "{VERDICT <yes>}it's in {<year>}.",
    "{VERDICT <yes>}It's in {<year>}.",
    "{VERDICT <yes>}{SAY <asked>}",
    weight=2,
)
def whether_in_year(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("==", (Call("Date.year", _) as asked_for, _)) if value_of(node, graph, bool) is not None:
            found = _year(asked_for, graph, "Event.start") or _year(asked_for, graph, "Event.end")
            return {"yes": node, "year": found["year"], "asked": asked_for} if found else None
    return None


# Whether it is over, and whether it is that day


@rules.rule("SAY", "{VERDICT <yes>}{THING <a>}{BE <e>} {AT <m>}.", weight=4)
def whether_before(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("<" | ">" | "==" | "<=" | ">=", (Call("Event.start" | "Event.end", _) as moment, _)):
            found = _property(moment, graph, moment.function)
            return {**found, "yes": node, "m": moment} if found else None
        case Call("==" | "<" | ">", (Call(_, (Call("DateTime.date" | "DateTime.time", (Call() as moment,)),)), _)):
            found = _property(moment, graph, moment.function)
            return {**found, "yes": node, "m": moment} if found else None
    return None


# What it is called


@rules.rule("SAY", '{ITS <e>} [called ]"{<subject>}".', '"{<subject>}".', 'The event is called "{<subject>}".')
def is_called(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("Event.subject" | "Event.id", (event,)):
            value = event_of(event, graph)
            return {"e": event, "subject": value.subject} if value else None
    return None


@rules.rule("SAY", '{THING <a>}{BE <e>} called "{<subject>}".', '{THING <a>}{BE <e>} "{<subject>}".', weight=2)
def thing_is_called(node: Computation, graph: Graph) -> Found:
    found = _property(node, graph, "Event.subject")
    return {**found, "subject": node} if found else None


@rules.rule("SAY", "{SAY <event>}")
def id_as_event(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("Event.id", (event,)) if value_of(event, graph, Event):
            return {"event": event}
    return None
