"""Two written notations of grammars, GBNF and a subset of Lark, read by one parser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dialoom.errors import UsageError
from dialoom.models.grammar.expression import Chars, Choice, Concat, Expression, Grammar, Literal, Reference, Repeat
from dialoom.models.grammar.regex import class_members, from_regex, unescaped

_GBNF = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
    |(?P<define>[A-Za-z0-9_-]+(?=\s*::=))\s*::=
    |(?P<name>[A-Za-z0-9_-]+)
    |(?P<literal>"(?:[^"\\\n]|\\.)*")
    |(?P<chars>\[(?:[^\]\\]|\\.)*\])
    |(?P<any>\.)
    |\{(?P<bounds>\d*(?:,\d*)?)\}
    |(?P<op>[()|*+?])""",
    re.VERBOSE,
)
_LARK = re.compile(
    r"""(?P<space>\s+|//[^\n]*|%llguidance\s*\{\s*\})
    |[?!]?(?P<define>[a-zA-Z_][a-zA-Z0-9_]*(?=\s*:))\s*:
    |(?P<name>[a-zA-Z_][a-zA-Z0-9_]*)
    |(?P<range>"(?:[^"\\\n]|\\.)"\s*\.\.\s*"(?:[^"\\\n]|\\.)")
    |(?P<literal>"(?:[^"\\\n]|\\.)*")(?!i)
    |(?P<regex>/(?:[^/\\\n]|\\.)+/)(?![imslux])
    |(?P<op>[()|*+?\[\]])""",
    re.VERBOSE,
)


def from_gbnf(text: str) -> Grammar:
    """A GBNF grammar; its start rule is `root`. Raises `UsageError` naming the line that cannot be read."""
    return _Parser("GBNF", _GBNF, text).grammar("root")


def from_lark(text: str) -> Grammar:
    """A Lark grammar made of rules, quoted literals, ranges and plain regular expressions; it starts at `start`.

    Directives (`%import`, `%ignore`), flags, aliases and templates are refused with a `UsageError`: their meaning
    depends on a lexer, and an engine with another lexer would obey another language.
    """
    return _Parser("Lark", _LARK, text).grammar("start")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    line: int


def _tokens(notation: str, pattern: re.Pattern[str], text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = pattern.match(text, at)
        line = text.count("\n", 0, at) + 1
        if found is None or found.lastgroup is None:
            raise UsageError(f"The {notation} grammar cannot be read at line {line}: '{text[at : at + 20]}'.")
        if found.lastgroup != "space":
            yield _Token(found.lastgroup, found[found.lastgroup], line)
        at = found.end()


class _Parser:
    def __init__(self, notation: str, pattern: re.Pattern[str], text: str) -> None:
        self.notation = notation
        self.tokens = list(_tokens(notation, pattern, text))
        self.at = 0

    def grammar(self, start: str) -> Grammar:
        rules: dict[str, Expression] = {}
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind != "define":
                raise self._problem("a rule was expected")
            if token.text in rules:
                raise self._problem(f"rule '{token.text}' is defined twice")
            self.at += 1
            rules[token.text] = self._choice()
        return Grammar(rules, start).checked()

    def _problem(self, what: str) -> UsageError:
        line = self.tokens[min(self.at, len(self.tokens) - 1)].line
        return UsageError(f"The {self.notation} grammar cannot be read at line {line}: {what}.")

    def _takes(self, *operators: str) -> bool:
        if self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "op" and token.text in operators:
                self.at += 1
                return True
        return False

    def _choice(self) -> Expression:
        options = [self._concat()]
        while self._takes("|"):
            options.append(self._concat())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _concat(self) -> Expression:
        parts: list[Expression] = []
        while (part := self._part()) is not None:
            parts.append(self._suffixed(part))
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def _suffixed(self, part: Expression) -> Expression:
        while True:
            if self._takes("*"):
                part = Repeat(part)
            elif self._takes("+"):
                part = Repeat(part, 1)
            elif self._takes("?"):
                part = Repeat(part, 0, 1)
            elif self.at < len(self.tokens) and self.tokens[self.at].kind == "bounds":
                least, comma, most = self.tokens[self.at].text.partition(",")
                self.at += 1
                low = int(least or 0)
                part = Repeat(part, low, (int(most) if most else None) if comma else low)
            else:
                return part

    def _part(self) -> Expression | None:
        if self._takes("("):
            return self._closed(")")
        if self.notation == "Lark" and self._takes("["):
            return Repeat(self._closed("]"), 0, 1)
        if self.at >= len(self.tokens):
            return None
        token = self.tokens[self.at]
        part = _atom(token)
        if part is not None:
            self.at += 1
        return part

    def _closed(self, closing: str) -> Expression:
        inner = self._choice()
        if not self._takes(closing):
            raise self._problem(f"'{closing}' was expected")
        return inner


def _atom(token: _Token) -> Expression | None:
    match token.kind:
        case "name":
            return Reference(token.text)
        case "literal":
            return Literal(unescaped(token.text[1:-1]))
        case "range":
            low, high = (unescaped(end.strip()[1:-1]) for end in re.split(r"(?<=\")\s*\.\.", token.text))
            return Chars(((ord(low), ord(high)),))
        case "chars":
            return class_members(token.text[1:-1])
        case "any":
            return Chars((), negated=True)
        case "regex":
            return from_regex(token.text[1:-1].replace("\\/", "/"))
        case _:
            return None
