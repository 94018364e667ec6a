"""Sentences about changes: what is about to be done, and what was done."""

from __future__ import annotations

from dialoom.dataflow import Computation, Failure, Graph
from dialoom.domains.calendar.model import Change, NothingPending
from dialoom.domains.calendar.rules.events import event_of
from dialoom.domains.calendar.rules.phrases import Found, value_of
from dialoom.generation import Rules

rules = Rules()


def _change(node: Computation, graph: Graph, kind: str, *, done: bool) -> Change | None:
    change = value_of(node, graph, Change)
    return change if isinstance(change, Change) and (change.kind, change.done) == (kind, done) else None


@rules.rule("SAY", "[Shall|Should] I create {PLAN <after>}?", "Do you want me to create {PLAN <after>}?")
def shall_i_create(node: Computation, graph: Graph) -> Found:
    change = _change(node, graph, "create", done=False)
    return {"after": change.after} if change else None


@rules.rule("SAY", "I created {PLAN <after>}.", "Done. {PLAN <after>} is on your calendar.")
def created(node: Computation, graph: Graph) -> Found:
    change = _change(node, graph, "create", done=True)
    return {"after": change.after} if change else None


@rules.rule("SAY", "[Shall|Should] I delete {PLAN <before>}?", "Do you want me to delete {PLAN <before>}?")
def shall_i_delete(node: Computation, graph: Graph) -> Found:
    change = _change(node, graph, "delete", done=False)
    return {"before": change.before} if change else None


@rules.rule("SAY", "I deleted {PLAN <before>}.", "Done. {PLAN <before>} is no longer on your calendar.")
def deleted(node: Computation, graph: Graph) -> Found:
    change = _change(node, graph, "delete", done=True)
    return {"before": change.before} if change else None


@rules.rule("SAY", "[Shall|Should] I change {PLAN <before>} to {PLAN <after>}?")
def shall_i_update(node: Computation, graph: Graph) -> Found:
    change = _change(node, graph, "update", done=False)
    return {"before": change.before, "after": change.after} if change else None


@rules.rule("SAY", "I changed {PLAN <before>} to {PLAN <after>}.")
def updated(node: Computation, graph: Graph) -> Found:
    change = _change(node, graph, "update", done=True)
    return {"before": change.before, "after": change.after} if change else None


@rules.rule("SAY", "[Shall|Should] I move {PLAN <before>} to {DATE <day>} at {TIME <time>}?")
def shall_i_move(node: Computation, graph: Graph) -> Found:
    return _move(_change(node, graph, "update", done=False))


@rules.rule("SAY", "I moved {PLAN <before>} to {DATE <day>} at {TIME <time>}.")
def moved(node: Computation, graph: Graph) -> Found:
    return _move(_change(node, graph, "update", done=True))


def _move(change: Change | None) -> Found:
    """What is said of a change that only moves an event."""
    if change is None or change.before is None or change.after is None or change.before.start == change.after.start:
        return None
    if (change.before.subject, change.before.location) != (change.after.subject, change.after.location):
        return None
    return {"before": change.before, "day": change.after.start.date(), "time": change.after.start.time()}


# PLAN: an event in a sentence about a change


@rules.rule("PLAN", '"{<subject>}" {DATE <day>} {SPAN <e>}[{PLAN_WITH <e>}][{PLAN_AT <e>}]')
def plan(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"e": node, "subject": event.subject, "day": event.start.date()} if event else None


@rules.rule("PLAN_WITH", " with {NAMES <n>}")
def plan_with(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"n": tuple(item.recipient for item in event.attendees)} if event and event.attendees else None


@rules.rule("PLAN_AT", " at {<place>}")
def plan_at(node: Computation, graph: Graph) -> Found:
    event = event_of(node, graph)
    return {"place": event.location} if event and event.location else None


@rules.rule("SAY", "There is nothing to confirm.")
def nothing_pending(node: Computation, graph: Graph) -> Found:
    outcome = graph.outcome(node)
    return {} if isinstance(outcome, Failure) and isinstance(outcome.error, NothingPending) else None
