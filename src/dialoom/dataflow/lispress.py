"""Lispress, the notation of SMCalFlow 2.0: text to expressions and back, exactly.

An expression is a symbol, a string, a list or a typed form. `^T x` ascribes the type T to x; `^(T U)` before the first
item of a list gives a function its type arguments. Source: the corpus's own syntax notes (README-LISPRESS).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from dialoom.errors import InvalidRule

_WORD = re.compile(r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<mark>[()^])|(?P<symbol>[^\s()"^]+))', re.DOTALL)
_END = re.compile(r"\s*\Z")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name, a number or `true`/`false`, as written."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A string, unescaped; surrounding space kept as written."""

    value: str


@dataclass(frozen=True, slots=True)
class Form:
    """A list of expressions in parentheses."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Typed:
    """`^type body`."""

    type: Expression
    body: Expression


Expression = Symbol | Text | Form | Typed


def read(text: str) -> Expression:
    """The one expression in `text`. Raises `InvalidRule` with line and column. Depth is bounded by memory only."""
    # Each open bracket is [items]; an open `^` is [] or [type] with a marker, closed as soon as it holds two.
    stack: list[tuple[bool, int, list[Expression]]] = []
    result: Expression | None = None
    for kind, word, place in _words(text):
        if result is not None:
            raise _error(text, place, f"unexpected '{word}' after the expression")
        if word == "(" or (kind == "mark" and word == "^"):
            stack.append((word == "^", place, []))
            continue
        if word == ")" and kind == "mark":
            if not stack or stack[-1][0]:
                raise _error(text, place, "')' closes nothing")
            value: Expression = Form(tuple(stack.pop()[2]))
        else:
            value = Text(_unescape(text, place, word)) if kind == "string" else Symbol(word)
        result = _attach(stack, value)
    if stack:
        raise _error(text, stack[-1][1], "'^' without its expression" if stack[-1][0] else "'(' is never closed")
    if result is None:
        raise _error(text, 0, "there is no expression")
    return result


def write(expression: Expression) -> str:
    """The expression on one line, as the corpus writes it: `read(write(x)) == x`."""
    out: list[str] = []
    stack: list[Expression | str] = [expression]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
        elif isinstance(item, Symbol):
            out.append(item.name)
        elif isinstance(item, Text):
            out.append(json.dumps(item.value, ensure_ascii=False))
        elif isinstance(item, Typed):
            stack += [item.body, " ", item.type, "^"]
        else:
            stack.append(")")
            for index in range(len(item.items) - 1, -1, -1):
                stack.append(item.items[index])
                if index:
                    stack.append(" ")
            stack.append("(")
    return "".join(out)


def _attach(stack: list[tuple[bool, int, list[Expression]]], value: Expression) -> Expression | None:
    """Put a finished expression where it belongs; the whole expression once nothing is open."""
    while stack:
        typed, _, items = stack[-1]
        items.append(value)
        if not typed or len(items) < 2:
            return None
        stack.pop()
        value = Typed(items[0], items[1])
    return value


def _words(text: str) -> Iterator[tuple[str, str, int]]:
    place = 0
    while not _END.match(text, place):
        match = _WORD.match(text, place)
        if match is None:
            raise _error(text, text.index('"', place), "a string is never closed")
        kind = match.lastgroup or ""
        yield kind, match[kind], match.start(kind)
        place = match.end()


def _unescape(text: str, place: int, word: str) -> str:
    try:
        value: str = json.loads(word, strict=False)
    except ValueError:
        raise _error(text, place, f"the string {word} has an unknown escape") from None
    return value


def _error(text: str, place: int, problem: str) -> InvalidRule:
    line = text.count("\n", 0, place) + 1
    column = place - (text.rfind("\n", 0, place) + 1) + 1
    return InvalidRule(f"Lispress, line {line}, column {column}: {problem}.", hint="Check parentheses and quotes.")
