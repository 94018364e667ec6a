"""Computations from Lispress and from JSON, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from dialoom.dataflow.computation import Call, Computation, Constant, walk
from dialoom.dataflow.library import Library
from dialoom.dataflow.lispress import Expression, Form, Symbol, Text, Typed, read, write
from dialoom.dataflow.types import DYNAMIC, Type
from dialoom.errors import InvalidRule, UnknownName

_LONG = re.compile(r"[+-]?\d+L")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_LET = Symbol("let")


class Builder(Protocol):
    """What turns names and arguments into nodes: a `Library`, or `Unchecked`."""

    def call(
        self, name: str, *arguments: Any, type_arguments: Sequence[Type] = (), keywords: Sequence[str] = ()
    ) -> Call:
        """A call node."""
        ...

    def constant(self, value: Any) -> Constant:
        """A value node."""
        ...

    def is_type(self, expected: Type, actual: Type) -> bool:
        """Whether a node of type `actual` may be ascribed `expected`."""
        ...


class Unchecked:
    """Builds nodes of any function without types: for reading programs whose functions are not at hand."""

    def call(
        self, name: str, *arguments: Any, type_arguments: Sequence[Type] = (), keywords: Sequence[str] = ()
    ) -> Call:
        """A call node of type Dynamic."""
        return Call(name, tuple(arguments), tuple(keywords), tuple(type_arguments))

    def constant(self, value: Any) -> Constant:
        """A value node."""
        return Library().constant(value)

    def is_type(self, expected: Type, actual: Type) -> bool:  # noqa: ARG002 (a port's signature)
        """Always."""
        return True


def from_lispress(text: str, builder: Builder, given: Mapping[str, Computation] | None = None) -> Computation:
    """The computation that a program denotes. `let` gives shared nodes, `^T x` is checked, strings are trimmed.

    `given` are variables from outside: a node each, so that no value is ever read as a piece of program.
    Raises `InvalidRule` for a syntax or type error and `UnknownName` for a function or argument that is not there.
    """
    return _Reading(builder).run(read(text), dict(given or {}))


class _Reading:
    """A stack machine over an expression, so that depth is bounded by memory only."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.values: list[Computation] = []
        self.tasks: list[tuple[Any, ...]] = []

    def run(self, expression: Expression, given: dict[str, Computation]) -> Computation:
        self.tasks.append((self.visit, expression, given))
        while self.tasks:
            step, *arguments = self.tasks.pop()
            step(*arguments)
        return self.values.pop()

    def visit(self, expression: Expression, scope: dict[str, Computation]) -> None:
        if isinstance(expression, Typed):
            self.tasks.append((self.ascribe, expression.type))
            self.tasks.append((self.visit, expression.body, scope))
        elif isinstance(expression, Form):
            self.form(expression, scope)
        elif isinstance(expression, Text):
            self.values.append(self.builder.constant(expression.value.strip()))
        else:
            self.values.append(self.symbol(expression.name, scope))

    def symbol(self, name: str, scope: dict[str, Computation]) -> Computation:
        if name in scope:
            return scope[name]
        if _LONG.fullmatch(name):
            return self.builder.constant(int(name[:-1]))
        if _NUMBER.fullmatch(name):
            return self.builder.constant(float(name))
        if name in ("true", "false"):
            return self.builder.constant(name == "true")
        raise UnknownName("variable", name, scope, hint="A call stands in parentheses: (Today).")

    def form(self, form: Form, scope: dict[str, Computation]) -> None:
        if not form.items:
            raise InvalidRule("Lispress: '()' calls nothing.")
        head, rest = form.items[0], form.items[1:]
        if head == _LET:
            return self.let(form, dict(scope))
        kinds: tuple[Type, ...] = ()
        if isinstance(head, Typed):
            kinds, head = _type(head.type, many=True), head.body
        if not isinstance(head, Symbol):
            raise InvalidRule(f"Lispress: {write(head)} is no function name.")
        keywords, arguments = _arguments(head.name, rest)
        self.tasks.append((self.build, head.name, len(arguments), kinds, keywords))
        self.tasks.extend((self.visit, item, scope) for item in reversed(arguments))
        return None

    def let(self, form: Form, scope: dict[str, Computation]) -> None:
        if len(form.items) != 3 or not isinstance(form.items[1], Form) or len(form.items[1].items) % 2:
            raise InvalidRule("Lispress: let takes (name value ...) and a body.")
        pairs = form.items[1].items
        self.tasks.append((self.visit, form.items[2], scope))
        for name, value in reversed(list(zip(pairs[::2], pairs[1::2], strict=True))):
            if not isinstance(name, Symbol):
                raise InvalidRule(f"Lispress: {write(name)} is no variable name.")
            self.tasks.append((lambda to, key: to.__setitem__(key, self.values.pop()), scope, name.name))
            self.tasks.append((self.visit, value, scope))

    def build(self, name: str, count: int, kinds: tuple[Type, ...], keywords: tuple[str, ...]) -> None:
        arguments = self.values[len(self.values) - count :]
        del self.values[len(self.values) - count :]
        self.values.append(self.builder.call(name, *arguments, type_arguments=kinds, keywords=keywords))

    def ascribe(self, expression: Expression) -> None:
        (expected,) = _type(expression)
        node = self.values[-1]
        if not self.builder.is_type(expected, node.type):
            raise InvalidRule(f"{node!r} has type {node.type}, and {expected} is ascribed.")


def _arguments(name: str, rest: Sequence[Expression]) -> tuple[tuple[str, ...], list[Expression]]:
    """Names and values: positional arguments first, then `:name value` pairs."""
    first = next((i for i, item in enumerate(rest) if _keyword(item)), len(rest))
    named = rest[first:]
    if len(named) % 2 or not all(map(_keyword, named[::2])):
        raise InvalidRule(f"{name}: arguments by name come as ':name value', after those by place.")
    keywords = tuple(item.name[1:] for item in named[::2] if isinstance(item, Symbol))
    return keywords, [*rest[:first], *named[1::2]]


def _keyword(item: Expression) -> bool:
    return isinstance(item, Symbol) and item.name.startswith(":")


def _type(expression: Expression, *, many: bool = False) -> tuple[Type, ...]:
    """Type expressions: `Event`, `(List Event)`; with `many` the outer list holds several."""
    if many and isinstance(expression, Form):
        return tuple(kind for item in expression.items for kind in _type(item))
    if isinstance(expression, Symbol):
        return (Type(expression.name),)
    if isinstance(expression, Form) and expression.items and isinstance(expression.items[0], Symbol):
        return (Type(expression.items[0].name, tuple(kind for item in expression.items[1:] for kind in _type(item))),)
    raise InvalidRule(f"Lispress: {write(expression)} is no type.")


def to_lispress(root: Computation) -> str:
    """The program of a computation, on one line; a node used more than once is bound by one outer `let`."""
    uses: dict[int, int] = {}
    nodes = list(walk(root))
    for node in nodes:
        for argument in node.arguments if isinstance(node, Call) else ():
            uses[id(argument)] = uses.get(id(argument), 0) + 1
    shown: dict[int, Expression] = {}
    bound: list[Expression] = []
    for node in nodes:
        expression = _expression(node, shown)
        if uses.get(id(node), 0) > 1:
            name = Symbol(f"x{len(bound) // 2}")
            bound += [name, expression]
            expression = name
        shown[id(node)] = expression
    body = shown[id(root)]
    return write(Form((_LET, Form(tuple(bound)), body)) if bound else body)


def _expression(node: Computation, shown: Mapping[int, Expression]) -> Expression:
    if isinstance(node, Constant):
        value = node.value
        if isinstance(value, bool):
            return Symbol("true" if value else "false")
        if isinstance(value, int):
            return Symbol(f"{value}L")
        if isinstance(value, float):
            return Symbol(f"{value:.0f}" if value.is_integer() else repr(value))
        if isinstance(value, str):
            return Text(value)
        raise InvalidRule(f"A {type(value).__name__} has no Lispress form.", hint="Build it by a constructor call.")
    head: Expression = Symbol(node.function)
    if node.type_arguments:
        head = Typed(Form(tuple(_type_expression(kind) for kind in node.type_arguments)), head)
    items: list[Expression] = [head]
    first = len(node.arguments) - len(node.keywords)
    for index, argument in enumerate(node.arguments):
        if index >= first:
            items.append(Symbol(f":{node.keywords[index - first]}"))
        items.append(shown[id(argument)])
    return Form(tuple(items))


def _type_expression(kind: Type) -> Expression:
    if not kind.arguments:
        return Symbol(kind.name)
    return Form((Symbol(kind.name), *(_type_expression(item) for item in kind.arguments)))


def from_json(value: Any, builder: Builder) -> Computation:
    """The computation of `{"root": id, "nodes": {id: node}}`.

    A node is `{"value": text or number}` or `{"call": name, "arguments": [ids], "named": {argument: id}}`. Raises
    `InvalidRule` for another shape and for a cycle, and `UnknownName` for an id or a function that is not there.
    """
    try:
        root, nodes = value["root"], dict(value["nodes"])
    except (TypeError, KeyError, ValueError):
        raise InvalidRule('A computation in JSON is {"root": id, "nodes": {id: node}}.') from None
    built: dict[str, Computation] = {}
    open_: set[str] = set()
    stack = [root]
    while stack:
        name = stack[-1]
        if name in built:
            stack.pop()
            continue
        if name not in nodes:
            raise UnknownName("node", str(name), map(str, nodes))
        keywords, arguments = _json_arguments(name, nodes[name])
        waiting = [item for item in arguments if item not in built]
        if waiting:
            if name in open_:
                raise InvalidRule(f"Node '{name}' is part of a cycle through '{waiting[0]}'.")
            open_.add(name)
            stack.extend(reversed(waiting))
            continue
        built[name] = _json_node(name, nodes[name], [built[item] for item in arguments], keywords, builder)
    return built[root]


def _json_arguments(name: str, node: Any) -> tuple[tuple[str, ...], list[str]]:
    if not isinstance(node, dict) or ("call" in node) == ("value" in node):
        raise InvalidRule(f"""Node '{name}' holds neither "call" nor "value", or both.""")
    arguments, named = node.get("arguments", []), node.get("named", {})
    if not isinstance(arguments, list) or not isinstance(named, dict):
        raise InvalidRule(f"Node '{name}': arguments are a list of node ids, named ones an object of them.")
    ids = [*arguments, *named.values()]
    if not all(isinstance(item, str) for item in ids):
        raise InvalidRule(f"Node '{name}': every argument is the id of a node.")
    return tuple(named), ids


def _json_node(
    name: str, node: Mapping[str, Any], arguments: list[Computation], keywords: tuple[str, ...], builder: Builder
) -> Computation:
    try:
        if "value" in node:
            if not isinstance(node["value"], str | int | float | bool):
                raise InvalidRule("a value is a text, a number, true or false.")
            return builder.constant(node["value"])
        return builder.call(node["call"], *arguments, keywords=keywords)
    except InvalidRule as error:
        raise InvalidRule(f"Node '{name}': {error.message}", hint=error.hint) from None


def to_json(root: Computation) -> dict[str, Any]:
    """What `from_json` reads. Type arguments are not kept: they are inferred again."""
    names: dict[int, str] = {}
    nodes: dict[str, Any] = {}
    for number, node in enumerate(walk(root)):
        name = names[id(node)] = f"n{number}"
        if isinstance(node, Constant):
            nodes[name] = {"value": node.value}
            continue
        ids = [names[id(item)] for item in node.arguments]
        first = len(ids) - len(node.keywords)
        nodes[name] = {"call": node.function, "arguments": ids[:first]}
        if node.keywords:
            nodes[name]["named"] = dict(zip(node.keywords, ids[first:], strict=True))
    return {"root": names[id(root)], "nodes": nodes}


UNCHECKED: Builder = Unchecked()
"""A builder that accepts every function."""

__all__ = ["DYNAMIC", "UNCHECKED", "Builder", "Unchecked", "from_json", "from_lispress", "to_json", "to_lispress"]
