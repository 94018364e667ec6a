"""Libraries, checked calls and execution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pytest

from dialoom.dataflow import Failure, Graph, Library, Type, from_lispress
from dialoom.errors import CallError, InvalidRule

T = TypeVar("T")


class Box(Generic[T]):
    pass


class Shape:
    pass


@dataclass
class Counter:
    calls: int = 0


@pytest.fixture
def library() -> Library:
    library = Library()
    library.name_type(Box, "Box")
    library.name_type(Shape, "Shape")

    @library.constructor()
    @dataclass(frozen=True)
    class Square(Shape):
        side: int

    @library.function("empty")
    def empty() -> Box[T]:
        return Box()

    @library.function("both")
    def both(left: Box[T], right: Box[T]) -> Box[T]:
        return left

    @library.function("pure")
    def pure(value: T) -> Box[T]:
        return Box()

    @library.function("area")
    def area(shape: Shape) -> int:
        return 4

    @library.function("divide")
    def divide(x: int, y: int) -> float:
        return x / y

    @library.function("tick")
    def tick(*, counter: Counter) -> int:
        counter.calls += 1
        return counter.calls

    @library.function("lie")
    def lie() -> int:
        return "text"  # type: ignore[return-value]

    @library.function("add")
    def add(*values: int) -> int:
        return sum(values)

    return library


def test_that_type_variables_are_unified(library: Library) -> None:
    assert str(from_lispress("(both (empty) (pure 1L))", library).type) in ("Box[Long]", "Box['T]")
    assert from_lispress("(both (pure 1L) (empty))", library).type == Type("Box", (Type("Long"),))
    assert from_lispress("(^(String) empty)", library).type == Type("Box", (Type("String"),))
    with pytest.raises(InvalidRule, match=r"both, argument 'right': expected Box\[Long\], got Box\[String\]"):
        from_lispress("(both (pure 1L) (^(String) empty))", library)
    with pytest.raises(InvalidRule, match="takes 1 type arguments, got 2"):
        from_lispress("(^(String Long) empty)", library)


def test_that_a_subclass_and_a_long_for_a_number_are_accepted(library: Library) -> None:
    assert Graph(root := from_lispress("(area (Square 3L))", library), library).value(root) == 4


def test_that_a_node_is_computed_once_and_only_when_asked(library: Library) -> None:
    counter = Counter()
    graph = Graph(root := from_lispress("(let (x0 (tick)) (add x0 x0 x0))", library), library, [counter])
    assert counter.calls == 0
    assert graph.value(root) == 3
    assert graph.value(root) == 3
    assert counter.calls == 1


def test_that_an_error_is_a_value_that_names_its_node(library: Library) -> None:
    root = from_lispress("(add 1L (add 2L (lie)))", library)
    graph = Graph(root, library)
    outcome = graph.outcome(root)
    assert isinstance(outcome, Failure)
    assert isinstance(outcome.error, CallError)
    assert "lie() returned str, expected int" in str(outcome.error)
    assert outcome.node is not root
    with pytest.raises(CallError):
        graph.value(root)
    division = from_lispress("(divide 1L 0L)", library)
    failure = Graph(division, library).outcome(division)
    assert isinstance(failure, Failure)
    assert isinstance(failure.error, ZeroDivisionError)


def test_that_added_nodes_are_interned(library: Library) -> None:
    graph = Graph(root := from_lispress("(add 1L 2L)", library), library)
    assert graph.call("add", root, 1) is graph.call("add", root, 1)
    assert graph.call("add", root, 1) is not graph.call("add", root, 2)
    assert graph.constant(True) is not graph.constant(1)
    assert graph.node(graph.id(root)) is root
    assert graph.original == 3


def test_that_a_missing_resource_is_named(library: Library) -> None:
    with pytest.raises(InvalidRule, match="The graph has no Counter"):
        Graph(root := from_lispress("(tick)", library), library).value(root)


def test_that_bad_registrations_are_refused(library: Library) -> None:
    def untyped(x) -> int:  # type: ignore[no-untyped-def]
        return 1

    def foreign(x: Counter) -> int:
        return 1

    def add(x: int) -> int:
        return x

    bad: list[Any] = [(untyped, "'x' has no annotation"), (foreign, "'Counter' is not registered"), (add, "twice")]
    for function, message in bad:
        with pytest.raises(InvalidRule, match=message):
            library.function(function)


def test_that_a_deep_chain_is_executed(library: Library) -> None:
    text = "(add 1L " * 3000 + "0L" + ")" * 3000
    graph = Graph(root := from_lispress(text, library), library)
    assert graph.value(root) == 3000
