"""Adjuncts: what a sentence may repeat of the question. Any may be left out, none is invented.

`CONTEXT` describes the `Facets` of a constraint, each piece with a space in front of it.
"""

from __future__ import annotations

from dialoom.dataflow import Computation, Constant, Graph
from dialoom.domains.calendar.facets import Facets, Name
from dialoom.domains.calendar.rules.phrases import Found, value_of
from dialoom.generation import Rules

rules = Rules()


def facets(node: Computation) -> Facets | None:
    """The facets in a constant node."""
    return node.value if isinstance(node, Constant) and isinstance(node.value, Facets) else None


@rules.rule("CONTEXT", "[{SUBJECT <f>}][{WITH <f>}][ on your calendar][{PLACE <f>}][{WHEN <f>}]", weight=4)
def usual_order(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule("CONTEXT", "[{SUBJECT <f>}][{WITH <f>}]{WHEN <f>}{PLACE <f>}", weight=0.5)
def place_last(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule("CONTEXT", "[{SUBJECT <f>}][{WITH <f>}][{PLACE <f>}][{WHEN <f>}] on your calendar", weight=0.5)
def calendar_last(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule("CONTEXT", "[{WITH <f>}][ on your calendar]{WHEN <f>}[{SUBJECT <f>}][{WITH <f>}][{PLACE <f>}]", weight=0.5)
def time_first(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule(
    "CONTEXT", "{WITH <f>}[{PLACE <f>}]{SUBJECT <f>}[{WHEN <f>}]", "{PLACE <f>}{SUBJECT <f>}[{WHEN <f>}]", weight=0.3
)
def subject_later(node: Computation, graph: Graph) -> Found:
    return {"f": node}


@rules.rule(
    "CONTEXT", "{PLACE <f>}{WITH <f>}[{WHEN <f>}]", "[{SUBJECT <f>}]{WHEN <f>}{WITH <f>}[{PLACE <f>}]", weight=0.3
)
def people_later(node: Computation, graph: Graph) -> Found:
    return {"f": node}


# SUBJECT


@rules.rule("SUBJECT", ' matching "{<s>}"', weight=4)
def matching(node: Computation, graph: Graph) -> Found:
    return _subject(node, graph)


@rules.rule("SUBJECT", ' named "{<s>}"', ' called "{<s>}"', weight=2)
def named(node: Computation, graph: Graph) -> Found:
    return _subject(node, graph)


@rules.rule("SUBJECT", ' "{<s>}"', weight=0.5)
def quoted(node: Computation, graph: Graph) -> Found:
    return _subject(node, graph)


@rules.rule("SUBJECT", ' not matching "{<s>}"', ' not named "{<s>}"')
def not_matching(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"s": found.other_subjects[0]} if found and found.other_subjects else None


@rules.rule("SUBJECT", "{SUBJECT <first>}{SUBJECT <rest>}")
def several_subjects(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    if not found or len(found.subjects) + len(found.other_subjects) < 2:
        return None
    if found.subjects and found.other_subjects:
        parts = Facets(subjects=found.subjects), Facets(other_subjects=found.other_subjects)
    elif found.subjects:
        parts = Facets(subjects=found.subjects[:1]), Facets(subjects=found.subjects[1:])
    else:
        parts = Facets(other_subjects=found.other_subjects[:1]), Facets(other_subjects=found.other_subjects[1:])
    return {"first": parts[0], "rest": parts[1]}


def _subject(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    if not found or not found.subjects or value_of(found.subjects[0], graph, str) is None:
        return None
    return {"s": found.subjects[0]}


# WITH


@rules.rule("WITH", "{PEOPLE <only>}")
def with_people(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"only": found.people[0]} if found and len(found.people) == 1 else None


@rules.rule("WITH", "{PEOPLE <first>}[{WITH <rest>}]", "{WITH <rest>}")
def with_several(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    if not found or len(found.people) < 2:
        return None
    return {"first": found.people[0], "rest": Facets(people=found.people[1:])}


@rules.rule("WITH", " without any attendees", " by yourself")
def with_nobody(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {} if found and found.alone else None


@rules.rule("WITH", " with attendees", " with other people")
def with_somebody(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {} if found and found.accompanied else None


@rules.rule("PEOPLE", " with {NAMES <n>}", weight=3)
def with_all(node: Computation, graph: Graph) -> Found:
    name = _name(node)
    return {"n": name.nodes} if name and not name.any and not name.absent else None


@rules.rule("PEOPLE", " with {ANY <n>}")
def with_any(node: Computation, graph: Graph) -> Found:
    name = _name(node)
    return {"n": name.nodes} if name and name.any and not name.absent else None


@rules.rule("PEOPLE", " with {ANY <n>}")
def with_any_of_team(node: Computation, graph: Graph) -> Found:
    name = _name(node)
    if not name or not name.any or name.absent or len(name.nodes) != 1:
        return None
    people = value_of(name.nodes[0], graph, list)
    return {"n": tuple(people)} if people else None


@rules.rule("PEOPLE", " without {NAMES <n>}")
def with_none_of(node: Computation, graph: Graph) -> Found:
    name = _name(node)
    return {"n": name.nodes} if name and name.absent else None


def _name(node: Computation) -> Name | None:
    return node.value if isinstance(node, Constant) and isinstance(node.value, Name) else None


# PLACE


@rules.rule("PLACE", " at [the ]{PLACENAME <p>}", weight=3)
def at_place(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"p": found.places[0]} if found and found.places else None


@rules.rule("PLACE", " in [the ]{PLACENAME <p>}")
def in_place(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"p": found.places[0]} if found and found.places else None


@rules.rule("PLACE", " not at [the ]{PLACENAME <p>}", " not in [the ]{PLACENAME <p>}")
def not_at_place(node: Computation, graph: Graph) -> Found:
    found = facets(node)
    return {"p": found.other_places[0]} if found and found.other_places else None


@rules.rule("PLACENAME", "{<text>}", weight=3)
def place_name(node: Computation, graph: Graph) -> Found:
    return _place(node, graph)


@rules.rule("PLACENAME", '"{<text>}"')
def place_name_quoted(node: Computation, graph: Graph) -> Found:
    return _place(node, graph)


def _place(node: Computation, graph: Graph) -> Found:
    text = getattr(graph.outcome(node), "text", None)
    return {"text": text} if isinstance(text, str) and text else None
