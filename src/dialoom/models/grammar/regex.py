"""Regular expressions as grammar expressions: the part of the syntax that describes a regular language."""

from __future__ import annotations

import re

from dialoom.errors import UsageError
from dialoom.models.grammar.expression import Chars, Choice, Concat, Expression, Literal, Repeat

_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b", "0": "\0"}
_CODE = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})")
_CLASSES: dict[str, tuple[tuple[int, int], ...]] = {
    "d": ((48, 57),),
    "w": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "s": ((9, 13), (32, 32)),
}
_MAX_CODE = 0x10FFFF


def from_regex(pattern: str) -> Expression:
    r"""The whole-text language of `pattern`.

    Groups, alternatives, classes, and greedy or lazy repetition are understood; `^` and `$` only at the ends;
    `\d`, `\w` and `\s` mean ASCII. Look-around, back-references, flags and word boundaries raise `UsageError`.
    """
    try:
        re.compile(pattern)
    except re.error as error:
        raise UsageError(f"The regular expression '{pattern}' cannot be read: {error}.") from error
    return _Reader(pattern).whole()


def unescaped(text: str) -> str:
    """A literal's text with its backslash escapes resolved."""
    return re.sub(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", lambda found: _resolved(found[1]), text)


def _resolved(escape: str) -> str:
    code = _CODE.fullmatch(escape)
    if code is not None:
        value = int(code[1] or code[2] or code[3], 16)
        if value > _MAX_CODE:
            raise UsageError(f"The escape '\\{escape}' is beyond the last code point.")
        return chr(value)
    return _SIMPLE.get(escape, escape)


def class_members(inside: str) -> Chars:
    """A character class from what stands between its brackets."""
    negated = inside.startswith("^")
    units = re.findall(
        r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\.|.", inside[1:] if negated else inside, re.DOTALL
    )
    ranges: list[tuple[int, int]] = []
    at = 0
    while at < len(units):
        unit = units[at]
        if len(unit) == 2 and unit[0] == "\\" and unit[1].lower() in _CLASSES:
            members = _CLASSES[unit[1].lower()]
            ranges.extend(members if unit[1].islower() else _outside(members))
            at += 1
        elif at + 2 < len(units) and units[at + 1] == "-":
            low, high = ord(unescaped(unit)), ord(unescaped(units[at + 2]))
            if low > high:
                raise UsageError(f"The character range '{unit}-{units[at + 2]}' runs backwards.")
            ranges.append((low, high))
            at += 3
        else:
            ranges.append((ord(unescaped(unit)),) * 2)
            at += 1
    return Chars(tuple(ranges), negated)


def _outside(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    gaps: list[tuple[int, int]] = []
    after = 0
    for low, high in sorted(ranges):
        if low > after:
            gaps.append((after, low - 1))
        after = max(after, high + 1)
    if after <= _MAX_CODE:
        gaps.append((after, _MAX_CODE))
    return tuple(gaps)


class _Reader:
    """Recursive descent over a pattern that Python's own `re` has accepted."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def whole(self) -> Expression:
        if self._takes("^"):
            pass
        parsed = self._choice()
        if self.at < len(self.pattern):
            raise self._unsupported(self.pattern[self.at])
        return parsed

    def _unsupported(self, what: str) -> UsageError:
        return UsageError(
            f"The regular expression '{self.pattern}' uses '{what}' at position {self.at}, which has no grammar.",
            hint="Use literals, classes, groups, | and bounded repetition.",
        )

    def _takes(self, text: str) -> bool:
        if self.pattern.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _choice(self) -> Expression:
        options = [self._concat()]
        while self._takes("|"):
            options.append(self._concat())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _concat(self) -> Expression:
        parts: list[Expression] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            if self.pattern[self.at :] == "$":
                self.at += 1
                break
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Concat(tuple(parts))

    def _repeated(self, body: Expression) -> Expression:
        found = re.compile(r"([*+?]|\{\d*,?\d*\})([+?]?)").match(self.pattern, self.at)
        if found is None or found[1] in ("{}", "{,}"):
            return body
        if found[2] == "+":
            raise self._unsupported(found[0])
        self.at = found.end()
        bounds = {"*": "0,", "+": "1,", "?": "0,1"}.get(found[1], found[1].strip("{}"))
        least, comma, most = bounds.partition(",")
        low = int(least or 0)
        return Repeat(body, low, (int(most) if most else None) if comma else low)

    def _atom(self) -> Expression:
        if self._takes("("):
            return self._group()
        if self._takes("["):
            return self._class()
        if self._takes("."):
            return Chars(((10, 10),), negated=True)
        if self._takes("\\"):
            return self._escape()
        char = self.pattern[self.at]
        if char in "^$":
            raise self._unsupported(char)
        self.at += 1
        return Literal(char)

    def _group(self) -> Expression:
        named = re.compile(r"\?(?::|P<\w+>)").match(self.pattern, self.at)
        if named is not None:
            self.at = named.end()
        elif self.pattern.startswith("?", self.at):
            raise self._unsupported(self.pattern[self.at - 1 : self.at + 2])
        inner = self._choice()
        if not self._takes(")"):
            raise self._unsupported(self.pattern[self.at :][:1] or "an anchor inside a group")
        return inner

    def _class(self) -> Expression:
        body = re.compile(r"\^?\]?(?:[^\]\\]|\\.)*", re.DOTALL).match(self.pattern, self.at)
        inside = body[0] if body else ""
        self.at += len(inside) + 1
        return class_members(inside)

    def _escape(self) -> Expression:
        char = self.pattern[self.at]
        if char.lower() in _CLASSES:
            self.at += 1
            return Chars(_CLASSES[char.lower()], negated=char.isupper())
        if char in "AbBZ" or char in "123456789":
            raise self._unsupported(f"\\{char}")
        code = _CODE.match(self.pattern, self.at)
        escape = code[0] if code else char
        self.at += len(escape)
        return Literal(_resolved(escape))
