"""Laws of constraints: printing keeps their meaning, and they mean what other libraries say they mean."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dialoom.models.base import Constraint
from dialoom.models.constraints import compiled
from dialoom.models.grammar.matching import matches
from dialoom.models.grammar.notation import from_gbnf

ATOMS = st.sampled_from(["a", "b", ".", r"\d", r"\W", "[ab]", "[^a]", r"\.", "[a-c1-]"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "{1,}", "*?"])).map(
            lambda pair: f"({pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)
TEXTS = st.text(alphabet="ab1.-\n é", max_size=6)


@given(PATTERNS, st.lists(TEXTS, max_size=8))
@settings(max_examples=100, deadline=None)
def test_that_a_regex_constraint_means_what_python_means(pattern: str, texts: list[str]) -> None:
    constraint = compiled(Constraint("regex", pattern))
    expected = re.compile(pattern, re.ASCII)
    for text in texts:
        assert (constraint.problem(text) == "") is (expected.fullmatch(text) is not None)


@given(PATTERNS, st.lists(TEXTS, max_size=8))
@settings(max_examples=60, deadline=None)
def test_that_printing_a_grammar_keeps_its_language(pattern: str, texts: list[str]) -> None:
    grammar = compiled(Constraint("regex", pattern)).grammar
    again = from_gbnf(grammar.gbnf())
    assert all(matches(again, text) is matches(grammar, text) for text in texts)


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=5), st.text(max_size=6))
@settings(max_examples=60, deadline=None)
def test_that_choices_are_exactly_those_whatever_their_prefixes(choices: list[str], other: str) -> None:
    constraint = compiled(Constraint("choice", tuple(choices)))
    again = from_gbnf(constraint.grammar.gbnf())
    for text in (*choices, other):
        assert matches(constraint.grammar, text) is matches(again, text) is (text in choices)


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from(
        [
            {"type": "integer", "minimum": 0},
            {"type": "boolean"},
            {"type": "string", "maxLength": 3},
            {"enum": ["x", 'q"', None, 2.5]},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items, "maxItems": 2}, inner),
        st.builds(
            lambda first, second, needed: {
                "type": "object",
                "properties": {"first": first, "se cond": second},
                "required": sorted(needed),
                "additionalProperties": False,
            },
            inner,
            inner,
            st.sets(st.sampled_from(["first", "se cond"])),
        ),
        st.builds(lambda first, second: {"anyOf": [first, second]}, inner, inner),
    ),
    max_leaves=4,
)


@st.composite
def documents(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    """A document of a schema made above."""
    if "anyOf" in schema:
        return draw(documents(draw(st.sampled_from(schema["anyOf"]))))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    match schema["type"]:
        case "integer":
            return draw(st.integers(0, 10**6))
        case "boolean":
            return draw(st.booleans())
        case "string":
            return draw(st.text(max_size=3, alphabet=st.characters(exclude_characters="\x7f")))
        case "array":
            return draw(st.lists(documents(schema["items"]), max_size=2))
        case _:
            optional = [key for key in schema["properties"] if key not in schema["required"]]
            kept = {*schema["required"], *draw(st.sets(st.sampled_from(optional)) if optional else st.just(set()))}
            return {key: draw(documents(value)) for key, value in schema["properties"].items() if key in kept}


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_that_a_schemas_grammar_holds_its_documents_and_nothing_invalid(data: st.DataObject) -> None:
    schema = data.draw(SCHEMAS)
    constraint = compiled(Constraint("json_schema", schema))
    text = json.dumps(data.draw(documents(schema)), ensure_ascii=False)
    assert constraint.problem(text) == ""
    assert matches(constraint.grammar, text)
    foreign = json.dumps(data.draw(documents(data.draw(SCHEMAS))), ensure_ascii=False)
    if matches(constraint.grammar, foreign):
        assert Draft202012Validator(schema).is_valid(json.loads(foreign))
