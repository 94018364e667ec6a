"""An exact recogniser: is a text in the language of a grammar?

It shares no code with the engines that decode under a grammar, so that it can catch the one that ignored it.
"""

from __future__ import annotations

from dialoom.models.grammar.expression import (
    Chars,
    Choice,
    Concat,
    Expression,
    Grammar,
    Literal,
    Reference,
    Repeat,
)


def matches(grammar: Grammar, text: str) -> bool:
    """Whether all of `text` is derived by a `checked` grammar.

    Time is polynomial in the text. Raises `RecursionError` for a text nested beyond Python's stack.
    """
    return len(text) in _Matcher(grammar, text).ends(Reference(grammar.start), 0)


class _Matcher:
    """Where each rule can end, by where it starts; termination rests on the absence of left recursion."""

    def __init__(self, grammar: Grammar, text: str) -> None:
        self.rules = grammar.rules
        self.text = text
        self.known: dict[tuple[str, int], frozenset[int]] = {}

    def ends(self, expression: Expression, at: int) -> frozenset[int]:
        match expression:
            case Literal(text):
                return frozenset((at + len(text),)) if self.text.startswith(text, at) else frozenset()
            case Chars():
                fits = at < len(self.text) and expression.holds(self.text[at])
                return frozenset((at + 1,)) if fits else frozenset()
            case Concat(parts):
                reached = frozenset((at,))
                for part in parts:
                    reached = self._after(part, reached)
                return reached
            case Choice(options):
                return frozenset().union(*(self.ends(option, at) for option in options))
            case Repeat(body, least, most):
                return self._repeated(body, least, most, at)
            case Reference(name):
                if (name, at) not in self.known:
                    self.known[name, at] = self.ends(self.rules[name], at)
                return self.known[name, at]

    def _after(self, expression: Expression, starts: frozenset[int]) -> frozenset[int]:
        return frozenset().union(*(self.ends(expression, start) for start in starts))

    def _repeated(self, body: Expression, least: int, most: int | None, at: int) -> frozenset[int]:
        fresh = frozenset((at,))
        for _ in range(least):
            fresh = self._after(body, fresh)
        reached = fresh
        left = most - least if most is not None else len(self.text) + 1
        while fresh and left > 0:
            fresh = self._after(body, fresh) - reached
            reached |= fresh
            left -= 1
        return reached
