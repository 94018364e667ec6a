"""Sentences about people: attendees, what they answered, who organizes, who is invited."""

from __future__ import annotations

from dialoom.dataflow import Call, Computation, Graph
from dialoom.domains.calendar.facets import facets_of
from dialoom.domains.calendar.model import Attendee, Event, Recipient, ResponseStatus, ResponseStatusType
from dialoom.domains.calendar.rules.events import event_of
from dialoom.domains.calendar.rules.phrases import Found, value_of, world_of
from dialoom.generation import Rules

rules = Rules()

_ANSWERS = {
    ResponseStatusType.ACCEPTED: "accepted",
    ResponseStatusType.DECLINED: "declined",
    ResponseStatusType.TENTATIVE: "tentatively accepted",
}
_UNANSWERED = (ResponseStatusType.NONE, ResponseStatusType.NOT_RESPONDED)


# ANSWERED: after "have" or "has"


@rules.rule("ANSWERED", "{<answer>}")
def answered(node: Computation, graph: Graph) -> Found:
    status = _status(node, graph)
    return {"answer": _ANSWERS[status]} if status in _ANSWERS else None


@rules.rule("ANSWERED", "not responded to")
def not_answered(node: Computation, graph: Graph) -> Found:
    return {} if _status(node, graph) in _UNANSWERED else None


@rules.rule("UNANSWERED", "not {<answer>}")
def did_not_answer(node: Computation, graph: Graph) -> Found:
    status = _status(node, graph)
    return {"answer": _ANSWERS[status]} if status in _ANSWERS else None


@rules.rule("UNANSWERED", "responded to")
def did_answer(node: Computation, graph: Graph) -> Found:
    return {} if _status(node, graph) in _UNANSWERED else None


def _status(node: Computation, graph: Graph) -> ResponseStatusType | None:
    status = value_of(node, graph, ResponseStatus)
    found = status.response if status else value_of(node, graph, ResponseStatusType)
    return found if isinstance(found, ResponseStatusType) else None


# Lists of attendees


@rules.rule("SAY", "{LISTING <p>}[{REGRETS <regrets>}]", weight=4)
def list_attendees(node: Computation, graph: Graph) -> Found:
    people = _people(node, graph)
    event = _event_of_list(node)
    if not people or event is None:
        return None
    declined = tuple(item.recipient for item in graph.value(event).attendees if _declined(item))
    return {"p": node, "regrets": declined}


@rules.rule(
    "LISTING",
    "Here [is|'s] the list of attendees who have {ANSWERED <s>} [the ]{WHAT <event>}: {NAMES <names>}.",
    "Here's the list of attendees who have {ANSWERED <s>} [the ]{WHAT <event>}: {NAMES <names>}.",
)
def list_who_answered(node: Computation, graph: Graph) -> Found:
    return _listing(node, graph, "AttendeesWithResponse")


@rules.rule("LISTING", "Here is the list of attendees who have {UNANSWERED <s>} [the ]{WHAT <event>}: {NAMES <names>}.")
def list_who_did_not_answer(node: Computation, graph: Graph) -> Found:
    return _listing(node, graph, "AttendeesWithNotResponse")


@rules.rule("LISTING", "Here[ is|'s] the list of attendees[ for {WHAT <event>}]: {NAMES <names>}.", weight=3)
def list_everybody(node: Computation, graph: Graph) -> Found:
    people = _people(node, graph)
    match node:
        case Call("Event.attendees", (event,)) if people:
            return {"event": event, "names": _names(people)}
    return None


@rules.rule("REGRETS", " Unfortunately, {NAMES <n>} [has|have] declined.", " Unfortunately, {NAMES <n>} declined.")
def regrets(node: Computation, graph: Graph) -> Found:
    people = graph.outcome(node)
    return {"n": people} if people else None


@rules.rule("SAY", "There are no attendees who have {ANSWERED <s>} [the ]{WHAT <event>}.", weight=4)
def nobody_answered(node: Computation, graph: Graph) -> Found:
    return _nobody(node, graph, "AttendeesWithResponse")


@rules.rule("SAY", "There are no attendees who have {UNANSWERED <s>} [the ]{WHAT <event>}.", weight=4)
def nobody_failed_to_answer(node: Computation, graph: Graph) -> Found:
    return _nobody(node, graph, "AttendeesWithNotResponse")


@rules.rule("SAY", "There are no attendees for [the ]{WHAT <event>}.", weight=4)
def nobody_invited(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("Event.attendees", (event,)) if _people(node, graph) == []:
            return {"event": event}
    return None


@rules.rule("WHAT", '"{<subject>}"')
def what(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"subject": event.subject} if event else None


def _people(node: Computation, graph: Graph) -> list[Attendee] | None:
    people = value_of(node, graph, list)
    return people if people is not None and all(isinstance(item, Attendee) for item in people) else None


def _declined(attendee: Attendee) -> bool:
    return attendee.response is ResponseStatusType.DECLINED


def _names(people: list[Attendee]) -> tuple[Recipient, ...]:
    return tuple(item.recipient for item in people)


def _event_of_list(node: Computation) -> Computation | None:
    match node:
        case Call("AttendeesWithResponse" | "AttendeesWithNotResponse", (Call("Event.attendees", (event,)), _)):
            return event
        case Call("Event.attendees", (event,)):
            return event
    return None


def _listing(node: Computation, graph: Graph, function: str) -> Found:
    people = _people(node, graph)
    match node:
        case Call(name, (Call("Event.attendees", (event,)), status)) if name == function and people:
            return {"event": event, "s": status, "names": _names(people)}
    return None


def _nobody(node: Computation, graph: Graph, function: str) -> Found:
    match node:
        case Call(name, (Call("Event.attendees", (event,)), status)) if name == function:
            return {"event": event, "s": status} if _people(node, graph) == [] else None
    return None


# How many answered


@rules.rule(
    "SAY",
    "[{VERDICT <yes>}]I found {COUNT <n>} {WHO <n>} {SO <l>} [the ]{WHAT <event>}.",
)
def how_many_answered(node: Computation, graph: Graph) -> Found:
    return _answers(node, graph)


@rules.rule("SAY", "[{VERDICT <yes>}]There are no attendees who have {SO <l>} [the ]{WHAT <event>}.")
def how_many_none(node: Computation, graph: Graph) -> Found:
    found = _answers(node, graph)
    return found if found and found["n"] == 0 else None


@rules.rule("WHO", "{plural <n> attendee who has|attendees who have}")
def attendees_who_have(node: Computation, graph: Graph) -> Found:
    return {"n": node}


@rules.rule("SO", "{ANSWERED <s>}")
def so_answered(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("AttendeesWithResponse", (_, status)):
            return {"s": status}
    return None


@rules.rule("SO", "{UNANSWERED <s>}")
def so_unanswered(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("AttendeesWithNotResponse", (_, status)):
            return {"s": status}
    return None


def _answers(node: Computation, graph: Graph) -> Found:
    match node:
        case Call(">" | "<" | "==" | ">=" | "<=", (Call("size", (people,)), _)) | Call("size", (people,)):
            event = _event_of_list(people)
            count = _people(people, graph)
            if event is not None and count is not None:
                return {"yes": node, "n": len(count), "l": people, "event": event}
    return None


@rules.rule("SAY", "{VERDICT <yes>}{SAY <list>}")
def whether_anybody(node: Computation, graph: Graph) -> Found:
    found = _answers(node, graph)
    return {"yes": node, "list": found["l"]} if found and value_of(node, graph, bool) is not None else None


# What one person answered


@rules.rule(
    "SAY", "[{VERDICT <yes>}]{PERSON <who>} {HAVE <who>} {ANSWERED <s>} the {WHAT <event>} invitation.", weight=4
)
def whether_answered(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("==", (Call("ResponseStatus.response", (status,)), _)):
            found = _answer(status, graph)
            return {**found, "yes": node} if found else None
    return None


@rules.rule("SAY", "{PERSON <who>} {HAVE <who>} {ANSWERED <s>} the {WHAT <event>} invitation.", weight=4)
def what_answered(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("ResponseStatus.response", (status,)):
            return _answer(status, graph)
    return _answer(node, graph)


@rules.rule("SAY", "[{VERDICT <yes>}]You are the organizer of [the ]{WHAT <event>}.", weight=2)
def you_organize(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("==", (Call("ResponseStatus.response", (Call("Event.responseStatus", (event,)),)), _)):
            value = event_of(event, graph)
        case Call("Event.responseStatus", (event,)):
            value = event_of(event, graph)
        case _:
            return None
    mine = value is not None and value.response is ResponseStatusType.ORGANIZER
    return {"yes": node, "event": event} if mine else None


def _answer(node: Computation, graph: Graph) -> dict[str, object] | None:
    match node:
        case Call("AttendeeResponseStatus", (Call("AttendeeFromEvent", (event, who)),)):
            return {"who": who, "event": event, "s": node} if _status(node, graph) else None
        case Call("Event.responseStatus", (event,)) if _status(node, graph):
            return {"who": world_of(graph).user, "event": event, "s": node}
    return None


@rules.rule("HAVE", "has", weight=5)
def has(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, Recipient) != world_of(graph).user else None


@rules.rule("HAVE", "had", weight=0.2)
def had(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, Recipient) else None


@rules.rule("HAVE", "have", weight=5)
def have(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, Recipient) == world_of(graph).user else None


@rules.rule("PERSON", "{NAME <n>}")
def another_person(node: Computation, graph: Graph) -> Found:
    return {"n": node} if value_of(node, graph, Recipient) != world_of(graph).user else None


@rules.rule("PERSON", "You", "you")
def the_user(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, Recipient) == world_of(graph).user else None


@rules.rule("ARE", "is")
def third_person(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, Recipient) != world_of(graph).user else None


@rules.rule("ARE", "are")
def second_person(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, Recipient) == world_of(graph).user else None


# Who organizes


@rules.rule("SAY", "{PERSON <who>} {ARE <who>} the organizer of [the ]{WHAT <event>}.", weight=4)
def who_organizes(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("Event.organizer", (event,)) if value_of(node, graph, Recipient):
            return {"who": node, "event": event}
    return None


@rules.rule("SAY", "[{VERDICT <yes>}]{PERSON <who>} {ARE <who>} the organizer of [the ]{WHAT <event>}.", weight=4)
def whether_organizes(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("==", (Call("Event.organizer", (event,)) as who, _)) | Call(
            "==", (_, Call("Event.organizer", (event,)) as who)
        ):
            return {"yes": node, "who": who, "event": event} if value_of(who, graph, Recipient) else None
    return None


# Who is invited


@rules.rule(
    "SAY",
    "{VERDICT <yes>}{NAMES <who>} {plural <n> is|are} invited to [the ]{WHAT <event>}.",
    "{VERDICT <yes>}{NAMES <who>} {plural <n> was|were} invited to [the ]{WHAT <event>}.",
    weight=4,
)
def is_invited(node: Computation, graph: Graph) -> Found:
    found = _invited(node, graph)
    return found if found and value_of(node, graph, bool) else None


@rules.rule(
    "SAY",
    "{VERDICT <yes>}{NAMES <who>} {plural <n> is|are} not invited to [the ]{WHAT <event>}.",
    "{VERDICT <yes>}{NAMES <who>} {plural <n> was|were} not invited to [the ]{WHAT <event>}.",
    weight=4,
)
def is_not_invited(node: Computation, graph: Graph) -> Found:
    found = _invited(node, graph)
    return found if found and value_of(node, graph, bool) is False and found["n"] == 1 else None


def _invited(node: Computation, graph: Graph) -> Found:
    match node:
        case Call("allows", (constraint, Call("Event.attendees", (event,)))):
            people = facets_of(graph.call("Event.attendees_?", constraint), graph).people
            if len(people) == 1 and not people[0].absent and value_of(event, graph, Event):
                nodes = people[0].nodes
                return {"yes": node, "who": nodes, "n": len(nodes), "event": event}
    return None
