"""Computations as immutable graphs: calls and constants, compared by identity, so that a shared node is one node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dialoom.dataflow.types import DYNAMIC, Type


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A plain value."""

    value: Any
    type: Type = DYNAMIC

    __match_args__ = ("value",)

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A function applied to arguments. `keywords` names the last of them, those given by name.

    In a rule: `case Call("EventOnDate", (date, event))`.
    """

    function: str
    arguments: tuple[Computation, ...] = ()
    keywords: tuple[str, ...] = ()
    type_arguments: tuple[Type, ...] = ()
    type: Type = DYNAMIC

    __match_args__ = ("function", "arguments")

    def __repr__(self) -> str:
        return f"Call({self.function}, {len(self.arguments)} arguments)"


Computation = Constant | Call


def walk(root: Computation) -> Iterator[Computation]:
    """Every node once, arguments before the call that uses them. Depth is bounded by memory only."""
    seen: set[int] = set()
    stack: list[tuple[Computation, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
            continue
        if id(node) in seen:
            continue
        seen.add(id(node))
        stack.append((node, True))
        if isinstance(node, Call):
            stack.extend((argument, False) for argument in reversed(node.arguments))


def label(node: Computation, limit: int = 60) -> str:
    """A short name of a node for messages: its function with the names of its arguments, or its value."""
    if isinstance(node, Constant):
        text = repr(node.value)
    else:
        inner = (
            repr(item.value) if isinstance(item, Constant) else f"{item.function}{'(...)' if item.arguments else '()'}"
            for item in node.arguments[:8]
        )
        text = f"{node.function}({', '.join(inner)})"
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
