"""What a constraint on events says, facet by facet: the nodes that an adjunct of a sentence can describe."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

from dialoom.dataflow import Call, Computation, Constant, Graph

Nodes = tuple[Computation, ...]


@dataclass(frozen=True, slots=True)
class Name:
    """People asked for by one part of a constraint: `any` of them or all, present or `absent`."""

    nodes: Nodes
    any: bool = False
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A condition on time: its kind (`at`, `after`, `before`, `between`, `part`, `moments` ...) and its nodes."""

    kind: str
    nodes: Nodes = ()


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of one constraint, in the order the program gives them."""

    subjects: Nodes = ()
    other_subjects: Nodes = ()
    people: tuple[Name, ...] = ()
    places: Nodes = ()
    other_places: Nodes = ()
    days: Nodes = ()
    ranges: Nodes = ()
    windows: tuple[Window, ...] = ()
    durations: Nodes = ()
    other: bool = False
    all_day: bool = False
    alone: bool = False
    accompanied: bool = False
    constraint: Computation | None = None

    def __add__(self, more: Facets) -> Facets:
        joined = {item.name: getattr(self, item.name) for item in fields(self)}
        for name, value in joined.items():
            theirs = getattr(more, name)
            joined[name] = value + theirs if isinstance(value, tuple) else value or theirs
        return Facets(**joined)


@dataclass
class _Walk:
    """Conditions seen so far; a stack instead of recursion, so that depth is bounded by memory only."""

    graph: Graph
    found: Facets = field(default_factory=Facets)

    def run(self, root: Computation) -> Facets:
        stack = [root]
        while stack:
            node = stack.pop()
            facets, rest = self.step(node)
            self.found = self.found + facets
            stack.extend(reversed(rest))
        return self.found

    def step(self, node: Computation) -> tuple[Facets, Nodes]:
        match node:
            case Call("&" | "orConstraint", (left, right)):
                return Facets(), (left, right)
            case Call("Event.subject_?", (inner,)):
                return _subjects(inner), ()
            case Call("Event.attendees_?", (inner,)):
                return _people(inner, self.graph), ()
            case Call("Event.organizer_?", (Call("?=", (person,)),)):
                return Facets(people=(Name((person,)),)), ()
            case Call("Event.location_?", (inner,)):
                return _places(inner), ()
            case Call("Event.id_?", (Call("negate", _),)):
                return Facets(other=True), ()
            case Call("Event.isAllDay_?", (Call("?=", (Constant(True),)),)):
                return Facets(all_day=True), ()
            case Call("Event.duration_?", (Call("?=", (length,)),)):
                return Facets(durations=(length,)), ()
            case Call("Event.start_?", (Call("DateTime.date_?", (Call("?=", (day,)),)),)):
                return Facets(days=(day,)), ()
            case Call("Event.start_?", (Call("DateTime.time_?", (Call("?=", (time,)),)),)):
                return Facets(windows=(Window("at", (time,)),)), ()
            case Call("Event.start_?", (Call("?=", (moment,)),)):
                return Facets(windows=(Window("moment", (moment,)),)), ()
        return self.timed(node)

    def timed(self, node: Computation) -> tuple[Facets, Nodes]:
        match node:
            case Call("EventOnDate" | "EventSometimeOnDate", (day, event)):
                return Facets(days=(day,)), (event,)
            case Call("EventAllDayOnDate", (event, day)) | Call("EventAllDayStartingDateForPeriod", (event, day, _)):
                return Facets(days=(day,), all_day=True), (event,)
            case Call("EventAllDayForDateRange", (event, days)):
                return Facets(ranges=(days,), all_day=True), (event,)
            case Call("EventDuringRange", (event, days)):
                return Facets(ranges=(days,)), (event,)
            case Call("EventOnDateWithTimeRange" | "EventDuringRangeTime", (event, part)):
                return Facets(windows=(Window("part", (part,)),)), (event,)
            case Call("EventOnDateTime", (moment, event)):
                return Facets(windows=(Window("moment", (moment,)),)), (event,)
            case Call("EventAtTime", (event, time)):
                return Facets(windows=(Window("at", (time,)),)), (event,)
            case Call("EventOnDateAfterTime", (day, event, time)):
                return Facets(days=(day,), windows=(Window("after", (time,)),)), (event,)
            case Call("EventOnDateBeforeTime", (day, event, time)):
                return Facets(days=(day,), windows=(Window("before", (time,)),)), (event,)
            case Call("EventOnDateFromTimeToTime", (day, event, first, last)):
                return Facets(days=(day,), windows=(Window("between", (first, last)),)), (event,)
            case Call("EventBeforeDateTime", (moment, event)):
                return Facets(windows=(Window("before moment", (moment,)),)), (event,)
            case Call("EventAfterDateTime", (event, moment)):
                return Facets(windows=(Window("after moment", (moment,)),)), (event,)
            case Call("EventDuringRangeDateTime", (event, moments)):
                return Facets(windows=(Window("moments", (moments,)),)), (event,)
            case Call("EventForRestOfToday", (event,)):
                return Facets(windows=(Window("rest of today"),)), (event,)
            case Call("EventBetweenEvents", (event, _, _)):
                return Facets(), (event,)
        return Facets(), ()


def facets_of(constraint: Computation, graph: Graph) -> Facets:
    """The facets of a constraint on events. What it does not know is left out, as a speaker may leave it out."""
    return replace(_Walk(graph).run(constraint), constraint=constraint)


def _texts(node: Computation) -> Nodes:
    """Nodes of the texts in a condition on a text or a place."""
    match node:
        case Call("?=" | "?~=", (text,)):
            return (text,)
        case Call("&" | "orConstraint", (left, right)):
            return _texts(left) + _texts(right)
    return ()


def _subjects(inner: Computation) -> Facets:
    match inner:
        case Call("negate", (denied,)):
            return Facets(other_subjects=_texts(denied))
    return Facets(subjects=_texts(inner))


def _places(inner: Computation) -> Facets:
    match inner:
        case Call("negate", (denied,)):
            return Facets(other_places=_texts(denied))
    return Facets(places=_texts(inner))


def _people(inner: Computation, graph: Graph) -> Facets:
    match inner:
        case Call("&", (left, right)):
            return _joined(_people(left, graph), _people(right, graph))
        case Call("orConstraint", (left, right)):
            both = _people(left, graph).people + _people(right, graph).people
            nodes = tuple(node for name in both for node in name.nodes)
            return Facets(people=(Name(nodes, any=True),)) if nodes else Facets()
        case Call("negate", (denied,)):
            return _absent(_people(denied, graph))
        case Call("AttendeeListExcludesRecipient", (who,)):
            return Facets(people=(Name(_named(who), absent=True),)) if _named(who) else Facets()
        case Call("AttendeeListHasRecipientConstraint", (who,)):
            return Facets(people=(Name(_named(who)),)) if _named(who) else Facets(accompanied=True)
        case Call("AttendeeListHasRecipient", (who,)):
            return Facets(people=(Name((who,)),))
        case Call("AttendeeListHasPeople", (who,)):
            return Facets(people=(Name((who,)),))
        case Call("AttendeeListHasPeopleAnyOf", (who,)):
            return Facets(people=(Name((who,), any=True),))
        case Call("listSize", (Call("?=", (Constant(0.0),)), _)):
            return Facets(alone=True)
    return Facets()


def _joined(left: Facets, right: Facets) -> Facets:
    """People that one conjunction asks for are one list."""
    both = left + right
    plain = tuple(name for name in both.people if not name.any and not name.absent)
    rest = tuple(name for name in both.people if name.any or name.absent)
    if len(plain) > 1:
        plain = (Name(tuple(node for name in plain for node in name.nodes)),)
    return replace(both, people=plain + rest)


def _absent(facets: Facets) -> Facets:
    return replace(facets, people=tuple(replace(name, absent=True) for name in facets.people))


def _named(who: Computation) -> Nodes:
    """The name or the person in a condition on a person."""
    match who:
        case Call("RecipientWithNameLike", (inner, name)):
            return (*_named(inner), name)
        case Call("?=", (person,)):
            return (person,)
        case Call("&", (left, right)):
            return _named(left) + _named(right)
    return ()


def find_constraint(root: Computation) -> Computation | None:
    """The constraint of the search at or under a node, nearest first."""
    queue: list[Any] = [root]
    for node in queue:
        match node:
            case Call("FindEventWrapperWithDefaults" | "FindNumNextEvent" | "FindLastEvent", (constraint, *_)):
                return constraint
            case Call(_, arguments):
                queue.extend(arguments)
    return None
