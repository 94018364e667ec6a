r"""Response templates: what a rule says, with holes for what it found (dataflow transduction, sec. 3.1).

text            itself
{PP <date>}     whatever the rules for PP say about the node bound to `date`
{<n>}           the value of `n`, verbatim;  {<n>:.2f} with a Python format
{plural <n> event|events}   the first form for 1, else the second
{article <x>}   "a" or "an", as the text of the value asks
[a|b]           one of several;  [a] is optional, and so is [a|]
\{ \[ \| ...    a character itself
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from dialoom.errors import InvalidRule

_HOLE = re.compile(
    r"(?:(?P<helper>plural|article)\s+)?(?:(?P<type>[A-Z]\w*)\s+)?<(?P<variable>[A-Za-z_]\w*)>(?P<rest>.*)", re.DOTALL
)
_SPECIAL = "\\{}[]|<>"


@dataclass(frozen=True, slots=True)
class Slot:
    """`{NT <variable>}`."""

    type: str
    variable: str


@dataclass(frozen=True, slots=True)
class Verbatim:
    """`{<variable>:format}`."""

    variable: str
    format: str = ""

    def text(self, value: Any) -> str:
        """The value as text."""
        return format(value, self.format)


@dataclass(frozen=True, slots=True)
class Plural:
    """`{plural <variable> one|many}`."""

    variable: str
    one: str
    many: str

    def text(self, value: Any) -> str:
        """The form that agrees with the number."""
        return self.one if value == 1 else self.many


@dataclass(frozen=True, slots=True)
class Article:
    """`{article <variable>}`."""

    variable: str

    def text(self, value: Any) -> str:
        """The article: `an` before a vowel letter or a number spoken with one (8, 11, 18), else `a`."""
        word = str(value).lstrip("\"'(").lower()
        return "an" if re.match(r"[aeio]|u(?!ni|se|sa)|8|1[18](?!\d)", word) else "a"


@dataclass(frozen=True, slots=True)
class Choice:
    """`[a|b]`: exactly one of the alternatives; an empty one makes it optional."""

    alternatives: tuple[tuple[Part, ...], ...]


Filled = Verbatim | Plural | Article
Part = str | Slot | Verbatim | Plural | Article | Choice
Template = tuple[Part, ...]


def parse(source: str) -> Template:
    """The parts of a template. Raises `InvalidRule` with the column (1-based) of what cannot be read."""
    reader = _Reader(source)
    return reader.sequence(stop="")


def parts_of(template: Template) -> Iterator[Part]:
    """Every part, with those inside choices."""
    for part in template:
        yield part
        if isinstance(part, Choice):
            for alternative in part.alternatives:
                yield from parts_of(alternative)


def escape(text: str) -> str:
    """A template that says exactly `text`."""
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in text)


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.place = 0

    def sequence(self, stop: Literal["", "|]"]) -> Template:
        parts: list[Part] = []
        text: list[str] = []
        while self.place < len(self.source) and (char := self.source[self.place]) not in stop:
            if char == "\\":
                text.append(self.escaped())
                continue
            if char not in "{}[]|":
                text.append(char)
                self.place += 1
                continue
            if text:
                parts.append("".join(text))
                text = []
            if char == "{":
                parts.append(self.hole())
            elif char == "[":
                parts.append(self.choice())
            else:
                raise self.error(f"'{char}' stands alone; write \\{char} for the character")
        if text:
            parts.append("".join(text))
        return tuple(parts)

    def escaped(self) -> str:
        char = self.source[self.place + 1 : self.place + 2]
        if not char or char not in _SPECIAL:
            raise self.error(f"a backslash stands before one of {_SPECIAL}")
        self.place += 2
        return char

    def choice(self) -> Choice:
        begin = self.place
        alternatives: list[Template] = []
        while True:
            self.place += 1
            alternatives.append(self.sequence(stop="|]"))
            if self.place >= len(self.source):
                self.place = begin
                raise self.error("'[' is never closed")
            if self.source[self.place] == "]":
                self.place += 1
                break
        if len(alternatives) == 1:
            alternatives.append(())
        return Choice(tuple(alternatives))

    def hole(self) -> Slot | Filled:
        end = self.source.find("}", self.place)
        match = _HOLE.fullmatch(self.source[self.place + 1 : end].strip()) if end >= 0 else None
        if match is None:
            raise self.error("'{' opens a hole such as {NT <x>}, {<x>} or {plural <n> one|many}")
        helper, kind, variable, rest = match["helper"], match["type"], match["variable"], match["rest"]
        part: Slot | Filled | None = None
        if helper == "plural" and not kind and rest.count("|") == 1:
            one, many = rest.strip().split("|")
            part = Plural(variable, one, many)
        elif helper == "article" and not kind and not rest:
            part = Article(variable)
        elif kind and not helper and not rest:
            part = Slot(kind, variable)
        elif not kind and not helper and (not rest or rest.startswith(":")):
            part = Verbatim(variable, rest[1:])
        if part is None:
            raise self.error(f"'{self.source[self.place : end + 1]}' is no hole")
        self.place = end + 1
        return part

    def error(self, problem: str) -> InvalidRule:
        return InvalidRule(f"template, column {self.place + 1}: {problem}.")
