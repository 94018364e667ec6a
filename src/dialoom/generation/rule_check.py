"""Finds rules that can never fire, nonterminals without rules and recursion without end, before a user meets them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dialoom.dataflow import Graph, Library, label
from dialoom.errors import DialoomError, UnknownName
from dialoom.generation.rules import Rule, Rules
from dialoom.generation.templates import Slot, Template
from dialoom.generation.transduction import expand


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to mend: what, and the rule where it is."""

    problem: str
    rule: Rule | None = None

    def __str__(self) -> str:
        return f"{self.rule}: {self.problem}" if self.rule else self.problem


def check_rules(rules: Rules, start: str = "S", library: Library | None = None) -> list[Finding]:
    """What can be told without a computation. Patterns of data rules are compared with `library` if it is given."""
    findings = []
    reachable = _reachable(rules, start)
    ending = _ending(rules)
    for rule in rules:
        for slot in rule.slots:
            if not rules.of(slot.type):
                problem = UnknownName("nonterminal", slot.type, rules.heads).message
                findings.append(Finding(problem, rule))
        if rule.head not in reachable:
            findings.append(Finding(f"never fires: nothing that starts at {start} asks for {rule.head}.", rule))
        known = library.functions if library else rule.functions
        unknown = (UnknownName("function", name, known) for name in rule.functions if name not in known)
        findings += [Finding(error.message, rule) for error in unknown]
    findings += [
        Finding(f"infinite recursion: every rule of {head} asks for {head} again.")
        for head in rules.heads
        if head not in ending
    ]
    return findings


def fired(graph: Graph, rules: Rules, start: str = "S") -> Mapping[Rule, tuple[str, ...]]:
    """Which rules fire for a computation, and the nodes they describe. Raises as `expand` does."""
    found: dict[Rule, tuple[str, ...]] = {}
    grammar = expand(graph, rules, start)
    for production in grammar.productions:
        if production.rule is not None:
            nodes = found.get(production.rule, ())
            name = label(grammar.pairs[production.head].node)
            found[production.rule] = nodes if name in nodes else (*nodes, name)
    return found


def silent(graphs: Iterable[Graph], rules: Rules, start: str = "S") -> list[Rule]:
    """Rules that fire for none of these computations; a computation that cannot be described is passed over."""
    seen: set[Rule] = set()
    for graph in graphs:
        try:
            seen.update(fired(graph, rules, start))
        except DialoomError:
            continue
    return [rule for rule in rules if rule not in seen]


def _reachable(rules: Rules, start: str) -> set[str]:
    found = {start}
    queue = [start]
    for head in queue:
        for rule in rules.of(head):
            for slot in rule.slots:
                if slot.type not in found:
                    found.add(slot.type)
                    queue.append(slot.type)
    return found


def _ending(rules: Rules) -> set[str]:
    """Heads with a rule that can end, if every body applied. A nonterminal without rules is reported elsewhere."""
    found: set[str] = set()
    while True:
        more = {
            rule.head
            for rule in rules
            if rule.head not in found and any(_ends(template, found, rules) for template in rule.templates)
        }
        if not more:
            return found
        found |= more


def _ends(template: Template, found: set[str], rules: Rules) -> bool:
    # A choice may end through any of its alternatives; slots outside choices are all needed.
    for part in template:
        if isinstance(part, Slot) and part.type not in found and rules.of(part.type):
            return False
        alternatives = getattr(part, "alternatives", None)
        if alternatives and not any(_ends(alternative, found, rules) for alternative in alternatives):
            return False
    return True
