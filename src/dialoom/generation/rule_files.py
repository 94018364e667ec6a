"""Rules too simple for Python, as YAML: a pattern over a computation and what to say about it. Data only.

    rules:
      - head: PP
        match: (NextDOW <day>)
        say: on {DAY <day>}

A pattern is Lispress: `<x>` binds a node, `_` matches any, strings and numbers match themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from dialoom.dataflow import Call, Computation, Constant, Graph
from dialoom.dataflow.lispress import Expression, Form, Symbol, Text, Typed, read
from dialoom.errors import InvalidFile, InvalidRule
from dialoom.files import read_text
from dialoom.generation.rules import Bindings, Body, Rules

MAX_BYTES = 4 * 1024 * 1024
_FIELDS = {"head", "match", "say", "weight"}


def load_rules(path: Path | str) -> Rules:
    """The rules of a YAML file. Raises `InvalidFile` with the line of what is wrong."""
    source = read_text(path, limit=MAX_BYTES)
    try:
        root = yaml.compose(source, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise InvalidFile(path, f"not YAML ({error}).") from error
    rules = Rules()
    entries = _mapping(path, root).get("rules") if root is not None else None
    if not isinstance(entries, yaml.SequenceNode):
        raise InvalidFile(path, "expected a list under 'rules'.")
    for entry in entries.value:
        line = entry.start_mark.line + 1
        fields = _mapping(path, entry)
        unknown = set(fields) - _FIELDS
        if unknown or not {"head", "match", "say"} <= set(fields):
            raise InvalidFile(path, "a rule has head, match, say and perhaps weight.", place=f"line {line}")
        try:
            _add(rules, f"{Path(path).name}, line {line}", fields)
        except (InvalidRule, ValueError) as error:
            raise InvalidFile(path, str(error), place=f"line {line}") from None
    return rules


def _add(rules: Rules, place: str, fields: dict[str, Any]) -> None:
    say = fields["say"]
    templates = tuple(item.value for item in say.value) if isinstance(say, yaml.SequenceNode) else (say.value,)
    pattern = read(str(fields["match"].value))
    head = str(fields["head"].value)
    weight = float(fields["weight"].value) if "weight" in fields else 1.0
    name = f"{head} {fields['match'].value}"
    rules.add(head, templates, _body(pattern), name=name, place=place, weight=weight, functions=_functions(pattern))


def _mapping(path: Path | str, node: Any) -> dict[str, Any]:
    if not isinstance(node, yaml.MappingNode):
        raise InvalidFile(path, "expected a mapping.", place=f"line {node.start_mark.line + 1}")
    return {str(key.value): value for key, value in node.value}


def _body(pattern: Expression) -> Body:
    def body(node: Computation, graph: Graph) -> Bindings:  # noqa: ARG001 (a body's signature)
        found: dict[str, Computation] = {}
        return found if _matches(pattern, node, found) else None

    return body


def _matches(pattern: Expression, node: Computation, found: dict[str, Computation]) -> bool:
    if isinstance(pattern, Typed):
        return _matches(pattern.body, node, found)
    if isinstance(pattern, Symbol) and pattern.name == "_":
        return True
    if isinstance(pattern, Symbol) and pattern.name.startswith("<"):
        return found.setdefault(pattern.name.strip("<>"), node) is node
    if isinstance(pattern, Form):
        return (
            isinstance(node, Call)
            and len(node.arguments) == len(pattern.items) - 1
            and pattern.items[:1] == (Symbol(node.function),)
            and all(map(lambda p, n: _matches(p, n, found), pattern.items[1:], node.arguments))
        )
    return isinstance(node, Constant) and node.value == _literal(pattern)


def _literal(pattern: Text | Symbol) -> object:
    if isinstance(pattern, Text):
        return pattern.value
    if pattern.name in ("true", "false"):
        return pattern.name == "true"
    return int(pattern.name[:-1]) if pattern.name.endswith("L") else float(pattern.name)


def _functions(pattern: Expression) -> tuple[str, ...]:
    """Function names in a pattern; raises `InvalidRule` for a symbol that is neither variable nor literal."""
    if isinstance(pattern, Form):
        if not pattern.items or not isinstance(pattern.items[0], Symbol):
            raise InvalidRule("a pattern names its function first, as in (NextDOW <day>).")
        inner = tuple(name for item in pattern.items[1:] for name in _functions(item))
        return (pattern.items[0].name, *inner)
    if isinstance(pattern, Symbol) and pattern.name != "_" and not pattern.name.startswith("<"):
        try:
            _literal(pattern)
        except ValueError:
            raise InvalidRule(f"'{pattern.name}' is no variable: write <{pattern.name}> or _.") from None
    return ()
