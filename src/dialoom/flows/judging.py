"""Judging a turn at a prompt node: every constraint that applies, before and after it has understood the user."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dialoom.flows.calling import in_thread
from dialoom.flows.constraints import (
    Check,
    Constraint,
    Declared,
    Empty,
    Forbidden,
    Language,
    Proposal,
    Required,
    Violation,
    judge,
    undecided,
)
from dialoom.flows.expressions import TemplateFailed, fill, render
from dialoom.flows.nodes import STAY, PromptNode
from dialoom.flows.slots import empty
from dialoom.flows.work import SlotRefused, Work

CHECK_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Memory before a node changed it, so that a refused turn leaves no trace in it."""

    memory: dict[str, Any]
    frame: dict[str, Any]
    local: dict[str, Any]
    seen: dict[str, Any]


def snapshot(work: Work) -> Snapshot:
    """Memory as it is now."""
    return Snapshot(*copy.deepcopy((work.state.memory, work.frame.memory, work.frame.local, work.memory())))


def undo(work: Work, before: Snapshot) -> None:
    """Put memory back; the changes stay in the events, followed by this one."""
    changed = {name: value for name, value in before.seen.items() if work.memory().get(name) != value}
    work.state.memory, work.frame.memory, work.frame.local = copy.deepcopy((before.memory, before.frame, before.local))
    for name, value in changed.items():
        hidden = work.declared()[name].secret and not empty(value)
        work.record("slot_changed", "undone", slot=name, new="[hidden]" if hidden else value, node=work.frame.node)


def constraints_of(work: Work, node: PromptNode) -> Iterable[Constraint]:
    """The constraints of the node, of its sub-flow, and of the flow."""
    yield from node.constraints
    yield from work.graph.constraints
    if work.graph is not work.flow and not work.frame.repair:
        yield from work.flow.constraints


async def judge_turn(
    work: Work, node: PromptNode, before: Snapshot, utterance: str | None, target: str
) -> list[Violation]:
    """The violations of what the node is about to do; each is recorded."""
    leaving = target not in (STAY, work.frame.node)
    proposal = _proposal(work, before, utterance, target, leaving)
    violations = []
    for constraint in constraints_of(work, node):
        if isinstance(constraint, Forbidden | Language) and constraint.of == "user":
            continue
        if isinstance(constraint, Check):
            if constraint.at == "entry" or (constraint.at == "exit" and not leaving):
                continue
            violation = await _checked(work, constraint, proposal)
        else:
            violation = _judged(work, constraint, proposal)
        if violation is not None:
            violations.append(_recorded(work, violation))
    return violations


async def judge_entry(work: Work, node: PromptNode) -> list[Violation]:
    """The violations on entering a node; slots that are to be cleared are."""
    before = snapshot(work)
    proposal = _proposal(work, before, None, work.frame.node, False)
    violations: list[Violation] = []
    for constraint in constraints_of(work, node):
        found: Violation | None = None
        match constraint:
            case Empty(at="entry", clear=True):
                _clear(work, constraint)
            case Empty(at="entry"):
                full = [name for name in constraint.empty if not empty(proposal.after.get(name))]
                found = _said(constraint, proposal, f"Must be empty here: {', '.join(full)}.") if full else None
            case Required(at="entry"):
                missing = [name for name in constraint.required if empty(proposal.after.get(name))]
                found = _said(constraint, proposal, f"Still missing: {', '.join(missing)}.") if missing else None
            case Check(at="entry"):
                found = await _checked(work, constraint, proposal)
        if found is not None:
            violations.append(_recorded(work, found))
    return violations


def judge_user(work: Work, node: PromptNode) -> list[Violation]:
    """The violations of what the user said (forbidden words, languages)."""
    proposal = _proposal(work, snapshot(work), None, work.frame.node, False)
    found = [
        _judged(work, constraint, proposal)
        for constraint in constraints_of(work, node)
        if isinstance(constraint, Forbidden | Language) and constraint.of == "user"
    ]
    return [_recorded(work, violation) for violation in found if violation is not None]


def _proposal(work: Work, before: Snapshot, utterance: str | None, target: str, leaving: bool) -> Proposal:
    return Proposal(
        before=before.seen,
        after=work.memory(),
        user=work.text,
        utterance=utterance,
        target=target,
        leaving=leaving,
        declared=work.declared(),
        values=work.values(),
    )


def _judged(work: Work, constraint: Declared, proposal: Proposal) -> Violation | None:
    if isinstance(constraint, Language) and (note := undecided(constraint, proposal)):
        work.record("constraint_undecided", "language", constraint=constraint.label, message=note, node=work.frame.node)
    try:
        return judge(constraint, proposal)
    except TemplateFailed as error:
        work.record("template_failed", "constraint", error=str(error), node=work.frame.node)
        return Violation(constraint.label, "This could not be checked.")


async def _checked(work: Work, constraint: Check, proposal: Proposal) -> Violation | None:
    function = work.ports.app.constraints.get(constraint.check)
    if function is None:
        work.record("function_failed", "constraint", function=constraint.check, error="not registered")
        return Violation(constraint.label, "This could not be checked.")
    try:
        arguments = fill(constraint.arguments, {**proposal.values, **proposal.after})
        if inspect.iscoroutinefunction(function):
            problem = await asyncio.wait_for(function(proposal, **arguments), CHECK_SECONDS)
        else:
            problem = await asyncio.wait_for(in_thread(lambda: function(proposal, **arguments)), CHECK_SECONDS)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        work.record("function_failed", "constraint", function=constraint.check, error=text, node=work.frame.node)
        return Violation(constraint.label, "This could not be checked.")
    return _said(constraint, proposal, str(problem)) if problem else None


def _said(constraint: Declared, proposal: Proposal, problem: str) -> Violation:
    try:
        message = render(constraint.message, {**proposal.values, **proposal.after}) if constraint.message else problem
    except TemplateFailed:
        message = problem
    return Violation(constraint.label, message)


def _recorded(work: Work, violation: Violation) -> Violation:
    work.record(
        "constraint_violated",
        violation.label,
        constraint=violation.label,
        message=violation.message,
        node=work.frame.node,
        flow=work.frame.flow,
    )
    return violation


def _clear(work: Work, constraint: Empty) -> None:
    for name in constraint.empty:
        if not empty(work.memory().get(name)):
            try:
                work.set(name, None, "emptied on entry")
            except SlotRefused as error:
                work.record("constraint_violated", "clear", constraint=constraint.label, message=str(error))
