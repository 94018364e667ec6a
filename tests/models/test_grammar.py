"""Grammars: reading, checking, printing and matching."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dialoom.errors import UsageError
from dialoom.models.base import Constraint, ConstraintKind
from dialoom.models.constraints import compiled
from dialoom.models.grammar.matching import matches
from dialoom.models.grammar.notation import from_gbnf


def obeys(kind: ConstraintKind, value: Any, text: str) -> bool:
    return compiled(Constraint(kind, value)).problem(text) == ""


def test_that_prefix_literals_lose_no_sentence() -> None:
    # A greedy lexer takes "with Tara Smith" for its longest literal and then refuses the first sentence.
    lark = 'start: who when\nwho: "with Tara" | "with Tara Smith"\nwhen: " tomorrow" | ""'
    for text in ("with Tara", "with Tara tomorrow", "with Tara Smith", "with Tara Smith tomorrow"):
        assert obeys("lark", lark, text)
    assert not obeys("lark", lark, "with Tara Smithtomorrow")


def test_that_notations_agree_on_a_nested_language() -> None:
    gbnf = 'root ::= "(" root ")" | [a-c]+ # nested\n'
    lark = 'start: "(" start ")" | ("a".."c")+ // nested\n'
    for text, expected in (("((ab))", True), ("abc", True), ("((ab)", False), ("", False), ("(d)", False)):
        assert obeys("gbnf", gbnf, text) is expected
        assert obeys("lark", lark, text) is expected


@pytest.mark.parametrize(
    ("pattern", "good", "bad"),
    [
        (r"^\d{2,3}-[^a-f\s]+$", ["12-x", "999-ZZ"], ["1-x", "12-a", "12- "]),
        (r"(?:ab|c)*d?", ["", "abcd", "cc"], ["dd", "a"]),
        (r"a\.b\\c\/\u00e9", ["a.b\\c/é"], ["axb\\c/é"]),
        (r"[\]\-x^]+?", ["]-x^"], ["a", ""]),
        (r"\W{1}\S", ["!a"], ["aa", "! "]),
    ],
)
def test_that_regular_expressions_mean_what_they_mean(pattern: str, good: list[str], bad: list[str]) -> None:
    assert all(obeys("regex", pattern, text) for text in good)
    assert not any(obeys("regex", pattern, text) for text in bad)


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(a)\1", r"\bword\b", r"a^b", r"a$b", "a(?i:b)", "a++", "("])
def test_that_irregular_expressions_are_refused(pattern: str) -> None:
    with pytest.raises(UsageError, match="regular expression"):
        compiled(Constraint("regex", pattern))


@pytest.mark.parametrize(
    ("gbnf", "problem"),
    [
        ("root ::= (", "was expected"),
        ("root ::= missing", "'missing'"),
        ('other ::= "a"', "no start rule 'root'"),
        ('root ::= root "a" | "b"', "left-recursive"),
        ('root ::= x "a"\nx ::= "b"? root | "c"', "left-recursive"),
        ('root ::= "a" root', "empty"),
        ('root ::= "a"\nroot ::= "b"', "defined twice"),
        ('root ::= "a"{5000}', "1000"),
        ('root ::= "a"{3,2}', "bounds must rise"),
        ('root ::= [z-a]', "backwards"),
        ("root ::= <[12]>", "line 1"),
        ('root ::= "a"\n@', "line 2"),
        ("", "no start rule"),
    ],
)  # fmt: skip
def test_that_broken_grammars_are_refused_with_the_reason(gbnf: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        compiled(Constraint("gbnf", gbnf))


def test_that_dead_alternatives_are_pruned() -> None:
    grammar = from_gbnf('root ::= "a" | dead\ndead ::= "b" dead')
    assert grammar.gbnf() == 'root ::= "a"\n'
    assert matches(grammar, "a")


def test_that_a_printed_grammar_reads_back_as_the_same_language() -> None:
    grammar = from_gbnf('root ::= "q\\"\\\\\\n" [^\\]^-]{2,} (x-y | "é😀")\nx-y ::= [a-]')
    again = from_gbnf(grammar.gbnf())
    for text in ('q"\\\nxy-', 'q"\\\nabé😀', 'q"\\\na]-', "q"):
        assert matches(again, text) is matches(grammar, text)
    assert matches(grammar, 'q"\\\nxy-')


def test_that_repetitions_of_nothing_end() -> None:
    assert obeys("gbnf", 'root ::= (""|"a")* "b"', "aaab")
    assert not obeys("gbnf", 'root ::= (""|"a")* "b"', "aaac")


def test_that_deep_nesting_fails_closed() -> None:
    constraint = compiled(Constraint("gbnf", 'root ::= "(" root ")" | "x"'))
    deep = "(" * 5000 + "x" + ")" * 5000
    assert "nested too deeply" in constraint.problem(deep)


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[A-Z][a-z\"]*$"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", 1, None]}, "maxItems": 2},
        "next": {"$ref": "#/$defs/Node"},
    },
    "required": ["name", "tags"],
    "$defs": {"Node": {"type": ["object", "null"], "properties": {"next": {"$ref": "#/$defs/Node"}}}},
}  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Ann", "tags": []},
        {"name": "B", "age": 7, "tags": ["a", None], "next": None},
        {"name": "C", "tags": [1], "next": {"next": {"next": None}}},
    ],
)
def test_that_a_schemas_grammar_holds_its_documents(value: Any) -> None:
    constraint = compiled(Constraint("json_schema", SCHEMA))
    text = json.dumps(value)
    assert matches(constraint.grammar, text)
    assert constraint.problem(text) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"name": "ann", "tags": []}', "name"),
        ('{"name": "Ann"}', "tags"),
        ('{"name": "Ann", "tags": [1, 1, 1]}', "tags"),
        ('{"name": "Ann", "age": 200, "tags": []}', "age"),
        ('{"name": "Ann", "tags": [NaN]}', "not JSON"),
        ('{"name": "Ann", "tags": [', "not JSON"),
        ("```json\n{}\n```", "not JSON"),
    ],
)
def test_that_the_output_check_does_not_trust_the_grammar(text: str, problem: str) -> None:
    assert problem in compiled(Constraint("json_schema", SCHEMA)).problem(text)


@pytest.mark.parametrize(
    "schema",
    [
        "{}",
        None,
        [],
        {},
        {"type": "nonsense"},
        {"$ref": "#/nowhere"},
        {"$ref": "https://example.org/s"},
        {"type": "object", "required": ["a"]},
        {"type": "array"},
        {"type": "string", "pattern": "("},
        {"type": "array", "items": True},
        {"enum": []},
    ],
)
def test_that_schemas_without_a_grammar_are_refused(schema: Any) -> None:
    with pytest.raises(UsageError):
        compiled(Constraint("json_schema", schema))


def test_that_keywords_no_grammar_can_state_are_still_enforced() -> None:
    schema = {"type": "integer", "not": {"const": 3}, "if": {"minimum": 10}, "then": {"multipleOf": 2}}
    assert obeys("json_schema", schema, "4")
    assert not obeys("json_schema", schema, "3")
    assert not obeys("json_schema", schema, "11")


@pytest.mark.parametrize("value", ["abc", (), ("a", ""), (1,)])
def test_that_choices_are_texts(value: Any) -> None:
    with pytest.raises(UsageError, match="choice"):
        compiled(Constraint("choice", value))


def test_that_unknown_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="json_schema, lark, regex"):
        compiled(Constraint("xml", "<a/>"))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="is a text"):
        compiled(Constraint("regex", 5))
