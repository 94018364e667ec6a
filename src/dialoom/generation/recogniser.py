"""Our own exact recogniser: Earley's algorithm over characters, independent of every decoding engine.

What it rejects is never shown. Terminals are whole literals, scanned at their full length, so that literals which are
prefixes of one another need no care. Empty productions follow Aycock and Horspool (2002).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Union

from dialoom.generation.derivations import Derivation, shortest_texts
from dialoom.generation.grammar import Grammar

# (production, dot, begin, end): the symbols before the dot derive text[begin:end].
_Item = tuple[int, int, int, int]
# How an item came to be: the item before its last symbol, and the complete item of that symbol (None for a literal).
_Step = tuple[_Item, _Item | None]
_Todo = Union[tuple[_Item, "_Todo"], None]  # noqa: UP007 (a recursive alias)
_Steps = Union[tuple[int, "_Steps"], None]  # noqa: UP007


class Recogniser:
    """Membership and parsing for one grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self._symbols = [production.symbols for production in grammar.productions]
        self._least: list[str] | None = None

    def accepts(self, text: str) -> bool:
        """Whether `text` is in the language, exactly."""
        chart = self._parse(text)
        return any(goal in chart.steps for goal in self._goals(text))

    def derivation(self, text: str) -> Derivation | None:
        """One derivation of `text`, or None if it is not in the language."""
        return next(self.derivations(text, limit=1), None)

    def derivations(self, text: str, limit: int = 100) -> Iterator[Derivation]:
        """Up to `limit` derivations of `text`, none if it is not in the language. Ask a recursive grammar for one."""
        chart = self._parse(text)
        # Built from the right: what is still to do, last symbol first, and the steps found so far.
        stack: list[tuple[_Todo, _Steps]] = [
            ((goal, None), None) for goal in reversed(self._goals(text)) if goal in chart.steps
        ]
        found = 0
        while stack and found < limit:
            todo, steps = stack.pop()
            if todo is None:
                found += 1
                yield _forward(steps)
                continue
            item, rest = todo
            if item[1] == 0:
                stack.append((rest, (item[0], steps)))
                continue
            options = chart.steps[item][:1] if limit == 1 else chart.steps[item]
            for before, child in reversed(options):
                following: _Todo = (before, rest)
                stack.append(((child, following) if child is not None else following, steps))

    def completion(self, prefix: str) -> str | None:
        """The shortest text that makes `prefix` a text of the language, or None where none does.

        Dijkstra's algorithm over the chart: from the start downwards, what must still follow each nonterminal that
        began at some place; then the cheapest item that the end of the prefix leaves open.
        """
        chart = self._parse(prefix, partial=True)
        after: dict[tuple[int, int], str] = {}
        heap: list[tuple[int, str, int, int]] = [(0, "", self.grammar.start, 0)]
        parents = _parents(self.grammar, chart)
        while heap:
            _, rest, symbol, begin = heapq.heappop(heap)
            if (symbol, begin) in after:
                continue
            after[symbol, begin] = rest
            for child, place, item in parents.get((symbol, begin), ()):
                later = self._yield_after(item) + rest
                heapq.heappush(heap, (len(later), later, child, place))
        found: list[str] = []
        for place, items in enumerate(chart.sets):
            for item in items:
                tail = self._tail(item, place, prefix)
                key = (self.grammar.productions[item[0]].head, item[2])
                if tail is not None and key in after:
                    found.append(tail + after[key])
        return min(found, key=len, default=None)

    def _tail(self, item: _Item, place: int, prefix: str) -> str | None:
        """What is left of an open item if the prefix ends here or inside its next literal."""
        symbols = self._symbols[item[0]]
        if item[1] == len(symbols):
            return "" if place == len(prefix) else None
        symbol = symbols[item[1]]
        left = prefix[place:]
        if isinstance(symbol, str) and symbol.startswith(left):
            return symbol[len(left) :] + self._yield_after(item)
        return None

    def _yield_after(self, item: _Item) -> str:
        """The shortest text of the symbols after the next one."""
        if self._least is None:
            self._least = shortest_texts(self.grammar)
        following = self._symbols[item[0]][item[1] + 1 :]
        return "".join(self._least[symbol] if isinstance(symbol, int) else symbol for symbol in following)

    def _parse(self, text: str, *, partial: bool = False) -> _Chart:
        chart = _Chart([[] for _ in range(len(text) + 1)], partial)
        self._predict(self.grammar.start, 0, text, chart)
        for place, items in enumerate(chart.sets):
            for item in items:  # grows while it is read
                symbols = self._symbols[item[0]]
                if item[1] == len(symbols):
                    self._complete(item, place, chart)
                    continue
                symbol = symbols[item[1]]
                if isinstance(symbol, str):
                    if text.startswith(symbol, place):
                        chart.advance(item, place + len(symbol), None)
                    continue
                chart.waiting.setdefault((symbol, place), []).append(item)
                self._predict(symbol, place, text, chart)
                # What derived nothing here before this item came would never call on it again.
                for done in chart.empty.get((symbol, place), ()):
                    chart.advance(item, place, done)
        return chart

    def _complete(self, item: _Item, place: int, chart: _Chart) -> None:
        head = self.grammar.productions[item[0]].head
        if item[2] == place:
            chart.empty.setdefault((head, place), []).append(item)
        for parent in tuple(chart.waiting.get((head, item[2]), ())):
            chart.advance(parent, place, item)

    def _predict(self, symbol: int, place: int, text: str, chart: _Chart) -> None:
        if (symbol, place) in chart.predicted:
            return
        chart.predicted.add((symbol, place))
        for index in self.grammar.by_head[symbol]:
            symbols = self._symbols[index]
            if symbols and isinstance(symbols[0], str) and not chart.fits(symbols[0], text, place):
                continue
            item = (index, 0, place, place)
            chart.steps[item] = []
            chart.sets[place].append(item)

    def _goals(self, text: str) -> list[_Item]:
        return [(i, len(self._symbols[i]), 0, len(text)) for i in self.grammar.by_head[self.grammar.start]]


@dataclass(slots=True)
class _Chart:
    """Items by where they end, how each came to be, who waits where for which nonterminal, and what derived nothing."""

    sets: list[list[_Item]]
    partial: bool = False
    steps: dict[_Item, list[_Step]] = field(default_factory=dict)
    waiting: dict[tuple[int, int], list[_Item]] = field(default_factory=dict)
    predicted: set[tuple[int, int]] = field(default_factory=set)
    empty: dict[tuple[int, int], list[_Item]] = field(default_factory=dict)

    def fits(self, literal: str, text: str, place: int) -> bool:
        """Whether the text goes on with the literal; for a partial text, also whether it may."""
        return text.startswith(literal, place) or (self.partial and literal.startswith(text[place:]))

    def advance(self, item: _Item, place: int, child: _Item | None) -> None:
        """`item` with its next symbol done, ending at `place`."""
        following = (item[0], item[1] + 1, item[2], place)
        known = self.steps.get(following)
        if known is None:
            self.steps[following] = [(item, child)]
            self.sets[place].append(following)
        else:
            known.append((item, child))


def _parents(grammar: Grammar, chart: _Chart) -> dict[tuple[int, int], list[tuple[int, int, _Item]]]:
    """For each (nonterminal, where it began): the nonterminals that items of it wait for, and where."""
    found: dict[tuple[int, int], list[tuple[int, int, _Item]]] = {}
    for (symbol, place), items in chart.waiting.items():
        for item in items:
            key = (grammar.productions[item[0]].head, item[2])
            found.setdefault(key, []).append((symbol, place, item))
    return found


def _forward(steps: _Steps) -> Derivation:
    out: list[int] = []
    while steps is not None:
        out.append(steps[0])
        steps = steps[1]
    return tuple(out)
