"""Flow files: lines, limits, no surprises of YAML, the published schema."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from dialoom.errors import InvalidFile
from dialoom.flows import flow_schema, load_flow, parse_flow
from dialoom.flows.source import parse_yaml

SHOP = Path(__file__).parents[2] / "examples" / "shop" / "shop.yaml"
SMALL = """flow: small
start: hello
nodes:
  hello: {say: Hello., go: end}
"""


def test_that_a_flow_knows_the_line_of_every_node() -> None:
    loaded = parse_flow(SMALL, "small.yaml")
    assert loaded.source.line(("nodes", "hello", "say")) == 4
    assert loaded.source.line(("nodes", "hello", "nowhere")) == 4


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (SMALL + "  other: {say: x}\n", 5, "'go' is missing"),
        (SMALL + "  other: {sya: x, go: end}\n", 5, "a node has one of the keys prompt, ask, say"),
        (SMALL + "  other: {say: x, go: end, goto: y}\n", 5, "'goto' is not a key here"),
        (SMALL + "  hello: {say: x, go: end}\n", 5, "'hello' is given twice"),
        (SMALL + "slots:\n  size: {type: choice}\n", 6, "needs choices"),
        (SMALL + "slots:\n  n: {type: number, min: 3, max: 2}\n", 6, "no value is allowed"),
        (SMALL + "slots:\n  n: {type: number, default: many}\n", 6, "is not a number"),
        (SMALL + "slots:\n  n: {pattern: '['}\n", 6, "not a regular expression"),
        (SMALL + "  end: {say: x, go: end}\n", 1, "reserved target"),
        (SMALL + "constraints: [{lenght: 3}]\n", 5, "a constraint has one of the keys required"),
        ("flow: [\n", 2, "not YAML"),
        ("flow: !!python/object:os.system {}\n", 1, "is not allowed"),
        ("- a\n", 0, "is a mapping"),
    ],
)
def test_that_a_mistake_is_named_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(InvalidFile) as caught:
        parse_flow(text, "f.yaml")
    assert words in str(caught.value)
    assert not line or caught.value.place == f"line {line}"


def test_that_yaml_holds_no_surprises() -> None:
    data, _ = parse_yaml("{a: no, b: 12:30, c: 2026-11-21, d: true, e: 010, f: 3, on: x}", "f")
    assert data == {"a": "no", "b": "12:30", "c": "2026-11-21", "d": True, "e": "010", "f": 3, "on": "x"}


def test_that_an_alias_bomb_is_refused() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for this, last in zip("bcdefgh", "abcdefg", strict=True):
        bomb += f"{this}: &{this} [{', '.join([f'*{last}'] * 10)}]\n"
    with pytest.raises(InvalidFile, match="too many values"):
        parse_yaml(bomb, "f")


def test_that_deep_nesting_is_refused() -> None:
    with pytest.raises(InvalidFile):
        parse_yaml("[" * 3000 + "]" * 3000, "f")


def test_that_the_published_schema_accepts_the_examples_and_refuses_mistakes() -> None:
    schema = flow_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    data, _ = parse_yaml(SHOP.read_text(), "shop")
    assert [error.message for error in validator.iter_errors(data)] == []
    data["nodes"]["greeting"]["colour"] = "red"
    assert not validator.is_valid(data)


def test_that_the_schema_file_beside_the_package_is_up_to_date() -> None:
    published = Path(load_flow.__code__.co_filename).parent / "schemas" / "flow.schema.json"
    assert json.loads(published.read_text()) == flow_schema()
