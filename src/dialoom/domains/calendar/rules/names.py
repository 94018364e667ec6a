"""How people are named, one or several."""

from __future__ import annotations

from typing import Any

from dialoom.dataflow import Call, Computation, Constant, Graph
from dialoom.domains.calendar.model import Person, PersonName, Recipient
from dialoom.domains.calendar.rules.phrases import Found, items_of, value_of, world_of
from dialoom.generation import Rules

rules = Rules()

# NAME and NAMES: `NAMES` describes a tuple of nodes, `ANY` the same joined by "or"


@rules.rule("NAME", "{<name>}", weight=2)
def name_as_said(node: Computation, graph: Graph) -> Found:
    name = value_of(node, graph, PersonName)
    return {"name": name.name} if name else None


@rules.rule("NAME", "{<name>}")
def name_in_full(node: Computation, graph: Graph) -> Found:
    name = value_of(node, graph, PersonName)
    people = world_of(graph).named(name.name) if name else []
    return {"name": people[0].name} if name and len(people) == 1 and people[0].name != name.name else None


@rules.rule("NAME", "{<name>}", weight=2)
def name_of_person(node: Computation, graph: Graph) -> Found:
    person = value_of(node, graph, Recipient) or value_of(node, graph, Person)
    return {"name": person.name} if person else None


@rules.rule("NAME", "{<name>}")
def name_asked_for(node: Computation, graph: Graph) -> Found:
    """A person looked up by name may be called by that name."""
    match node:
        case Call("Execute", (Call("refer", (Call("extensionConstraint", (inner,)),)),)):
            while isinstance(inner, Call) and inner.function == "RecipientWithNameLike":
                inner, name = inner.arguments
                if isinstance(name, Call) and isinstance(name.arguments[0], Constant):
                    return {"name": name.arguments[0].value}
    return None


@rules.rule("NAME", "{NAMES <people>}")
def names_of_people(node: Computation, graph: Graph) -> Found:
    people = value_of(node, graph, list)
    return {"people": tuple(Recipient(person.name) for person in people)} if people else None


@rules.rule("NAMES", "{NAMES <everybody>}")
def names_one_by_one(node: Computation, graph: Graph) -> Found:
    """People of a team are named like others, and nobody twice."""
    values = [graph.outcome(item) if isinstance(item, Call | Constant) else item for item in items_of(node)]
    if not any(isinstance(value, list) for value in values) and len(set(map(repr, values))) == len(values):
        return None
    everybody: dict[str, Any] = {}
    for item, value in zip(items_of(node), values, strict=True):
        people = value if isinstance(value, list) else [item]
        everybody.update((repr(graph.outcome(one) if isinstance(one, Call | Constant) else one), one) for one in people)
    return {"everybody": tuple(everybody.values())}


@rules.rule("NAMES", "{NAME <only>}")
def one_name(node: Computation, graph: Graph) -> Found:
    items = items_of(node)
    return {"only": items[0]} if len(items) == 1 else None


@rules.rule("NAMES", "{NAME <first>} and {NAME <last>}")
def two_names(node: Computation, graph: Graph) -> Found:
    items = items_of(node)
    return {"first": items[0], "last": items[1]} if len(items) == 2 else None


@rules.rule("NAMES", "{NAME <first>}, {REST <rest>}")
def several_names(node: Computation, graph: Graph) -> Found:
    items = items_of(node)
    return {"first": items[0], "rest": items[1:]} if len(items) > 2 else None


@rules.rule("REST", "{NAME <first>}, {REST <rest>}")
def further_names(node: Computation, graph: Graph) -> Found:
    items = items_of(node)
    return {"first": items[0], "rest": items[1:]} if len(items) > 2 else None


@rules.rule("REST", "{NAME <first>}[,] and {NAME <last>}")
def last_names(node: Computation, graph: Graph) -> Found:
    items = items_of(node)
    return {"first": items[0], "last": items[1]} if len(items) == 2 else None


@rules.rule("ANY", "{NAME <only>}")
def any_one(node: Computation, graph: Graph) -> Found:
    items = items_of(node)
    return {"only": items[0]} if len(items) == 1 else None


@rules.rule("ANY", "{NAME <first>}[,] or [with ]{NAME <last>}")
def any_of_two(node: Computation, graph: Graph) -> Found:
    items = items_of(node)
    return {"first": items[0], "last": items[1]} if len(items) == 2 else None


@rules.rule("ANY", "{NAME <first>}, [with ]{ANY <rest>}")
def any_of_several(node: Computation, graph: Graph) -> Found:
    items = items_of(node)
    return {"first": items[0], "rest": items[1:]} if len(items) > 2 else None
