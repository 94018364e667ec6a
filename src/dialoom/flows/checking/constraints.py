"""Constraints that contradict each other, so that no turn could satisfy them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dialoom.flows.application import Application
from dialoom.flows.checking.findings import Spot, Survey, written
from dialoom.flows.constraints import AppendOnly, Constraint, Empty, Frozen, Pattern, Range, Required
from dialoom.flows.nodes import PromptNode
from dialoom.flows.slots import Slot

Problem = tuple[str, str]


def contradictions(survey: Survey, app: Application | None) -> None:
    """Note pairs of constraints, or a constraint and a slot, that cannot both hold."""
    del app
    filled_elsewhere: dict[str, set[str]] = {}
    for spot in survey.spots():
        for name in written(spot.node):
            filled_elsewhere.setdefault(name, set()).add(spot.name)
    for spot in survey.spots():
        if isinstance(spot.node, PromptNode):
            declared = survey.slots(spot)
            rules = (*spot.node.constraints, *spot.graph.constraints)
            for message, hint in (
                *_of_presence(rules, declared),
                *_of_values(rules, declared),
                *_of_reach(spot, rules, filled_elsewhere),
            ):
                survey.found("error", "contradiction", (*spot.place, "constraints"), message, hint, spot)


def _named(rules: Sequence[Constraint], kind: type, at: str = "") -> set[str]:
    return {
        name
        for rule in rules
        if isinstance(rule, kind) and (not at or getattr(rule, "at", "") == at)
        for name in rule.slots()
    }


def _of_presence(rules: Sequence[Constraint], declared: dict[str, Slot]) -> Iterator[Problem]:
    for at in ("entry", "exit"):
        for name in sorted(_named(rules, Required, at) & _named(rules, Empty, at)):
            yield f"'{name}' must be filled and empty at {at}.", "Keep one of the two."
    for name in sorted(_named(rules, Required, "exit") & _named(rules, Empty, "entry") & _named(rules, Frozen)):
        yield f"'{name}' is empty on entry, must not change here, and must be filled to leave.", "Drop `frozen`."
    for name in sorted(_named(rules, Empty, "entry")):
        slot = declared.get(name)
        if slot is not None and slot.default not in (None, "", [], {}):
            yield f"'{name}' must be empty on entry, but it has the default {slot.default!r}.", "Drop the default."
    for name in sorted(_named(rules, AppendOnly)):
        if name in declared and declared[name].type != "list":
            yield f"'{name}' is append-only, but it is no list.", "Name a slot of type list."


def _of_values(rules: Sequence[Constraint], declared: dict[str, Slot]) -> Iterator[Problem]:
    bounds: dict[str, tuple[float, float]] = {}
    for rule in rules:
        if isinstance(rule, Range):
            span, slot = rule.range, declared.get(rule.range.slot)
            low, high = bounds.get(span.slot, _own(slot))
            low, high = max(low, _or(span.min, -1)), min(high, _or(span.max, 1))
            if low > high:
                yield f"No value of '{span.slot}' is within all its bounds.", "Let the bounds overlap."
            bounds[span.slot] = low, high
        elif isinstance(rule, Pattern):
            slot = declared.get(rule.pattern.slot)
            if slot is not None and slot.values and not any(re.fullmatch(rule.pattern.matches, v) for v in slot.values):
                yield f"No choice of '{rule.pattern.slot}' matches {rule.pattern.matches}.", "Widen the pattern."


def _own(slot: Slot | None) -> tuple[float, float]:
    if slot is None:
        return _or(None, -1), _or(None, 1)
    return _or(slot.min, -1), _or(slot.max, 1)


def _or(bound: float | None, sign: int) -> float:
    return sign * float("inf") if bound is None else bound


def _of_reach(spot: Spot, rules: Sequence[Constraint], filled: dict[str, set[str]]) -> Iterator[Problem]:
    writable = written(spot.node)
    for name in sorted(_named(rules, Required, "exit") - writable):
        if not filled.get(name):
            yield f"'{name}' must be filled to leave, but no node fills it.", "List it under memory."
    for name in sorted(_named(rules, Frozen) & writable):
        empty_first = name in _named(rules, Empty, "entry") & _named(rules, Required, "exit")
        if filled.get(name) == {spot.name} and not empty_first:
            yield f"'{name}' must not change here, but this is the only node that fills it.", "Drop one of the two."
