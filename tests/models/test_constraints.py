"""Constraints are compiled once, whatever the caller does with the value afterwards."""

from __future__ import annotations

from typing import Any

from dialoom.models.base import Constraint
from dialoom.models.constraints import compiled


def test_that_equal_constraints_are_compiled_once() -> None:
    assert compiled(Constraint("regex", "a+b")) is compiled(Constraint("regex", "a+b"))
    assert compiled(Constraint("regex", "a+b")) is not compiled(Constraint("regex", "a+c"))


def test_that_a_change_of_the_callers_schema_does_not_reach_the_compiled_one() -> None:
    schema: dict[str, Any] = {"enum": ["one"]}
    first = compiled(Constraint("json_schema", schema))
    schema["enum"].append("two")
    assert first.problem('"two"')
    assert compiled(Constraint("json_schema", schema)).problem('"two"') == ""
