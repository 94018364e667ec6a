"""Libraries of typed functions and constructors, registered by decorator from ordinary Python signatures."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from dialoom.dataflow.computation import Call, Computation, Constant, label
from dialoom.dataflow.types import BUILTIN, DYNAMIC, Type, accepts, from_annotation, substitute, variables
from dialoom.errors import InvalidRule, UnknownName

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function. `many` takes all remaining positional arguments."""

    name: str
    type: Type
    optional: bool = False
    many: bool = False


@dataclass(frozen=True, slots=True)
class Function:
    """A registered function: its name in computations, its types, and the Python callable that computes it.

    `resources` are its keyword-only parameters: name -> class, filled by the graph that executes it, never by a
    computation (a calendar, a clock, a connection); one of class `Call` is the very call, with its types. `returned`
    is the class its value is checked against, if plain.
    """

    name: str
    parameters: tuple[Parameter, ...]
    type: Type
    implementation: Callable[..., Any]
    resources: Mapping[str, Any]
    returned: Any = None

    @property
    def type_variables(self) -> tuple[str, ...]:
        """Type variables in order of appearance: what `(^(T) f ...)` sets."""
        return variables([*(parameter.type for parameter in self.parameters), self.type])


class Library:
    """Functions and types by name. Checks every call that it builds."""

    def __init__(self) -> None:
        self._functions: dict[str, Function] = {}
        self._types: dict[Any, str] = {}
        self._ancestors: dict[str, frozenset[str]] = {}

    @property
    def functions(self) -> Mapping[str, Function]:
        """Registered functions by name."""
        return self._functions

    def type(self, name: str = "") -> Callable[[C], C]:
        """Decorator: registers a class as a type, under its own name or `name`. Base classes accept its values."""

        def register(cls: C) -> C:
            self.name_type(cls, name or cls.__name__)
            return cls

        return register

    def name_type(self, cls: Any, name: str) -> None:
        """Registers a class that cannot be decorated (`datetime.date` as `Date`)."""
        self._types[cls] = name
        bases = inspect.getmro(cls)[1:] if inspect.isclass(cls) else ()
        self._ancestors[name] = frozenset(self._types[base] for base in bases if base in self._types)

    @overload
    def function(self, target: F, /) -> F: ...

    @overload
    def function(self, target: str, /) -> Callable[[F], F]: ...

    def function(self, target: Any, /) -> Any:
        """Decorator: registers a Python function under its own name or the given one.

        Every positional parameter and the result are annotated; keyword-only parameters are resources. Raises
        `InvalidRule` for a missing annotation, an unregistered type or a name already taken.
        """
        if isinstance(target, str):
            return lambda implementation: self._register(target, implementation)
        return self._register(target.__name__, target)

    def constructor(self, name: str = "") -> Callable[[C], C]:
        """Decorator: registers a class as a type and as the function that builds it."""

        def register(cls: C) -> C:
            self.name_type(cls, name or cls.__name__)
            self._register(name or cls.__name__, cls)
            return cls

        return register

    def signature(self, name: str) -> Function:
        """The function of this name. Raises `UnknownName`, which lists the nearest."""
        try:
            return self._functions[name]
        except KeyError:
            raise UnknownName("function", name, self._functions) from None

    def constant(self, value: Any) -> Constant:
        """A plain value as a node; its type is that of its class where it is registered."""
        name = self._types.get(type(value)) or BUILTIN.get(type(value))
        return Constant(value, Type(name) if name else DYNAMIC)

    def call(
        self, name: str, *arguments: Any, type_arguments: Sequence[Type] = (), keywords: Sequence[str] = ()
    ) -> Call:
        """A checked call. Arguments that are not computations become constants.

        `keywords` names the last arguments, in their order. Raises `UnknownName` for the function or a keyword, and
        `InvalidRule` for wrong numbers or types, naming the node.
        """
        function = self.signature(name)
        nodes = tuple(item if isinstance(item, Call | Constant) else self.constant(item) for item in arguments)
        bindings: dict[str, Type] = {}
        if type_arguments:
            bindings = _explicit(function, type_arguments)
        for parameter, node in _assign(function, nodes, tuple(keywords)):
            if not accepts(parameter.type, node.type, bindings, self._ancestors):
                wanted = substitute(parameter.type, bindings)
                raise InvalidRule(
                    f"{name}, argument '{parameter.name}': expected {wanted}, got {node.type} from {label(node)}."
                )
        return Call(name, nodes, tuple(keywords), tuple(type_arguments), substitute(function.type, bindings))

    def is_type(self, expected: Type, actual: Type) -> bool:
        """Whether a node of type `actual` may be ascribed `expected`."""
        return accepts(expected, actual, {}, self._ancestors)

    def _register(self, name: str, implementation: F) -> F:
        if name in self._functions:
            raise InvalidRule(f"The function '{name}' is registered twice.")
        hints = _hints(implementation)
        parameters, resources = [], {}
        for item in inspect.signature(implementation).parameters.values():
            if item.name not in hints:
                raise InvalidRule(f"The function '{name}': parameter '{item.name}' has no annotation.")
            if item.kind is inspect.Parameter.KEYWORD_ONLY:
                resources[item.name] = hints[item.name]
                continue
            many = item.kind is inspect.Parameter.VAR_POSITIONAL
            kind = from_annotation(hints[item.name], self._types)
            parameters.append(Parameter(item.name, kind, item.default is not inspect.Parameter.empty or many, many))
        returns = implementation if inspect.isclass(implementation) else hints.get("return", typing.Any)
        result = from_annotation(returns, self._types)
        plain = returns if inspect.isclass(returns) and returns is not float else None
        self._functions[name] = Function(name, tuple(parameters), result, implementation, resources, plain)
        return implementation


def _hints(implementation: Any) -> dict[str, Any]:
    if inspect.isclass(implementation):
        hints = typing.get_type_hints(implementation.__init__)
        return {**typing.get_type_hints(implementation), **hints}
    return typing.get_type_hints(implementation)


def _explicit(function: Function, given: Sequence[Type]) -> dict[str, Type]:
    names = function.type_variables
    if len(given) > len(names):
        raise InvalidRule(
            f"{function.name} takes {len(names)} type arguments, got {len(given)}: {', '.join(map(str, given))}."
        )
    return dict(zip(names, given, strict=False))


def _assign(
    function: Function, nodes: tuple[Computation, ...], keywords: tuple[str, ...]
) -> list[tuple[Parameter, Computation]]:
    """Parameters with their arguments. Raises for too many, too few, unknown or repeated ones."""
    parameters = function.parameters
    placed = nodes[: len(nodes) - len(keywords)]
    many = bool(parameters) and parameters[-1].many
    if len(placed) > len(parameters) and not many:
        raise InvalidRule(f"{function.name} takes at most {len(parameters)} arguments, got {len(placed)}.")
    pairs = [(parameters[min(index, len(parameters) - 1)], node) for index, node in enumerate(placed)]
    given = {parameter.name for parameter, _ in pairs}
    by_name = {parameter.name: parameter for parameter in parameters}
    for keyword, node in zip(keywords, nodes[len(placed) :], strict=True):
        if keyword not in by_name:
            raise UnknownName(f"argument of {function.name}", keyword, by_name)
        if keyword in given:
            raise InvalidRule(f"{function.name}: argument '{keyword}' is given twice.")
        given.add(keyword)
        pairs.append((by_name[keyword], node))
    missing = [item.name for item in parameters if not item.optional and item.name not in given]
    if missing:
        raise InvalidRule(f"{function.name}: missing argument {', '.join(missing)}.")
    return pairs
