"""Rules: a head, templates, and a body that says when it applies and to what (dataflow transduction, sec. 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from dialoom.dataflow import Computation, Graph
from dialoom.errors import DialoomError, InvalidRule
from dialoom.generation.templates import Slot, Template, parse, parts_of

Bindings = Mapping[str, Any] | None
Body = Callable[[Any, Graph], Bindings]
B = TypeVar("B", bound=Body)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One rule. `place` is where an author finds it (module or file, and line); `weight` guides weighted sampling.

    `functions` are the names a data pattern asks for, where the rule has one: what `check` can verify.
    """

    name: str
    head: str
    templates: tuple[Template, ...]
    body: Body
    place: str
    weight: float = 1.0
    functions: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"rule '{self.name}' ({self.place})"

    @property
    def slots(self) -> Iterator[Slot]:
        """Every `{NT <variable>}` of its templates."""
        for template in self.templates:
            yield from (part for part in parts_of(template) if isinstance(part, Slot))

    def bind(self, node: Computation, graph: Graph) -> Bindings:
        """What the body finds at `node`, or None. Raises `InvalidRule` that names the rule when the body raises."""
        try:
            found = self.body(node, graph)
        except DialoomError as error:
            raise InvalidRule(f"{self}: {error.message}", hint=error.hint) from error
        except Exception as error:
            raise InvalidRule(f"{self}: its body raised {type(error).__name__}: {error}.") from error
        if found is not None and not isinstance(found, Mapping):
            raise InvalidRule(f"{self}: its body returned {type(found).__name__}, expected bindings or None.")
        return found


class Rules:
    """A set of rules by head (R of the paper), filled by decorators, by YAML or from other sets."""

    def __init__(self) -> None:
        self._by_head: dict[str, list[Rule]] = {}

    def __iter__(self) -> Iterator[Rule]:
        for rules in self._by_head.values():
            yield from rules

    def __len__(self) -> int:
        return sum(len(rules) for rules in self._by_head.values())

    @property
    def heads(self) -> tuple[str, ...]:
        """Nonterminal types with at least one rule."""
        return tuple(self._by_head)

    def of(self, head: str) -> tuple[Rule, ...]:
        """The rules with this head, in the order they were added."""
        return tuple(self._by_head.get(head, ()))

    def rule(self, head: str, *templates: str, weight: float = 1.0) -> Callable[[B], B]:
        """Decorator: `body(node, graph)` returns variable -> node or plain value, or None where it does not apply.

        Each template is a production of its own. Raises `InvalidRule`, with module and line, for a bad template.
        """

        def register(body: B) -> B:
            code = getattr(body, "__code__", None)
            place = f"{body.__module__}, line {code.co_firstlineno}" if code else body.__module__
            self.add(head, templates, body, name=body.__name__, place=place, weight=weight)
            return body

        return register

    def add(
        self,
        head: str,
        templates: tuple[str, ...],
        body: Body,
        *,
        name: str,
        place: str,
        weight: float = 1.0,
        functions: tuple[str, ...] = (),
    ) -> Rule:
        """One rule from its parts; see `rule`."""
        try:
            parsed = tuple(parse(template) for template in templates)
        except InvalidRule as error:
            raise InvalidRule(f"rule '{name}' ({place}): {error.message}") from None
        if not parsed or not weight > 0 or not head[:1].isupper():
            problem = "a head in capitals, at least one template and a positive weight are needed"
            raise InvalidRule(f"rule '{name}' ({place}): {problem}.")
        rule = Rule(name, head, parsed, body, place, weight, functions)
        self._by_head.setdefault(head, []).append(rule)
        return rule

    def include(self, other: Rules) -> None:
        """Adds every rule of another set."""
        for rule in other:
            self._by_head.setdefault(rule.head, []).append(rule)
