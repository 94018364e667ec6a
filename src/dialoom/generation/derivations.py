"""Derivations of a grammar: how many, which at random, the shortest, and what each part of a text describes.

A derivation is the tuple of its production indices in leftmost order, so that depth is bounded by memory only.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dialoom.errors import UsageError
from dialoom.generation.grammar import Grammar, Pair
from dialoom.generation.rules import Rule

Derivation = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `begin` to `end` of a reply, said by `rule` about the node of `pair`."""

    begin: int
    end: int
    pair: Pair
    rule: Rule


def text_of(grammar: Grammar, derivation: Derivation) -> str:
    """The text that a derivation yields. Raises `UsageError` for a tuple that is none of this grammar's."""
    out: list[str] = []
    stack: list[int | str] = [grammar.start]
    steps = iter(derivation)
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        production = grammar.productions[_next(steps)]
        if production.head != item:
            raise UsageError("This is no derivation of this grammar.")
        stack.extend(reversed(production.symbols))
    return "".join(out)


def spans_of(grammar: Grammar, derivation: Derivation) -> tuple[Span, ...]:
    """Every span of the text that a rule said, outer before inner."""
    spans: list[Span | None] = []
    place = 0
    stack: list[int | str | tuple[int, int, Pair, Rule]] = [grammar.start]
    steps = iter(derivation)
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            place += len(item)
        elif isinstance(item, tuple):
            number, begin, pair, rule = item
            spans[number] = Span(begin, place, pair, rule)
        else:
            production = grammar.productions[_next(steps)]
            if production.rule is not None:
                stack.append((len(spans), place, grammar.pairs[item], production.rule))
                spans.append(None)
            stack.extend(reversed(production.symbols))
    return tuple(span for span in spans if span is not None)


def count(grammar: Grammar) -> int:
    """How many derivations there are. Raises `UsageError` for a recursive grammar, which has no end of them."""
    return _ways(grammar)[grammar.start]


def shortest(grammar: Grammar) -> Derivation:
    """The derivation of the fewest characters (Knuth's generalisation of Dijkstra's algorithm); ties by rule order."""
    best = _cheapest(grammar)
    return _build(grammar, lambda head: best[head])


def sampler(grammar: Grammar, *, seed: int = 0, weighted: bool = False) -> Callable[[], Derivation]:
    """A source of random derivations: uniform over derivations, or by the weights of the rules at each choice.

    Raises `UsageError` for a recursive grammar.
    """
    chance = random.Random(seed)  # noqa: S311 (not for secrets)
    ways = _ways(grammar)
    tables: dict[int, tuple[tuple[int, ...], list[int] | list[float]]] = {}
    for head, indices in enumerate(grammar.by_head):
        masses: list[int] | list[float]
        if weighted:
            masses = [grammar.productions[index].weight for index in indices]
        else:
            masses = [_product(grammar, index, ways) for index in indices]
        tables[head] = (indices, masses)

    def choose(head: int) -> int:
        indices, masses = tables[head]
        if len(indices) == 1:
            return indices[0]
        if weighted:
            return chance.choices(indices, masses)[0]
        # Counts may exceed what a float holds: draw an integer below their sum.
        left = chance.randrange(ways[head])
        for index, mass in zip(indices, masses, strict=True):
            left -= int(mass)
            if left < 0:
                return index
        raise AssertionError("counts do not add up")

    return lambda: _build(grammar, choose)


def shortest_texts(grammar: Grammar) -> list[str]:
    """The shortest text of every nonterminal."""
    texts = [""] * len(grammar.pairs)
    for head, index in _cheapest(grammar).items():  # in the order found: parts before wholes
        symbols = grammar.productions[index].symbols
        texts[head] = "".join(texts[item] if isinstance(item, int) else item for item in symbols)
    return texts


def _build(grammar: Grammar, choose: Callable[[int], int]) -> Derivation:
    steps: list[int] = []
    stack = [grammar.start]
    while stack:
        index = choose(stack.pop())
        steps.append(index)
        stack.extend(item for item in reversed(grammar.productions[index].symbols) if isinstance(item, int))
    return tuple(steps)


def _ways(grammar: Grammar) -> list[int]:
    if grammar.order is None:
        raise UsageError("The grammar is recursive and has no end of derivations.", hint="Use `bounded` first.")
    ways = [0] * len(grammar.pairs)
    for number in grammar.order:
        ways[number] = sum(_product(grammar, index, ways) for index in grammar.by_head[number])
    return ways


def _product(grammar: Grammar, index: int, ways: Sequence[int]) -> int:
    result = 1
    for item in grammar.productions[index].symbols:
        if isinstance(item, int):
            result *= ways[item]
    return result


def _cheapest(grammar: Grammar) -> dict[int, int]:
    """The production to take at each nonterminal for the fewest characters, then the fewest steps."""
    users: list[list[int]] = [[] for _ in grammar.pairs]
    waiting, cost = [], []
    for index, production in enumerate(grammar.productions):
        inner = [item for item in production.symbols if isinstance(item, int)]
        for item in inner:
            users[item].append(index)
        waiting.append(len(inner))
        cost.append((sum(len(item) for item in production.symbols if isinstance(item, str)), 1))
    heap = [(cost[index], index) for index, left in enumerate(waiting) if not left]
    heapq.heapify(heap)
    best: dict[int, int] = {}
    while heap:
        (length, steps), index = heapq.heappop(heap)
        head = grammar.productions[index].head
        if head in best:
            continue
        best[head] = index
        for user in users[head]:
            waiting[user] -= 1
            cost[user] = (cost[user][0] + length, cost[user][1] + steps)
            if not waiting[user]:
                heapq.heappush(heap, (cost[user], user))
    return best


def _next(steps: object) -> int:
    try:
        index: int = next(steps)  # type: ignore[call-overload]
    except StopIteration:
        raise UsageError("This is no derivation of this grammar.") from None
    return index
