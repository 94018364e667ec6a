"""The calendar's types, and the functions that any type shares: constraints, comparison, reference."""

from __future__ import annotations

import datetime as dt
from typing import Any, TypeVar

from dialoom.dataflow import Call, Library
from dialoom.domains.calendar import model
from dialoom.domains.calendar.model import (
    CalendarError,
    Constraint,
    Event,
    Intension,
    NoReferent,
    NothingFound,
    PersonNotFound,
    SeveralPeople,
    TooMany,
    World,
)

T = TypeVar("T")
U = TypeVar("U")

calendar_library = Library()
"""Functions over a `World`, by the names that SMCalFlow programs use."""

for _class, _name in (
    (dt.datetime, "DateTime"),
    (dt.date, "Date"),
    (dt.time, "Time"),
    (dt.timedelta, "Duration"),
    (Constraint, "Constraint"),
    (Intension, "CalflowIntension"),
):
    calendar_library.name_type(_class, _name)
for _own in (
    model.DayOfWeek,
    model.Month,
    model.Year,
    model.Period,
    model.PeriodDuration,
    model.Holiday,
    model.ResponseStatusType,
    model.ResponseStatus,
    model.ShowAsStatus,
    model.Person,
    model.PersonName,
    model.Recipient,
    model.Attendee,
    model.LocationKeyphrase,
    model.EventId,
    model.Event,
    model.QueryEventResponse,
    model.Change,
):
    calendar_library.name_type(_own, _own.__name__)

function = calendar_library.function


def always(_: Any) -> bool:
    """True of anything."""
    return True


def merged(left: Any, right: Any) -> Any:
    """An example that both parts of a conjunction may accept."""
    if isinstance(left, dict) and isinstance(right, dict):
        both = {**left, **right}
        for name in ("attendees", "absent"):
            if name in left and name in right:
                both[name] = [*left[name], *right[name]]
        return both
    if isinstance(left, list) and isinstance(right, list):
        return [*left, *right]
    return left if right in (None, {}, []) else right


@function("Yield")
def yield_(output: T) -> T:
    """The value that the agent speaks about."""
    return output


@function("do")
def do(arg1: T, arg2: U) -> U:  # noqa: ARG001 (evaluated first, then forgotten)
    """The second value, after the first."""
    return arg2


@function("EmptyStructConstraint")
def empty_struct_constraint() -> Constraint[T]:
    """No condition."""
    return Constraint(always, None)


@function("AlwaysTrueConstraint")
def always_true() -> Constraint[T]:
    """No condition."""
    return Constraint(always, None)


@function("AlwaysFalseConstraint")
def always_false() -> Constraint[T]:
    """A condition that nothing meets."""
    return Constraint(lambda _: False, None)


@function("&")
def both(c1: Constraint[T], c2: Constraint[T]) -> Constraint[T]:
    """Both conditions."""
    return Constraint(lambda value: c1.test(value) and c2.test(value), merged(c1.example, c2.example))


@function("orConstraint")
def either(constraint1: Constraint[T], constraint2: Constraint[T]) -> Constraint[T]:
    """One condition or the other."""
    return Constraint(lambda value: constraint1.test(value) or constraint2.test(value), constraint1.example)


@function("negate")
def negate(constraint: Constraint[T]) -> Constraint[T]:
    """Not the condition."""
    return Constraint(lambda value: not constraint.test(value), None)


@function("?=")
def equals(reference: T) -> Constraint[T]:
    """Equality; places and names compare without case, as people write them."""
    return Constraint(lambda value: _folded(value) == _folded(reference), reference)


@function("?~=")
def resembles(reference: str) -> Constraint[str]:
    """A text that holds the words of the reference; case, plurals and a trailing word for a meeting do not matter."""
    wanted = _stem(reference)
    words = [word.rstrip("s") for word in wanted.split()]

    def test(value: str) -> bool:
        folded = value.casefold()
        return wanted in folded or (bool(words) and all(word in folded for word in words))

    return Constraint(test, reference)


_MEETING_WORDS = ("meeting", "appointment", "meetings", "appointments")


def _stem(text: str) -> str:
    folded = text.casefold()
    for word in _MEETING_WORDS:
        folded = folded.removesuffix(f" {word}")
    return "" if folded in _MEETING_WORDS else folded


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return value.casefold()
    if isinstance(value, model.LocationKeyphrase):
        return value.text.casefold()
    return value


@function("allows")
def allows(constraint: Constraint[T], value: T) -> bool:
    """Whether the value meets the condition."""
    return constraint.test(value)


@function(">")
def greater(x: T, y: T) -> bool:
    """X > y."""
    return bool(x > y)  # type: ignore[operator]


@function("<")
def less(x: T, y: T) -> bool:
    """X < y."""
    return bool(x < y)  # type: ignore[operator]


@function(">=")
def at_least(x: T, y: T) -> bool:
    """X >= y."""
    return bool(x >= y)  # type: ignore[operator]


@function("<=")
def at_most(x: T, y: T) -> bool:
    """X <= y."""
    return bool(x <= y)  # type: ignore[operator]


@function("==")
def same(x: T, y: T) -> bool:
    """X = y."""
    return x == y


@function("?>")
def above(reference: T) -> Constraint[T]:
    """Values above a reference."""
    return Constraint(lambda value: bool(value > reference), None)


@function("?<")
def below(reference: T) -> Constraint[T]:
    """Values below a reference."""
    return Constraint(lambda value: bool(value < reference), None)


@function("?>=")
def from_(reference: T) -> Constraint[T]:
    """Values from a reference on."""
    return Constraint(lambda value: bool(value >= reference), reference)


@function("?<=")
def up_to(reference: T) -> Constraint[T]:
    """Values up to a reference."""
    return Constraint(lambda value: bool(value <= reference), reference)


@function("+")
def plus(x: float, y: float) -> float:
    """The sum."""
    return x + y


@function("-")
def minus(x: float, y: float) -> float:
    """The difference."""
    return x - y


@function("not")
def not_(x: bool) -> bool:
    """Not x."""
    return not x


@function("and")
def and_(x: bool, y: bool) -> bool:
    """Both."""
    return x and y


@function("or")
def or_(x: bool, y: bool) -> bool:
    """One or the other."""
    return x or y


@function("List.Nil")
def nil() -> list[T]:
    """An empty list."""
    return []


@function("List.apply")
def list_of(*items: T) -> list[T]:
    """A list of these."""
    return list(items)


@function("append")
def append(list: list[T], value: T) -> list[T]:  # noqa: A002 (the corpus's name)
    """A list with one more."""
    return [*list, value]


@function("take")
def take(list: list[T], number: int) -> list[T]:  # noqa: A002
    """The first few."""
    return list[:number]


@function("takeRight")
def take_right(list: list[T], number: int) -> list[T]:  # noqa: A002
    """The last few."""
    return list[max(0, len(list) - number) :]


@function("size")
def size(list: list[T]) -> int:  # noqa: A002 (the corpus's name)
    """How many."""
    return len(list)


@function("singleton")
def singleton(list: list[T]) -> T:  # noqa: A002
    """The only one. Raises `NothingFound` or `TooMany`."""
    if not list:
        raise NothingFound("Nothing was found.")
    if len(list) > 1:
        raise TooMany(f"{len(list)} were found.")
    return list[0]


@function("head")
def head(list: list[T]) -> T:  # noqa: A002
    """The first. Raises `NothingFound`."""
    if not list:
        raise NothingFound("Nothing was found.")
    return list[0]


@function("extensionConstraint")
def extension_constraint(constraint: Constraint[T]) -> Constraint[Intension[T]]:
    """A condition on what a reference stands for."""
    return Constraint(always, constraint)


@function("refer")
def refer(constraint: Constraint[Intension[T]]) -> Intension[T]:
    """Something known that meets the condition, found when it is executed."""
    inner = constraint.example if isinstance(constraint.example, Constraint) else Constraint(always)
    return Intension(inner)


@function("Execute")
def execute(intension: Intension[T], *, world: World, node: Call) -> T:
    """What a reference stands for: a person of the directory, or what was spoken of last.

    Raises `PersonNotFound`, `SeveralPeople` or `NoReferent`.
    """
    if intension.confirms:
        return world.confirm()  # type: ignore[return-value]
    constraint = intension.constraint
    kind = node.type.name
    if kind in ("Recipient", "Person"):
        return _person(constraint, world)  # type: ignore[return-value]
    found: Any = world.salient_event if kind == "Event" else world.salient_date
    if found is None or not constraint.test(found):
        raise NoReferent(f"No {kind} was spoken of before.")
    return found  # type: ignore[no-any-return]


def _person(constraint: Constraint[Any], world: World) -> model.Recipient:
    if constraint.example is None and world.salient_person is not None:
        return world.salient_person
    people = [person for person in world.people if constraint.test(person)]
    if not people:
        raise PersonNotFound(constraint.example.name if constraint.example else "that")
    if len(people) > 1:
        raise SeveralPeople(len(people))
    return people[0]


__all__ = ["CalendarError", "Event", "always", "calendar_library", "function", "merged"]
