"""A computation under execution: nodes interned to small ids, each computed at most once, value or error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dialoom.dataflow.computation import Call, Computation, Constant, label, walk
from dialoom.dataflow.library import Function, Library
from dialoom.dataflow.types import Type
from dialoom.errors import CallError, InvalidRule


@dataclass(frozen=True, slots=True)
class Failure:
    """An error as a value: what went wrong, and the node where it began. Rules may describe it."""

    error: Exception
    node: Computation


class Graph:
    """A root computation, the nodes that rules add to it, and what each node evaluates to.

    Nothing is computed before someone asks, and nothing twice. An error of an argument is the error of the call.
    `resources` are what the functions' keyword-only parameters ask for; each is found by its class.
    """

    def __init__(self, root: Computation, library: Library, resources: Sequence[Any] = ()) -> None:
        self.root = root
        self.library = library
        self._resources = tuple(resources)
        self._nodes: list[Computation] = []
        self._ids: dict[int, int] = {}
        self._added: dict[tuple[object, ...], Computation] = {}
        self._outcomes: dict[int, Any] = {}
        for node in walk(root):
            self._intern(node)
        self.original = len(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def id(self, node: Computation) -> int:
        """The small id of a node of this graph; a node that is new to it joins it, with what it is made of."""
        known = self._ids.get(id(node))
        if known is not None:
            return known
        for part in walk(node):
            if id(part) not in self._ids:
                self._intern(part)
        return self._ids[id(node)]

    def node(self, number: int) -> Computation:
        """The node with this id."""
        return self._nodes[number]

    def call(self, name: str, *arguments: Any, type_arguments: Sequence[Type] = ()) -> Call:
        """A node of this graph that applies `name`: the same function on the same nodes is the same node.

        Raises `UnknownName` and `InvalidRule` as `Library.call` does.
        """
        nodes = tuple(item if isinstance(item, Call | Constant) else self.constant(item) for item in arguments)
        key = (name, *(self.id(node) for node in nodes), *type_arguments)
        found = self._added.get(key)
        if not isinstance(found, Call):
            found = self.library.call(name, *nodes, type_arguments=type_arguments)
            self._added[key] = found
            self._intern(found)
        return found

    def constant(self, value: Any) -> Constant:
        """A node of this graph for a plain value: equal hashable values of one class are the same node."""
        try:
            key = (Constant, type(value), value)
            found = self._added.get(key)
        except TypeError:
            made = self.library.constant(value)
            self._intern(made)
            return made
        if not isinstance(found, Constant):
            found = self.library.constant(value)
            self._added[key] = found
            self._intern(found)
        return found

    def outcome(self, node: Computation) -> Any:
        """The node's value, or its `Failure`. Computes what it needs first, without recursion."""
        stack = [self.id(node)]
        while stack:
            number = stack[-1]
            if number in self._outcomes:
                stack.pop()
                continue
            current = self._nodes[number]
            if isinstance(current, Constant):
                self._outcomes[number] = current.value
                continue
            waiting = [
                self._ids[id(argument)]
                for argument in current.arguments
                if self._ids[id(argument)] not in self._outcomes
            ]
            if waiting:
                stack.extend(reversed(waiting))
            else:
                self._outcomes[number] = self._apply(current)
        return self._outcomes[self.id(node)]

    def value(self, node: Computation) -> Any:
        """The node's value. Raises the node's error if it has one."""
        outcome = self.outcome(node)
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome

    def failed(self, node: Computation) -> bool:
        """Whether the node evaluates to an error."""
        return isinstance(self.outcome(node), Failure)

    @property
    def computed(self) -> Mapping[int, Any]:
        """What has been computed so far: node id -> value or `Failure`."""
        return self._outcomes

    def resource(self, kind: type) -> Any:
        """The resource of this class. Raises `InvalidRule` when the graph was given none."""
        for item in self._resources:
            if isinstance(item, kind):
                return item
        raise InvalidRule(
            f"The graph has no {kind.__name__}.", hint=f"Give it one: Graph(root, library, [{kind.__name__}(...)])."
        )

    def _intern(self, node: Computation) -> None:
        self._ids[id(node)] = len(self._nodes)
        self._nodes.append(node)

    def _apply(self, node: Call) -> Any:
        arguments = [self._outcomes[self._ids[id(item)]] for item in node.arguments]
        for argument in arguments:
            if isinstance(argument, Failure):
                return argument
        function = self.library.signature(node.function)
        resources = {name: node if kind is Call else self.resource(kind) for name, kind in function.resources.items()}
        placed = len(arguments) - len(node.keywords)
        named = dict(zip(node.keywords, arguments[placed:], strict=True))
        try:
            value = function.implementation(*arguments[:placed], **named, **resources)
        except Exception as error:  # an error is a value here: whatever a function raises, a rule may describe
            return Failure(error, node)
        return _checked(function, node, value)


def _checked(function: Function, node: Call, value: Any) -> Any:
    if function.returned is not None and not isinstance(value, function.returned):
        problem = f"{label(node)} returned {type(value).__name__}, expected {function.returned.__name__}."
        return Failure(CallError(problem), node)
    return value
