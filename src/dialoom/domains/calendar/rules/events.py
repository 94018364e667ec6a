"""How an event is said: its subject, its day, its times; and noun phrases for events that were asked about."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from dialoom.dataflow import Call, Computation, Constant, Graph
from dialoom.domains.calendar.facets import Facets, facets_of
from dialoom.domains.calendar.model import Event
from dialoom.domains.calendar.rules.clock import clock_words
from dialoom.domains.calendar.rules.phrases import Found, day_words, ordinal, value_of, world_of
from dialoom.generation import Rules

rules = Rules()


def event_of(node: Computation, graph: Graph) -> Event | None:
    """The event a node evaluates to, if it does."""
    event: Event | None = value_of(node, graph, Event)
    return event


def past(event: Event, graph: Graph) -> bool:
    """Whether it has begun: an event under way may be spoken of either way, see `BE`."""
    return event.start <= world_of(graph).now


# BE, and EVENT: what stands after "It's"


@rules.rule("BE", " is", weight=3)
def is_(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {} if event and event.end > world_of(graph).now else None


@rules.rule("BE", " was", weight=3)
def was(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {} if event and past(event, graph) else None


@rules.rule("ITS", "It's", weight=3)
def its(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {} if event and event.end > world_of(graph).now else None


@rules.rule("ITS", "It{BE <e>}")
def it_is(node: Computation, graph: Graph) -> Found:
    return {"e": node}


@rules.rule("EVENT", "{TITLE <e>}[ {DATE <day>}] {SPAN <e>}", weight=5)
def title_day_times(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"e": node, "day": event.start.date()} if event else None


@rules.rule("EVENT", "{TITLE <e>}", weight=0.5)
def title_alone(node: Computation, graph: Graph) -> Found:
    return {"e": node} if event_of(node, graph) else None


@rules.rule("EVENT", "[{DATE <day>} ]{SPAN <e>}", weight=2)
def day_and_times(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"e": node, "day": event.start.date()} if event else None


@rules.rule("EVENT", "{TITLE <e>} {DATE <day>}[ at {TIME <t>}]", "{DATE <day>}[ at {TIME <t>}]", weight=0.3)
def title_and_day(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"e": node, "day": event.start.date(), "t": event.start.time()} if event else None


@rules.rule("EVENT", "{TITLE <e>} at {TIME <t>}", weight=0.2)
def title_and_time(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"e": node, "t": event.start.time()} if event else None


@rules.rule("TITLE", '[a |an |the |your |]"{<subject>}"')
def title(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"subject": event.subject} if event and event.subject else None


# SPAN: from when to when


@rules.rule("SPAN", "from {<begin>} to {TIME <end>}", weight=5)
def times_short(node: Computation, graph: Graph) -> Found:
    return _span(node, graph)


@rules.rule("SPAN", "from {TIME <start>} to {TIME <end>}")
def times_long(node: Computation, graph: Graph) -> Found:
    return _span(node, graph)


@rules.rule("SPAN", "from {<month>} {<day>}, {<year>} at {TIME <start>} to {TIME <end>}", weight=0.1)
def day_and_span(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    if event is None or event.all_day:
        return None
    return {**day_words(event.start.date()), "start": event.start.time(), "end": event.end.time()}


@rules.rule("SPAN", "all day", weight=3)
def all_day(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {} if event and event.all_day else None


@rules.rule("SPAN", "from {DAY <first>} to {DAY <last>}", "from {DATE <first>} to {DATE <last>}")
def days_of_event(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    if event is None:
        return None
    last = (event.end - dt.timedelta(seconds=1)).date() if event.all_day else event.end.date()
    return {"first": event.start.date(), "last": last} if last > event.start.date() else None


@rules.rule("SPAN", "from {MOMENT <start>} to {MOMENT <end>}")
def moments_of_event(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    if event is None or event.all_day or event.end.date() == event.start.date():
        return None
    return {"start": event.start, "end": event.end}


def _span(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    if event is None or event.all_day or event.duration > dt.timedelta(days=1):
        return None
    words = clock_words(event.start.time()) or {}
    return {"begin": words["digits"], "start": event.start.time(), "end": event.end.time()}


# THING: the event that a question was about, as the subject of a sentence


@dataclass(frozen=True, slots=True)
class Asked:
    """How the question named an event: the only one, the n-th, the last, or one spoken of before."""

    kind: str
    number: int
    facets: Facets
    event: Computation


def asked(node: Computation, graph: Graph) -> Asked | None:
    """How a computation finds an event, or None if it finds none that way."""
    match node:
        case Call(
            "singleton",
            (Call("QueryEventResponse.results", (Call("FindEventWrapperWithDefaults", (constraint,)),)),),
        ):
            return Asked("only", 1, facets_of(constraint, graph), node)
        case Call("FindNumNextEvent", (constraint, number)):
            return Asked("next", value_of(number, graph, int) or 1, facets_of(constraint, graph), node)
        case Call("FindLastEvent", (constraint,)):
            return Asked("last", 1, facets_of(constraint, graph), node)
        case Call("Execute", _):
            return Asked("spoken of", 1, Facets(), node) if event_of(node, graph) else None
    return None


def _asked(node: Computation, *kinds: str) -> Asked | None:
    value = node.value if isinstance(node, Constant) else None
    return value if isinstance(value, Asked) and (not kinds or value.kind in kinds) else None


@rules.rule("THING", "The event{CONTEXT <f>}", "Your event{CONTEXT <f>}", weight=4)
def the_event(node: Computation, graph: Graph) -> Found:
    found = _asked(node, "only", "spoken of")
    return {"f": found.facets} if found else None


@rules.rule("THING", "The other event{CONTEXT <f>}", weight=2)
def the_other_event(node: Computation, graph: Graph) -> Found:
    found = _asked(node, "only")
    return {"f": found.facets} if found and found.facets.other else None


@rules.rule("THING", 'The [event ]"{<subject>}"', 'Your [event ]"{<subject>}"', weight=2)
def the_subject(node: Computation, graph: Graph) -> Found:
    found = _asked(node)
    event = event_of(found.event, graph) if found else None
    return {"subject": event.subject} if event and event.subject else None


@rules.rule("THING", "{WHICH <a>} event{CONTEXT <f>}", "{WHICH <a>}{CONTEXT <f>}", weight=3)
def the_nth_event(node: Computation, graph: Graph) -> Found:
    found = _asked(node, "next", "last")
    return {"a": node, "f": found.facets} if found else None


@rules.rule("THING", "{WHICH <a>} all-day event{CONTEXT <f>}", weight=3)
def the_nth_all_day_event(node: Computation, graph: Graph) -> Found:
    found = _asked(node, "next", "last")
    return {"a": node, "f": found.facets} if found and found.facets.all_day else None


@rules.rule("WHICH", "The next", "Your next", weight=2)
def next_event(node: Computation, graph: Graph) -> Found:
    found = _asked(node, "next")
    event = event_of(found.event, graph) if found and found.number == 1 else None
    return {} if event and event.start >= world_of(graph).now else None


@rules.rule("WHICH", "The first", "Your first")
def first_event(node: Computation, graph: Graph) -> Found:
    found = _asked(node, "next")
    return {} if found and found.number == 1 else None


@rules.rule("WHICH", "The {<nth>}", "Your {<nth>}")
def nth_event(node: Computation, graph: Graph) -> Found:
    found = _asked(node, "next")
    return {"nth": ordinal(found.number)} if found and found.number > 1 else None


@rules.rule("WHICH", "The last", "Your last")
def last_event(node: Computation, graph: Graph) -> Found:
    return {} if _asked(node, "last") else None
