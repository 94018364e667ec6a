"""What an author's Python gives a flow: functions, constraints, recognisers, output models by name; who tells facts.

A flow file names these and can never import anything: code enters only from the module that the person who runs the
flow names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from dialoom.applications import run_file
from dialoom.errors import InvalidFile, UsageError
from dialoom.flows.constraints import Proposal
from dialoom.flows.facts import Answerer, Describer

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=type[BaseModel])

Judge = Callable[..., str | None]


@dataclass
class Application:
    """A registry of names. Functions may be plain or async; plain ones run in a thread."""

    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    constraints: dict[str, Judge] = field(default_factory=dict)
    recognisers: dict[str, Callable[[str], Any]] = field(default_factory=dict)
    outputs: dict[str, type[BaseModel]] = field(default_factory=dict)
    computations: dict[str, Callable[..., Any]] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    """For a learned agent: names or tags of the automaton's states to what is described there, a computation in
    Lispress or the name of a registered one. A parameter `context` of the latter receives the conversation."""
    describer: Describer | None = None
    """Who describes computations (`dialoom.agent.describing`)."""
    answerer: Answerer | None = None
    """Who answers from knowledge sources (`dialoom.agent.answering`)."""

    def function(self, function: F) -> F:
        """Register a function for `call` nodes and template context, under its own name.

        Arguments and result are checked against its annotations; a parameter named `idempotency_key` receives the key.
        """
        _add(self.functions, "function", function.__name__, function)
        return function

    def constraint(self, function: F) -> F:
        """Register a constraint: `(proposal, **with) -> None`, or a message when it does not hold."""
        _add(self.constraints, "constraint", function.__name__, function)
        return function

    def recogniser(self, function: F) -> F:
        """Register a recogniser: text to a value (or a `Reading`, which says where it stands), or None."""
        _add(self.recognisers, "recogniser", function.__name__, function)
        return function

    def computation(self, function: F) -> F:
        """Register a function for `describe` nodes: it returns a computation, as Lispress or as a node."""
        _add(self.computations, "computation", function.__name__, function)
        return function

    def output(self, model: M) -> M:
        """Register a pydantic model for a node's further output fields."""
        _add(self.outputs, "output model", model.__name__, model)
        return model


def _add(registry: dict[str, Any], kind: str, name: str, value: Any) -> None:
    if name in registry:
        raise UsageError(f"The {kind} '{name}' is registered twice.", hint="Rename one of them.")
    registry[name] = value


def load_application(path: Path | str) -> Application:
    """The `Application` that a Python file defines under the name `app`; the file is run, so name only your own.

    Raises `InvalidFile` when it is absent, fails, or defines none.
    """
    source = Path(path)
    module = run_file(source, f"_dialoom_application_{source.stem}_{abs(hash(source.resolve()))}")
    app = getattr(module, "app", None)
    if not isinstance(app, Application):
        raise InvalidFile(source, "it defines no `app`.", hint="Write: app = Application()")
    return app


def accepts(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of this name (or takes any)."""
    parameters: Mapping[str, inspect.Parameter] = inspect.signature(function).parameters
    return name in parameters or any(item.kind is inspect.Parameter.VAR_KEYWORD for item in parameters.values())


__all__ = ["Application", "Proposal", "accepts", "load_application"]
