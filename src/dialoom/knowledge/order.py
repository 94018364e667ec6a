"""Dependencies between sources: the order they are called in, and what makes a plan feasible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter

from dialoom.errors import UnknownName, UsageError
from dialoom.knowledge.base import Source


def call_order(sources: Sequence[Source]) -> tuple[str, ...]:
    """Names so that every source comes after those it depends on; otherwise as declared.

    Raises `UsageError` for two sources of one name or a cycle, `UnknownName` for an undeclared dependency.
    """
    names = [source.name for source in sources]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise UsageError(f"Two knowledge sources are called '{min(twice)}'.", hint="Give each source its own name.")
    for source in sources:
        for needed in source.depends_on:
            if needed not in names:
                raise UnknownName("knowledge source", needed, names, hint=f"'{source.name}' depends on it.")
    sorter = TopologicalSorter({source.name: source.depends_on for source in sources})
    try:
        sorter.prepare()
    except CycleError as error:
        circle = " -> ".join(error.args[1])
        raise UsageError(
            f"Knowledge sources depend on each other in a circle: {circle}.", hint="Remove one of these dependencies."
        ) from error
    order: list[str] = []
    while sorter.is_active():
        ready = sorted(sorter.get_ready(), key=names.index)
        order += ready
        sorter.done(*ready)
    return tuple(order)


def closed(wanted: Iterable[str], sources: Sequence[Source]) -> tuple[str, ...]:
    """`wanted` with everything it depends on, in call order. Raises `UnknownName` for a source there is not."""
    by_name = {source.name: source for source in sources}
    needed: set[str] = set()
    stack = list(wanted)
    while stack:
        name = stack.pop()
        if name not in by_name:
            raise UnknownName("knowledge source", name, by_name)
        if name not in needed:
            needed.add(name)
            stack += by_name[name].depends_on
    return tuple(name for name in call_order(sources) if name in needed)


def feasible(plan: Sequence[str], sources: Sequence[Source]) -> bool:
    """Whether every source of `plan` exists and comes after all that it depends on."""
    by_name = {source.name: source for source in sources}
    done: set[str] = set()
    for name in plan:
        if name not in by_name or not done.issuperset(by_name[name].depends_on):
            return False
        done.add(name)
    return True
