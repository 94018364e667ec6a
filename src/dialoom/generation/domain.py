"""A domain: everything needed to say something about a computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.applications import run_file
from dialoom.dataflow import Computation, Graph, Library, from_lispress
from dialoom.errors import InvalidFile
from dialoom.generation.grammar import Grammar
from dialoom.generation.rules import Rules
from dialoom.generation.transduction import transduce


@dataclass(frozen=True, slots=True)
class Domain:
    """Functions, rules, the start nonterminal, and the resources that functions ask for, made anew for each graph."""

    library: Library
    rules: Rules
    start: str = "S"
    resources: Callable[[], Sequence[Any]] = tuple

    def graph(self, program: str | Computation, given: Mapping[str, Any] | None = None) -> Graph:
        """A graph of a computation, or of that which a Lispress program denotes, on fresh resources.

        `given` are plain values by name, which the program may use as variables.
        """
        if not isinstance(program, str):
            return Graph(program, self.library, self.resources())
        nodes = {name: self.library.constant(value) for name, value in (given or {}).items()}
        return Graph(from_lispress(program, self.library, nodes), self.library, self.resources())

    def grammar(self, graph: Graph) -> Grammar:
        """The grammar of every true reply about the graph's root."""
        return transduce(graph, self.rules, self.start)


def load_domain(path: Path | str) -> Domain:
    """The `domain` of a Python file: the user's own application, which is run.

    Raises `InvalidFile` when the file cannot be run or holds no `domain`.
    """
    source = Path(path)
    module = run_file(source, source.name)  # errors in rules name the module
    domain = getattr(module, "domain", None)
    if not isinstance(domain, Domain):
        raise InvalidFile(source, "defines no `domain`.", hint="End it with `domain = Domain(library, rules)`.")
    return domain
