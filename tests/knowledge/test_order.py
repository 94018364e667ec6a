import pytest

from dialoom.errors import UnknownName, UsageError
from dialoom.knowledge.order import call_order, closed, feasible

from .doubles import Fixed


def test_that_a_source_comes_after_those_it_depends_on() -> None:
    sources = [Fixed("DOCS", depends_on=["PERSONA"]), Fixed("OTHER"), Fixed("PERSONA")]
    order = call_order(sources)
    assert order.index("PERSONA") < order.index("DOCS")
    assert set(order) == {"DOCS", "OTHER", "PERSONA"}


def test_that_a_circle_is_an_error_that_names_it() -> None:
    with pytest.raises(UsageError, match=r"in a circle: .*A.*B"):
        call_order([Fixed("A", depends_on=["B"]), Fixed("B", depends_on=["A"])])


def test_that_an_undeclared_dependency_is_an_error() -> None:
    with pytest.raises(UnknownName, match="PERSONNA"):
        call_order([Fixed("DOCS", depends_on=["PERSONNA"]), Fixed("PERSONA")])


def test_that_two_sources_of_one_name_are_an_error() -> None:
    with pytest.raises(UsageError, match="called 'A'"):
        call_order([Fixed("A"), Fixed("A")])


def test_that_a_wish_is_closed_under_dependencies_in_call_order() -> None:
    sources = [Fixed("C", depends_on=["B"]), Fixed("B", depends_on=["A"]), Fixed("A"), Fixed("D")]
    assert closed(["C"], sources) == ("A", "B", "C")


def test_that_a_plan_in_the_wrong_order_is_not_feasible() -> None:
    sources = [Fixed("B", depends_on=["A"]), Fixed("A")]
    assert feasible(("A", "B"), sources)
    assert not feasible(("B", "A"), sources)
    assert not feasible(("X",), sources)
