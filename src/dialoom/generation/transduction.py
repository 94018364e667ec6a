"""From a computation and rules to a grammar of true replies (dataflow transduction, sec. 3.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialoom.dataflow import Call, Computation, Constant, Failure, Graph, label
from dialoom.errors import InvalidRule, UnknownName
from dialoom.generation.grammar import Grammar, Pair, Production, Symbol, bounded
from dialoom.generation.rules import Rule, Rules
from dialoom.generation.templates import Choice, Slot, Template

MAX_PAIRS = 200_000


def transduce(graph: Graph, rules: Rules, start: str = "S", *, depth: int = 3, max_pairs: int = MAX_PAIRS) -> Grammar:
    """The grammar of every reply that `rules` allow for the graph's root: pruned, without recursion.

    Each (type, node) pair is expanded once, so that time is linear in the pairs; what bodies add joins the graph.
    Recursion is unrolled `depth` times. Raises `EmptyLanguage` when nothing can be said, and `InvalidRule` for a rule
    that cannot be used, naming it, and when rules go on adding computations without end.
    """
    return bounded(expand(graph, rules, start, max_pairs=max_pairs), depth)


def expand(graph: Graph, rules: Rules, start: str = "S", *, max_pairs: int = MAX_PAIRS) -> Grammar:
    """The grammar as the rules give it: perhaps recursive, with productions that lead nowhere."""
    if not rules.of(start):
        raise UnknownName("start nonterminal", start, rules.heads)
    return _Expansion(graph, rules, max_pairs).run(start)


class _Expansion:
    def __init__(self, graph: Graph, rules: Rules, max_pairs: int) -> None:
        self.graph = graph
        self.rules = rules
        self.max_pairs = max_pairs
        self.numbers: dict[tuple[str, int], int] = {}
        self.pairs: list[Pair] = []
        self.productions: list[Production] = []
        self.queue: list[int] = []

    def run(self, start: str) -> Grammar:
        self.number(start, self.graph.root)
        for number in self.queue:
            pair = self.pairs[number]
            tried: list[Rule] = []
            for rule in self.rules.of(pair.type):
                found = rule.bind(pair.node, self.graph)
                if found is None:
                    tried.append(rule)
                    continue
                nodes = {name: self.as_node(value) for name, value in found.items()}
                for template in rule.templates:
                    symbols = self.symbols(template, nodes, rule, pair)
                    self.productions.append(Production(number, symbols, rule.weight, rule))
            self.pairs[number] = Pair(pair.type, pair.node, pair.node_id, tuple(tried))
        return Grammar(0, tuple(self.pairs), tuple(self.productions))

    def as_node(self, value: Any) -> Computation:
        return value if isinstance(value, Call | Constant) else self.graph.constant(value)

    def number(self, kind: str, node: Computation) -> int:
        key = (kind, self.graph.id(node))
        if key not in self.numbers:
            self.numbers[key] = self.fresh(kind, node)
            self.queue.append(self.numbers[key])
        return self.numbers[key]

    def fresh(self, kind: str, node: Computation) -> int:
        if len(self.pairs) >= self.max_pairs:
            raise InvalidRule(
                f"More than {self.max_pairs} descriptions, the last of ({kind or 'choice'}, {label(node)}).",
                hint="Does a body add a new computation about each computation it added? Stop it, or raise max_pairs.",
            )
        self.pairs.append(Pair(kind, node, self.graph.id(node)))
        return len(self.pairs) - 1

    def symbols(
        self, template: Template, nodes: Mapping[str, Computation], rule: Rule, pair: Pair
    ) -> tuple[Symbol, ...]:
        """The right-hand side that a template gives for these nodes; neighbouring texts are joined."""
        out: list[Symbol] = []
        for part in template:
            item = part if isinstance(part, str) else self.symbol(part, nodes, rule, pair)
            if isinstance(item, str) and out and isinstance(out[-1], str):
                out[-1] += item
            else:
                out.append(item)
        return tuple(out)

    def symbol(self, part: Any, nodes: Mapping[str, Computation], rule: Rule, pair: Pair) -> Symbol:
        if isinstance(part, Choice):
            number = self.fresh("", pair.node)
            for alternative in part.alternatives:
                self.productions.append(Production(number, self.symbols(alternative, nodes, rule, pair)))
            return number
        if part.variable not in nodes:
            raise InvalidRule(
                f"{rule}: its body does not bind <{part.variable}>; it binds {', '.join(nodes) or 'none'}."
            )
        node = nodes[part.variable]
        if isinstance(part, Slot):
            if not self.rules.of(part.type):
                raise InvalidRule(f"{rule}: {UnknownName('nonterminal', part.type, self.rules.heads).message}")
            return self.number(part.type, node)
        return self.text(part, node, rule)

    def text(self, part: Any, node: Computation, rule: Rule) -> str:
        outcome = self.graph.outcome(node)
        if isinstance(outcome, Failure):
            raise InvalidRule(f"{rule}: <{part.variable}> is an error: {outcome.error}.")
        try:
            text: str = part.text(outcome)
            text.encode("utf-8")
        except (ValueError, TypeError) as error:
            raise InvalidRule(f"{rule}: <{part.variable}> cannot be written: {error}.") from error
        return text
