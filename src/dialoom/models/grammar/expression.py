"""Context-free grammars over characters as values, and their one printed form, GBNF.

Every constraint becomes such a grammar, whatever notation it came in. What an engine receives is printed here, so a
grammar that the engine would refuse, or worse ignore, cannot be sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dialoom.errors import UsageError

MAX_REPEAT = 1000
"""Largest bound of one repetition: llama.cpp unrolls repetitions and refuses much larger ones."""


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly this text; the empty text is allowed."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character inside (or, `negated`, outside) the code point ranges, ends included."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False

    def holds(self, char: str) -> bool:
        """Whether `char` is one of them."""
        code = ord(char)
        return any(low <= code <= high for low, high in self.ranges) is not self.negated


@dataclass(frozen=True, slots=True)
class Concat:
    """The parts one after another."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options."""

    options: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` at least `least` and at most `most` times (None: without bound)."""

    body: Expression
    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """Another rule, by name."""

    name: str


Expression = Literal | Chars | Concat | Choice | Repeat | Reference

_Test = Callable[[Expression, set[str]], bool]


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts of an expression."""
    match expression:
        case Concat(parts):
            return parts
        case Choice(options):
            return options
        case Repeat(body):
            return (body,)
        case _:
            return ()


def references(expression: Expression) -> Iterator[str]:
    """Names an expression refers to, in order."""
    if isinstance(expression, Reference):
        yield expression.name
    for child in children(expression):
        yield from references(child)


@dataclass(frozen=True, slots=True)
class Grammar:
    """Rules by name and the one to start from; `checked` before use."""

    rules: Mapping[str, Expression]
    start: str

    def checked(self) -> Grammar:
        """This grammar without its dead alternatives.

        Raises `UsageError` for an undefined rule, a language without a single text, left recursion, or a repetition
        beyond `MAX_REPEAT`. Engines answer these with endless or unconstrained text, so none of them gets there.
        """
        defined = ", ".join(sorted(self.rules)) or "none"
        if self.start not in self.rules:
            raise UsageError(f"The grammar has no start rule '{self.start}'. Defined: {defined}.")
        for name, body in self.rules.items():
            for used in references(body):
                if used not in self.rules:
                    raise UsageError(f"Grammar rule '{name}' uses '{used}', which is not defined. Defined: {defined}.")
            _check_repeats(name, body)
        productive = _fixpoint(self.rules, _is_productive)
        if self.start not in productive:
            raise UsageError(f"The grammar's language is empty: no text can be derived from '{self.start}'.")
        rules = {name: _pruned(self.rules[name], productive) for name in productive}
        _check_left_recursion(rules)
        return Grammar(rules, self.start)

    def gbnf(self) -> str:
        """The grammar in llama.cpp's notation, with its start rule named `root` and every other rule renamed."""
        names = {name: f"r{number}" for number, name in enumerate(self.rules)}
        names[self.start] = "root"
        lines = [f"{names[name]} ::= {printed(body, names)}" for name, body in self.rules.items()]
        return "\n".join(lines) + "\n"


def _check_repeats(name: str, body: Expression) -> None:
    if isinstance(body, Repeat):
        bound = body.least if body.most is None else body.most
        if bound > MAX_REPEAT or body.least < 0 or (body.most is not None and body.most < body.least):
            bounds = f"{{{body.least},{'' if body.most is None else body.most}}}"
            raise UsageError(f"Grammar rule '{name}' repeats {bounds}; bounds must rise and not pass {MAX_REPEAT}.")
    for child in children(body):
        _check_repeats(name, child)


def _fixpoint(rules: Mapping[str, Expression], holds: _Test) -> set[str]:
    found: set[str] = set()
    while True:
        grown = {name for name, body in rules.items() if holds(body, found)}
        if grown == found:
            return found
        found = grown


def _is_productive(expression: Expression, known: set[str]) -> bool:
    match expression:
        case Reference(name):
            return name in known
        case Choice(options):
            return any(_is_productive(option, known) for option in options)
        case Repeat(body, least):
            return least == 0 or _is_productive(body, known)
        case Chars(ranges, negated):
            return bool(ranges) or negated
        case _:
            return all(_is_productive(child, known) for child in children(expression))


def _is_nullable(expression: Expression, known: set[str]) -> bool:
    match expression:
        case Reference(name):
            return name in known
        case Literal(text):
            return not text
        case Chars():
            return False
        case Choice(options):
            return any(_is_nullable(option, known) for option in options)
        case Repeat(body, least):
            return least == 0 or _is_nullable(body, known)
        case Concat(parts):
            return all(_is_nullable(part, known) for part in parts)


def _pruned(expression: Expression, productive: set[str]) -> Expression:
    match expression:
        case Concat(parts):
            return Concat(tuple(_pruned(part, productive) for part in parts))
        case Choice(options):
            alive = [option for option in options if _is_productive(option, productive)]
            return Choice(tuple(_pruned(option, productive) for option in alive))
        case Repeat(body, least, most):
            return Repeat(_pruned(body, productive), least, most) if _is_productive(body, productive) else Literal("")
        case _:
            return expression


def _leftmost(expression: Expression, nullable: set[str]) -> Iterator[str]:
    match expression:
        case Reference(name):
            yield name
        case Concat(parts):
            for part in parts:
                yield from _leftmost(part, nullable)
                if not _is_nullable(part, nullable):
                    return
        case _:
            for child in children(expression):
                yield from _leftmost(child, nullable)


def _check_left_recursion(rules: Mapping[str, Expression]) -> None:
    nullable = _fixpoint(rules, _is_nullable)
    edges = {name: set(_leftmost(body, nullable)) for name, body in rules.items()}
    for name in rules:
        reached: set[str] = set()
        waiting = list(edges[name])
        while waiting:
            other = waiting.pop()
            if other not in reached:
                reached.add(other)
                waiting.extend(edges[other])
        if name in reached:
            raise UsageError(
                f"Grammar rule '{name}' is left-recursive.", hint="Put a literal first, or repeat the part with *."
            )


def printed(expression: Expression, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """An expression in GBNF, its references renamed by `names`."""
    match expression:
        case Literal(text):
            return '"' + "".join(_escaped(char, '"\\') for char in text) + '"'
        case Chars((), True):
            return "."
        case Chars(ranges, negated):
            shown = "".join(
                _escaped(chr(low), "[]^-\\") + (f"-{_escaped(chr(high), '[]^-' + chr(92))}" if high > low else "")
                for low, high in ranges
            )
            return f"[{'^' if negated else ''}{shown}]"
        case Concat(parts):
            return " ".join(_grouped(part, names) for part in parts) or '""'
        case Choice(options):
            return " | ".join(_grouped(option, names) for option in options)
        case Repeat(body, 0, None):
            return f"{_grouped(body, names)}*"
        case Repeat(body, least, most):
            return f"{_grouped(body, names)}{{{least},{'' if most is None else most}}}"
        case Reference(name):
            return names[name]


def _grouped(expression: Expression, names: Mapping[str, str]) -> str:
    shown = printed(expression, names)
    return f"({shown})" if isinstance(expression, Concat | Choice | Repeat) else shown


def _escaped(char: str, special: str) -> str:
    code = ord(char)
    if char in special:
        return f"\\x{code:02X}" if char in "^-" else f"\\{char}"
    if 0x20 <= code < 0x7F:
        return char
    return f"\\x{code:02X}" if code < 0x80 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
