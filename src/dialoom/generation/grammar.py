"""Quasi-synchronous grammars as plain integers: nonterminals are (type, node) pairs interned to ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dialoom.dataflow import Computation, label
from dialoom.errors import EmptyLanguage
from dialoom.generation.rules import Rule

Symbol = int | str


@dataclass(frozen=True, slots=True)
class Pair:
    """What a nonterminal stands for: descriptions of `type` for `node`. A choice inside a template has type "".

    `tried` are the rules whose head fits but whose body did not apply.
    """

    type: str
    node: Computation
    node_id: int
    tried: tuple[Rule, ...] = ()

    def __str__(self) -> str:
        return f"({self.type or 'choice'}, {label(self.node)})"


class Production(NamedTuple):
    """head -> symbols. An int is a nonterminal id, a string is itself. `rule` is None for a choice in a template."""

    head: int
    symbols: tuple[Symbol, ...]
    weight: float = 1.0
    rule: Rule | None = None


@dataclass(frozen=True)
class Grammar:
    """(T x V, Sigma, P, start): `pairs[i]` is nonterminal i; productions keep the rule they came from."""

    start: int
    pairs: tuple[Pair, ...]
    productions: tuple[Production, ...]

    @cached_property
    def by_head(self) -> tuple[tuple[int, ...], ...]:
        """Production indices of each nonterminal."""
        found: list[list[int]] = [[] for _ in self.pairs]
        for index, production in enumerate(self.productions):
            found[production.head].append(index)
        return tuple(map(tuple, found))

    @cached_property
    def settled(self) -> tuple[int, ...]:
        """Nonterminals from which no cycle can be reached, with those they use first."""
        uses = [0] * len(self.pairs)
        users: list[list[int]] = [[] for _ in self.pairs]
        for production in self.productions:
            for item in production.symbols:
                if isinstance(item, int):
                    uses[production.head] += 1
                    users[item].append(production.head)
        ready = [number for number, count in enumerate(uses) if not count]
        for number in ready:
            for user in users[number]:
                uses[user] -= 1
                if not uses[user]:
                    ready.append(user)
        return tuple(ready)

    @property
    def order(self) -> tuple[int, ...] | None:
        """Nonterminals with those they use first, or None if some nonterminal can contain itself."""
        return self.settled if len(self.settled) == len(self.pairs) else None

    @property
    def recursive(self) -> bool:
        """Whether some nonterminal can contain itself."""
        return self.order is None

    def __str__(self) -> str:
        """The productions as text, one nonterminal a line."""
        lines = []
        for number, pair in enumerate(self.pairs):
            sides = (
                " ".join(f"<{item}>" if isinstance(item, int) else repr(item) for item in self.productions[i].symbols)
                for i in self.by_head[number]
            )
            mark = "*" if number == self.start else " "
            lines.append(f"{mark}<{number}> {pair}: {' | '.join(side or 'nothing' for side in sides)}")
        return "\n".join(lines)


def pruned(grammar: Grammar) -> Grammar:
    """Only productions that take part in some reply. Linear. Raises `EmptyLanguage`, naming what cannot be said."""
    parts, alive = _parts(grammar)
    numbers = {grammar.start: 0}
    queue = [grammar.start]
    productions = []
    for number in queue:
        head = numbers[number]
        seen: set[tuple[tuple[Symbol, ...], int]] = set()
        for index in grammar.by_head[number]:
            if not all(alive[item] for item in parts[index]):
                continue
            for item in parts[index]:
                if item not in numbers:
                    numbers[item] = len(numbers)
                    queue.append(item)
            _, old, weight, rule = grammar.productions[index]
            symbols = tuple([numbers[item] if isinstance(item, int) else item for item in old if item != ""])
            key = (symbols, id(rule))
            if key not in seen and symbols != (head,):
                seen.add(key)
                productions.append(Production(head, symbols, weight, rule))
    return Grammar(0, tuple([grammar.pairs[number] for number in queue]), tuple(productions))


def productive(grammar: Grammar) -> Grammar:
    """Without productions that lead nowhere; nonterminals keep their numbers. Raises as `pruned` does."""
    parts, alive = _parts(grammar)
    kept = tuple(
        [
            production
            for production, items in zip(grammar.productions, parts, strict=True)
            if all(alive[item] for item in items) and production.symbols != (production.head,)
        ]
    )
    return grammar if len(kept) == len(grammar.productions) else Grammar(grammar.start, grammar.pairs, kept)


def _parts(grammar: Grammar) -> tuple[list[list[int]], list[bool]]:
    """The nonterminals of each production, and which nonterminals have some text. Raises `EmptyLanguage`."""
    parts = [[item for item in p.symbols if isinstance(item, int)] for p in grammar.productions]
    alive = _productive(grammar, parts)
    if not alive[grammar.start]:
        raise EmptyLanguage(_why_empty(grammar, alive), hint="Add a rule for it, or an alternative that does without.")
    return parts, alive


def _productive(grammar: Grammar, parts: Sequence[Sequence[int]]) -> list[bool]:
    """Which nonterminals have some text; `parts` are the nonterminals of each production."""
    waiting = [len(items) for items in parts]
    users: list[list[int]] = [[] for _ in grammar.pairs]
    for index, items in enumerate(parts):
        for item in items:
            users[item].append(index)
    alive = [False] * len(grammar.pairs)
    queue = [index for index, count in enumerate(waiting) if not count]
    for index in queue:
        head = grammar.productions[index].head
        if alive[head]:
            continue
        alive[head] = True
        for user in users[head]:
            waiting[user] -= 1
            if not waiting[user]:
                queue.append(user)
    return alive


def _why_empty(grammar: Grammar, alive: Sequence[bool]) -> str:
    """Follow dead nonterminals from the start to one that has no production at all, or that only repeats itself."""
    seen = {grammar.start}
    number = grammar.start
    while True:
        productions = grammar.by_head[number]
        dead = [
            item
            for index in productions
            for item in grammar.productions[index].symbols
            if isinstance(item, int) and not alive[item]
        ]
        if not productions:
            pair = grammar.pairs[number]
            tried = ", ".join(f"'{rule.name}'" for rule in pair.tried[:6])
            reason = f"none of its rules applies (tried {tried})" if tried else "no rule applies"
            return f"No true reply: {pair} could not be realised: {reason}."
        following = [item for item in dead if item not in seen]
        if not following:
            return f"No true reply: every description of {grammar.pairs[number]} contains itself without end."
        number = following[0]
        seen.add(number)


def bounded(grammar: Grammar, depth: int = 3) -> Grammar:
    """A pruned grammar without recursion: each cycle of nonterminals is entered at most `depth` more times on one path.

    Productions that do not recurse are kept as they are; where `depth` would leave nothing, it is doubled until
    something remains.
    """
    if not grammar.recursive:
        return pruned(grammar)
    grammar = productive(grammar)
    component, back = _cycles(grammar)
    while True:
        try:
            return pruned(_unrolled(grammar, component, back, depth))
        except EmptyLanguage:
            depth *= 2


def _unrolled(grammar: Grammar, component: Sequence[int], back: set[tuple[int, int]], depth: int) -> Grammar:
    """One copy of a nonterminal for each number of times a cycle may still be entered; settled ones are shared."""
    settled = _marks(grammar)
    pairs = list(grammar.pairs)
    numbers: dict[tuple[int, int], int] = {}
    queue: list[tuple[int, int]] = []

    def copy(left: int, item: int, *, closes: bool, inside: bool) -> int | None:
        if settled[item]:
            return item
        remaining = left - closes if inside else depth
        if remaining < 0:
            return None
        key = (item, remaining if component[item] >= 0 else depth)
        if key not in numbers:
            numbers[key] = len(pairs)
            pairs.append(grammar.pairs[item])
            queue.append(key)
        return numbers[key]

    copy(depth, grammar.start, closes=False, inside=False)
    productions = [production for production in grammar.productions if settled[production.head]]
    for head, left in queue:
        for index in grammar.by_head[head]:
            production = grammar.productions[index]
            symbols = [
                copy(
                    left,
                    item,
                    closes=(head, item) in back,
                    inside=component[item] == component[head] and component[item] >= 0,
                )
                if isinstance(item, int)
                else item
                for item in production.symbols
            ]
            whole = tuple(item for item in symbols if item is not None)
            if len(whole) == len(symbols):
                productions.append(Production(numbers[head, left], whole, production.weight, production.rule))
    return Grammar(numbers[grammar.start, depth], tuple(pairs), tuple(productions))


def _marks(grammar: Grammar) -> list[bool]:
    """For each nonterminal whether it is settled."""
    marks = [False] * len(grammar.pairs)
    for number in grammar.settled:
        marks[number] = True
    return marks


def _cycles(grammar: Grammar) -> tuple[list[int], set[tuple[int, int]]]:
    """Strongly connected component of each nonterminal (-1 outside any cycle), and the edges that close a cycle.

    Tarjan's algorithm with an explicit stack; an edge to a nonterminal that is still being visited closes a cycle,
    and without those edges what is left has no cycle.
    """
    settled = _marks(grammar)
    edges: list[list[int]] = [[] for _ in grammar.pairs]
    for production in grammar.productions:
        if not settled[production.head]:
            edges[production.head] += [i for i in production.symbols if isinstance(i, int) and not settled[i]]
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    component = [-1] * len(grammar.pairs)
    back: set[tuple[int, int]] = set()
    path: set[int] = set()
    pending: list[int] = []
    held: set[int] = set()
    work: list[tuple[int, int]] = [(grammar.start, 0)]
    while work:
        node, edge = work.pop()
        if edge == 0:
            index[node] = low[node] = len(index)
            pending.append(node)
            held.add(node)
            path.add(node)
        descend = False
        for place in range(edge, len(edges[node])):
            target = edges[node][place]
            if target not in index:
                work += [(node, place + 1), (target, 0)]
                descend = True
                break
            if target in path:
                back.add((node, target))
            if target in held:
                low[node] = min(low[node], index[target])
        if descend:
            continue
        path.discard(node)
        if work:
            parent = work[-1][0]
            low[parent] = min(low[parent], low[node])
        if low[node] == index[node]:
            members = []
            while True:
                member = pending.pop()
                held.discard(member)
                members.append(member)
                if member == node:
                    break
            if len(members) > 1 or node in edges[node]:
                for member in members:
                    component[member] = node
    return component, back
