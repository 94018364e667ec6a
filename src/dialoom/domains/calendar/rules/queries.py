"""Sentences about searches: what was found, how many, whether any; and the negative ones."""

from __future__ import annotations

import datetime as dt

from dialoom.dataflow import Call, Computation, Constant, Failure, Graph
from dialoom.domains.calendar.facets import Facets, facets_of, find_constraint
from dialoom.domains.calendar.model import NothingFound, QueryEventResponse
from dialoom.domains.calendar.rules.events import asked, event_of
from dialoom.domains.calendar.rules.phrases import Found, value_of, world_of
from dialoom.generation import Rules

rules = Rules()


@rules.rule("S", "{SAY <output>}")
def say_output(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("Yield", (output,)):
            return {"output": output}
    return None


@rules.rule("S", "{S <first>} {S <last>}")
def say_both(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("do", (Call("Yield" | "do") as first, last)):
            return {"first": first, "last": last}
    return None


@rules.rule("S", "{S <last>}")
def say_last(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("do", (_, last)):
            return {"last": last}
    return None


# Lists


@rules.rule("SAY", "{FOUND <search>}", weight=4)
def list_events(node: Computation, graph: Graph) -> Found:
    return {"search": node} if value_of(node, graph, QueryEventResponse) else None


@rules.rule("SAY", "Here's what I found:", weight=0.2)
def list_without_words(node: Computation, graph: Graph) -> Found:
    found = value_of(node, graph, QueryEventResponse)
    return {} if found and found.results else None


@rules.rule("SAY", "Here's your agenda for {DAY <day>}:", weight=0.2)
def agenda(node: Computation, graph: Graph) -> Found:
    found = value_of(node, graph, QueryEventResponse)
    facets = _facets(node, graph)
    if not found or not found.results or not facets or not facets.days:
        return None
    return {"day": facets.days[0]}


@rules.rule("FOUND", "I found {COUNT <n>} {EVENTS <search>}{CONTEXT <f>}.", weight=2)
def found_events(node: Computation, graph: Graph) -> Found:
    return _search(node, graph)


@rules.rule("FOUND", "I found {COUNT <n>}{CONTEXT <f>}.", weight=0.3)
def found_some(node: Computation, graph: Graph) -> Found:
    return _search(node, graph, least=1)


@rules.rule("FOUND", "I found {COUNT <n>} {EVENTS <search>}{CONTEXT <f>}. {ITS <e>} {EVENT <e>}.", weight=4)
def found_one_event(node: Computation, graph: Graph) -> Found:
    found = _search(node, graph, least=1)
    return {**found, "e": _first(node, graph)} if found and found["n"] == 1 else None


@rules.rule("FOUND", "I found {COUNT <n>} {EVENTS <search>} {DATE <day>}. {ITS <e>} {EVENT <e>}.", weight=0.5)
def found_one_on_its_day(node: Computation, graph: Graph) -> Found:
    found = _search(node, graph, least=1)
    first = _first(node, graph) if found and found["n"] == 1 else None
    event = event_of(first, graph) if first is not None else None
    return {**found, "e": first, "day": event.start.date()} if found and event else None


@rules.rule("FOUND", "I found {COUNT <n>}{CONTEXT <f>}. {ITS <e>} {EVENT <e>}.", weight=0.3)
def found_one(node: Computation, graph: Graph) -> Found:
    found = _search(node, graph, least=1)
    return {**found, "e": _first(node, graph)} if found and found["n"] == 1 else None


@rules.rule("FOUND", "I found {COUNT <n>} {EVENTS <search>}{CONTEXT <f>}. The first{BE <e>} {EVENT <e>}.", weight=2)
def found_several_events(node: Computation, graph: Graph) -> Found:
    found = _search(node, graph, least=2)
    return {**found, "e": _first(node, graph)} if found else None


@rules.rule(
    "FOUND",
    'You have {COUNT <n>} {EVENTS <search>}{CONTEXT <f>}. Your "{<subject>}"{BE <e>} {DATE <day>} {SPAN <e>}.',
    'You have {COUNT <n>} {EVENTS <search>}{CONTEXT <f>}. Your "{<subject>}" {DATE <day>} {SPAN <e>}.',
    'You have {COUNT <n>} {EVENTS <search>}{CONTEXT <f>}. Your "{<subject>}"[{BE <e>}] {SPAN <e>}.',
    "You have {COUNT <n>} {EVENTS <search>}{CONTEXT <f>}. Your {<subject>}{BE <e>}[ {DATE <day>}] {SPAN <e>}.",
)
def you_have_and_when(node: Computation, graph: Graph) -> Found:
    found = _search(node, graph, least=1)
    first = _first(node, graph) if found else None
    event = event_of(first, graph) if first is not None else None
    if not found or not event:
        return None
    return {**found, "e": first, "subject": event.subject, "day": event.start.date()}


@rules.rule("EVENTS", "{plural <n> event|events}", weight=3)
def events_noun(node: Computation, graph: Graph) -> Found:
    found = value_of(node, graph, QueryEventResponse)
    return {"n": len(found.results)} if found else None


@rules.rule("EVENTS", "matching {plural <n> event|events}")
def matching_events(node: Computation, graph: Graph) -> Found:
    found = value_of(node, graph, QueryEventResponse)
    return {"n": len(found.results)} if found else None


@rules.rule("EVENTS", "other {plural <n> event|events}", weight=3)
def other_events(node: Computation, graph: Graph) -> Found:
    found, facets = value_of(node, graph, QueryEventResponse), _facets(node, graph)
    return {"n": len(found.results)} if found and facets and facets.other else None


# Whether and how many


@rules.rule("SAY", "{VERDICT <yes>}{FOUND <search>}", "{VERDICT <yes>}{NONE <f>}", weight=4)
def whether(node: Computation, graph: Graph) -> Found:
    search = _counted(node)
    answer = value_of(node, graph, bool)
    facets = _facets(search, graph) if search is not None else None
    return {"yes": node, "search": search, "f": facets} if search is not None and answer is not None else None


@rules.rule("SAY", "{FOUND <search>}", "{NONE <f>}")
def whether_by_what(node: Computation, graph: Graph) -> Found:
    search = _counted(node)
    return {"search": search, "f": _facets(search, graph)} if search is not None else None


@rules.rule("VERDICT", "Yes[,|.] ")
def yes(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, bool) is True else None


@rules.rule("VERDICT", "No[,|.] ")
def no(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, bool) is False else None


@rules.rule("SAY", "{FOUND <search>}", weight=4)
def how_many(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("size", (Call("QueryEventResponse.results", (search,)),)):
            return {"search": search}
    return None


# Nothing found


@rules.rule("FOUND", "{NONE <f>}", weight=4)
def found_nothing(node: Computation, graph: Graph) -> Found:
    found = value_of(node, graph, QueryEventResponse)
    return {"f": _facets(node, graph)} if found and not found.results else None


@rules.rule("SAY", "[No[,|.] ]{NONE <f>}", weight=4)
def nothing_to_speak_of(node: Computation, graph: Graph) -> Found:
    outcome = graph.outcome(node)
    if not isinstance(outcome, Failure) or not isinstance(outcome.error, NothingFound):
        return None
    return {"f": _facets(outcome.node, graph) or _facets(node, graph)}


@rules.rule("NONE", "I didn't find any [matching ]events{CONTEXT <f>}.", weight=4)
def no_events(node: Computation, graph: Graph) -> Found:
    return {"f": node} if _empty(node, graph) else None


@rules.rule("NONE", "I found no [matching ]events{CONTEXT <f>}.")
def found_no_events(node: Computation, graph: Graph) -> Found:
    return {"f": node} if _empty(node, graph) else None


@rules.rule("NONE", "I didn't find any other events{CONTEXT <f>}.", weight=4)
def no_other_events(node: Computation, graph: Graph) -> Found:
    facets = node.value if isinstance(node, Constant) else None
    return {"f": node} if isinstance(facets, Facets) and facets.other and _empty(node, graph) else None


def _all(node: Computation, graph: Graph) -> QueryEventResponse | None:
    """Every event that meets the constraint of some facets, so that NONE never speaks of a search that found some."""
    facets = node.value if isinstance(node, Constant) else None
    if not isinstance(facets, Facets) or facets.constraint is None:
        return None
    found = graph.outcome(graph.call("FindEventWrapperWithDefaults", facets.constraint))
    return found if isinstance(found, QueryEventResponse) else None


def _empty(node: Computation, graph: Graph) -> bool:
    found = _all(node, graph)
    return found is not None and not found.results


@rules.rule("NONE", "There {plural <n> is|are} only {<n>} {plural <n> event|events}{CONTEXT <f>}.")
def not_so_many(node: Computation, graph: Graph) -> Found:
    found = _all(node, graph)
    return {"f": node, "n": len(found.results)} if found and found.results and _counting(graph) else None


def _counting(graph: Graph) -> bool:
    """Whether the root failed because there are fewer events than were counted on."""
    outcome = graph.outcome(graph.root)
    return isinstance(outcome, Failure) and isinstance(outcome.error, NothingFound)


# Nothing at all means nothing from now on: a weaker claim, and true as well


@rules.rule(
    "NONE", "I didn't find any events{CONTEXT <f>}{FROM_NOW <f>}.", "I found no events{CONTEXT <f>}{FROM_NOW <f>}."
)
def no_events_from_now(node: Computation, graph: Graph) -> Found:
    facets = node.value if isinstance(node, Constant) else None
    whole = isinstance(facets, Facets) and not facets.windows and not facets.ranges
    return {"f": node} if whole and _empty(node, graph) else None


@rules.rule("FROM_NOW", " after right now", " from now until the end of the day", " for the rest of today")
def from_now_on_today(node: Computation, graph: Graph) -> Found:
    facets = node.value if isinstance(node, Constant) else None
    if not isinstance(facets, Facets):
        return None
    days = [value_of(day, graph, dt.date) for day in facets.days]
    return {} if all(day == world_of(graph).today for day in days) else None


def _facets(node: Computation | None, graph: Graph) -> Facets | None:
    constraint = find_constraint(node) if node is not None else None
    return facets_of(constraint, graph) if constraint is not None else None


def _search(node: Computation, graph: Graph, least: int = 0) -> dict[str, object] | None:
    """What a sentence about a search says of it: how many, of what."""
    found, facets = value_of(node, graph, QueryEventResponse), _facets(node, graph)
    if found is None or facets is None or len(found.results) < least:
        return None
    if not found.results:
        return None
    return {"n": len(found.results), "search": node, "f": facets}


def _first(node: Computation, graph: Graph) -> Computation:
    return graph.call("head", graph.call("QueryEventResponse.results", node))


def _counted(node: Computation) -> Computation | None:
    """The search whose size a comparison compares."""
    match node:
        case Call(
            ">" | "<" | "==" | ">=" | "<=",
            (Call("size", (Call("QueryEventResponse.results", (search,)),)), _),
        ):
            return search
    return None


# One event


@rules.rule("SAY", "{THING <a>}{BE <e>} {EVENT <e>}.", weight=4)
def one_event(node: Computation, graph: Graph) -> Found:
    found = asked(node, graph)
    return {"a": found, "e": node} if found and event_of(node, graph) else None


@rules.rule(
    "SAY",
    'The "{<subject>}" {DATE <day>} {SPAN <e>}.',
    '[Here is what I found. ]"{<subject>}"{BE <e>} [{DATE <day>} ]{SPAN <e>}.',
    '[Here is what I found. ]"{<subject>}"{BE <e>} {DATE <day>} at {TIME <t>}.',
)
def one_event_briefly(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    if event is None:
        return None
    return {"e": node, "subject": event.subject, "day": event.start.date(), "t": event.start.time()}


@rules.rule("SAY", "{ITS <e>} {EVENT <e>}.")
def it_is_an_event(node: Computation, graph: Graph) -> Found:
    return {"e": node} if event_of(node, graph) else None
