"""A constraint made ready: what to send to an engine, and an own check of what came back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from dialoom.errors import UsageError
from dialoom.models.base import Constraint, ConstraintKind
from dialoom.models.grammar.expression import Choice, Grammar, Literal
from dialoom.models.grammar.matching import matches
from dialoom.models.grammar.notation import from_gbnf, from_lark
from dialoom.models.grammar.regex import from_regex
from dialoom.models.grammar.schema import from_json_schema

ALL_KINDS: frozenset[ConstraintKind] = frozenset({"json_schema", "lark", "gbnf", "regex", "choice"})


@dataclass(frozen=True, slots=True)
class Compiled:
    """A valid constraint: its `kind`, the `grammar` an engine should decode under, and the schema if it is one."""

    kind: ConstraintKind
    grammar: Grammar
    schema: Any = None

    def problem(self, text: str) -> str:
        """Why `text` breaks the constraint; empty when it obeys."""
        if self.kind == "json_schema":
            return _json_problem(self.schema, text)
        try:
            obeys = matches(self.grammar, text)
        except RecursionError:
            return "the text is nested too deeply to be checked"
        return "" if obeys else f"the text is not in the language of the {self.kind} constraint"


def compiled(constraint: Constraint) -> Compiled:
    """The constraint, checked and turned into a grammar. Raises `UsageError` naming what is wrong with it.

    Equal constraints are compiled once; the copy that is kept does not change with the caller's value.
    """
    try:
        text = json.dumps(constraint.value)
    except (TypeError, ValueError, RecursionError):
        return _compiled(constraint.kind, constraint.value)
    return _kept(constraint.kind, text)


@lru_cache(maxsize=256)
def _kept(kind: ConstraintKind, text: str) -> Compiled:
    """By the value's JSON as written: the order of a schema's properties is part of its grammar."""
    return _compiled(kind, json.loads(text))


def _compiled(kind: ConstraintKind, value: Any) -> Compiled:
    if kind == "json_schema":
        return Compiled(kind, from_json_schema(value), value)
    if kind == "choice":
        if isinstance(value, str) or not value or not all(isinstance(one, str) and one for one in value):
            raise UsageError("A choice constraint needs one or more non-empty texts.")
        return Compiled(kind, Grammar({"choice": Choice(tuple(map(Literal, value)))}, "choice"))
    if kind not in ALL_KINDS:
        raise UsageError(f"Unknown constraint kind '{kind}'. Valid: {', '.join(sorted(ALL_KINDS))}.")
    if not isinstance(value, str):
        raise UsageError(f"A {kind} constraint is a text, not {type(value).__name__}.")
    if kind == "regex":
        return Compiled(kind, Grammar({"regex": from_regex(value)}, "regex").checked())
    return Compiled(kind, from_gbnf(value) if kind == "gbnf" else from_lark(value))


def _json_problem(schema: Any, text: str) -> str:
    try:
        value = json.loads(text, parse_constant=partial(_refuse, text))
    except (ValueError, RecursionError) as error:
        return f"the text is not JSON ({error})"
    broken = best_match(Draft202012Validator(schema).iter_errors(value))
    if broken is None:
        return ""
    place = "/".join(str(part) for part in broken.absolute_path) or "the top"
    return f"the JSON breaks the schema at {place}: {broken.message}"


def _refuse(text: str, constant: str) -> None:
    raise ValueError(f"{constant} in {text[:40]!r}")
