"""Types of computations: names with arguments, read from Python annotations, and matched by unification."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from dialoom.errors import InvalidRule


@dataclass(frozen=True, slots=True)
class Type:
    """`name[arguments]`. A name that starts with an apostrophe is a variable; `Dynamic` matches anything."""

    name: str
    arguments: tuple[Type, ...] = ()

    @property
    def variable(self) -> bool:
        """Whether this stands for a type still to be found."""
        return self.name.startswith("'")

    def __str__(self) -> str:
        return f"{self.name}[{', '.join(map(str, self.arguments))}]" if self.arguments else self.name


DYNAMIC = Type("Dynamic")
UNION = "Union"
BUILTIN: Mapping[Any, str] = {
    str: "String",
    int: "Long",
    float: "Number",
    bool: "Boolean",
    list: "List",
    tuple: "List",
    types.NoneType: "Unit",
}


def from_annotation(annotation: Any, names: Mapping[Any, str]) -> Type:
    """The type a Python annotation means; `names` gives registered classes their names.

    Raises `InvalidRule` for a class that is not registered.
    """
    if annotation is Any:
        return DYNAMIC
    if annotation is None:
        return Type("Unit")
    if isinstance(annotation, TypeVar):
        return Type(f"'{annotation.__name__}")
    origin = typing.get_origin(annotation)
    if origin in (typing.Union, types.UnionType):
        members = [item for item in typing.get_args(annotation) if item is not types.NoneType]
        inner = tuple(from_annotation(item, names) for item in members)
        return inner[0] if len(inner) == 1 else Type(UNION, inner)
    base = origin or annotation
    name = names.get(base) or BUILTIN.get(base)
    if name is None:
        shown = getattr(base, "__name__", str(base))
        raise InvalidRule(f"The type '{shown}' is not registered.", hint="Decorate it with `@library.type`.")
    arguments = tuple(from_annotation(item, names) for item in typing.get_args(annotation) if item is not Ellipsis)
    return Type(name, arguments)


def substitute(kind: Type, bindings: Mapping[str, Type]) -> Type:
    """`kind` with its variables replaced where they are bound."""
    if kind.variable:
        bound = bindings.get(kind.name)
        return kind if bound is None else bound
    if not kind.arguments:
        return kind
    return Type(kind.name, tuple(substitute(item, bindings) for item in kind.arguments))


def variables(kinds: Iterable[Type]) -> tuple[str, ...]:
    """Variable names in order of first appearance."""
    found: dict[str, None] = {}
    pending = list(kinds)[::-1]
    while pending:
        kind = pending.pop()
        if kind.variable:
            found[kind.name] = None
        pending += kind.arguments[::-1]
    return tuple(found)


def accepts(expected: Type, actual: Type, bindings: dict[str, Type], ancestors: Mapping[str, frozenset[str]]) -> bool:
    """Whether a value of type `actual` may stand where `expected` is asked for; binds variables of `expected`.

    A variable left in `actual` is a value whose type nothing has fixed (`EmptyStructConstraint` without a type
    argument): it fits everywhere. `ancestors` gives each registered class the names of its base classes.
    """
    if expected.variable:
        known = bindings.get(expected.name)
        if known is None or known.variable:
            bindings[expected.name] = actual
            return True
        return accepts(known, actual, bindings, ancestors)
    if actual.variable or DYNAMIC in (expected, actual):
        return True
    if expected.name == UNION:
        return any(accepts(item, actual, bindings, ancestors) for item in expected.arguments)
    if expected.name != actual.name:
        if expected.arguments:
            return False
        return expected.name in ancestors.get(actual.name, frozenset()) or (expected.name, actual.name) == (
            "Number",
            "Long",
        )
    if not expected.arguments or not actual.arguments:
        return True
    return len(expected.arguments) == len(actual.arguments) and all(
        accepts(left, right, bindings, ancestors)
        for left, right in zip(expected.arguments, actual.arguments, strict=True)
    )
