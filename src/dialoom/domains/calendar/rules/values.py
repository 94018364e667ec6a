"""Sentences about plain values, for questions that no other rule knows: days, moments, lengths, numbers, lists."""

from __future__ import annotations

import datetime as dt

from dialoom.dataflow import Computation, Graph
from dialoom.domains.calendar.model import Event, Month, Person, Recipient, ShowAsStatus, Year
from dialoom.domains.calendar.rules.phrases import Found, value_of, world_of
from dialoom.domains.calendar.times import MONTHS
from dialoom.generation import Rules

rules = Rules()


@rules.rule("SAY", "{DATE <d>}.", "{ITS_DAY <d>}", "That is {DATE <d>}.")
def say_day(node: Computation, graph: Graph) -> Found:
    day = value_of(node, graph, dt.date)
    return {"d": node} if day and not isinstance(day, dt.datetime) else None


@rules.rule("ITS_DAY", "It's {DATE <d>}.")
def it_is_day(node: Computation, graph: Graph) -> Found:
    day = value_of(node, graph, dt.date)
    return {"d": node} if day and day >= world_of(graph).today else None


@rules.rule("SAY", "{LENGTH <l>}.")
def say_length(node: Computation, graph: Graph) -> Found:
    return {"l": node} if value_of(node, graph, dt.timedelta) is not None else None


@rules.rule("SAY", "{AT <m>}.", "It's {AT <m>}.")
def say_moment(node: Computation, graph: Graph) -> Found:
    return {"m": node} if value_of(node, graph, dt.datetime) is not None else None


@rules.rule("SAY", "[It's ]{TIME <t>}.")
def say_time(node: Computation, graph: Graph) -> Found:
    return {"t": node} if value_of(node, graph, dt.time) is not None else None


@rules.rule("SAY", "{RANGE <days>}.")
def say_range(node: Computation, graph: Graph) -> Found:
    return {"days": node} if getattr(graph.outcome(node), "bounds", None) else None


@rules.rule("SAY", "{<n>}.")
def say_number(node: Computation, graph: Graph) -> Found:
    number = value_of(node, graph, int | float)
    return None if number is None or isinstance(number, bool) else {"n": f"{number:g}"}


@rules.rule("SAY", "{<word>}.")
def say_word(node: Computation, graph: Graph) -> Found:
    value = graph.outcome(node)
    match value:
        case Year(number):
            return {"word": str(number)}
        case Month(number):
            return {"word": MONTHS[number - 1]}
        case ShowAsStatus():
            return {"word": value.value}
    return None


@rules.rule("SAY", "{NAMES <n>}.")
def say_person(node: Computation, graph: Graph) -> Found:
    found = value_of(node, graph, Recipient) or value_of(node, graph, Person)
    return {"n": (node,)} if found else None


@rules.rule("SAY", "{NAMES <n>}.")
def say_people(node: Computation, graph: Graph) -> Found:
    people = value_of(node, graph, list)
    named = bool(people) and all(isinstance(item, Person | Recipient) for item in people)
    return {"n": tuple(people)} if named else None


@rules.rule("SAY", "I found {COUNT <n>} {plural <n> event|events}.")
def say_events(node: Computation, graph: Graph) -> Found:
    events = value_of(node, graph, list)
    listed = bool(events) and all(isinstance(item, Event) for item in events)
    return {"n": len(events)} if listed else None


@rules.rule("SAY", "Yes.", "Looks like it.", weight=0.3)
def say_yes(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, bool) is True else None


@rules.rule("SAY", "No.", "It doesn't look like it.", weight=0.3)
def say_no(node: Computation, graph: Graph) -> Found:
    return {} if value_of(node, graph, bool) is False else None
