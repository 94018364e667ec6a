"""Sentences about what could not be done: an error is a value, and each kind is said in its own words."""

from __future__ import annotations

from typing import Any, TypeVar

from dialoom.dataflow import Computation, Failure, Graph
from dialoom.domains.calendar.model import (
    CalendarError,
    Missing,
    NoManager,
    NoReferent,
    NotInvited,
    PersonNotFound,
    SeveralPeople,
    TooMany,
)
from dialoom.domains.calendar.rules.phrases import Found
from dialoom.generation import Rules

rules = Rules()
E_ = TypeVar("E_", bound=Exception)


def _error(node: Computation, graph: Graph, kind: type[E_]) -> E_ | None:
    outcome: Any = graph.outcome(node)
    error = outcome.error if isinstance(outcome, Failure) else None
    return error if isinstance(error, kind) else None


@rules.rule("SAY", 'I didn\'t find anyone named ["{<name>}"|{<name>}] in your address book.')
def nobody_by_that_name(node: Computation, graph: Graph) -> Found:
    error = _error(node, graph, PersonNotFound)
    return {"name": error.name} if error else None


@rules.rule("SAY", "I found {<n>} different people matching your query. Which of these did you mean?")
def several_people(node: Computation, graph: Graph) -> Found:
    error = _error(node, graph, SeveralPeople)
    return {"n": error.count} if error else None


@rules.rule("SAY", "I could not find your manager.", "I could not find the manager.")
def no_manager(node: Computation, graph: Graph) -> Found:
    return {} if _error(node, graph, NoManager) else None


@rules.rule(
    "SAY", 'There is no {<field>} information for "{<subject>}".', "There is no {<field>} information for {<subject>}."
)
def missing_field(node: Computation, graph: Graph) -> Found:
    error = _error(node, graph, Missing)
    return {"field": error.field, "subject": error.event.subject} if error else None


@rules.rule("SAY", "I found more than one event. Which one do you mean?")
def too_many(node: Computation, graph: Graph) -> Found:
    return {} if _error(node, graph, TooMany) else None


@rules.rule("SAY", "I'm not sure what you are referring to.")
def no_referent(node: Computation, graph: Graph) -> Found:
    return {} if _error(node, graph, NoReferent) else None


@rules.rule("SAY", "{<message>}")
def not_invited(node: Computation, graph: Graph) -> Found:
    error = _error(node, graph, NotInvited)
    return {"message": error.message} if error else None


@rules.rule("SAY", "Sorry, I could not work that out.", weight=0.1)
def anything_else(node: Computation, graph: Graph) -> Found:
    error = _error(node, graph, Exception)
    return {} if error and (not isinstance(error, CalendarError) or type(error) is CalendarError) else None
