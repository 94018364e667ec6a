"""Lispress and JSON: reading, printing, and what their errors say."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dialoom.dataflow import UNCHECKED, Call, Library, from_json, from_lispress, to_json, to_lispress, walk
from dialoom.dataflow.lispress import read, write
from dialoom.errors import InvalidRule, UnknownName


@pytest.fixture
def numbers() -> Library:
    library = Library()

    @library.function
    def add(x: int, y: int) -> int:
        return x + y

    @library.function
    def half(x: int) -> float:
        return x / 2

    return library


@pytest.mark.data
def test_that_every_program_of_the_corpus_is_read_and_printed_exactly(data: Path) -> None:
    turns = 0
    with gzip.open(data / "smcalflow" / "valid.dev.dataflow_dialogues.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            for turn in json.loads(line)["turns"]:
                plain, typed = turn["lispress"], turn["fully_typed_lispress"]
                assert write(read(plain)) == plain
                assert write(read(typed)) == typed
                assert to_lispress(from_lispress(plain, UNCHECKED)) == plain
                turns += 1
    assert turns == 8818


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(add 1L", "column 1: '(' is never closed"),
        ("(add 1L))", "unexpected ')'"),
        ("\n )", "line 2, column 2: ')' closes nothing"),
        ('(say "a', "string is never closed"),
        ("(add ^Long)", "')' closes nothing"),
        ("", "there is no expression"),
        ('"\\q"', "unknown escape"),
    ],
)
def test_that_a_syntax_error_names_its_place(text: str, problem: str) -> None:
    with pytest.raises(InvalidRule, match="Lispress") as error:
        read(text)
    assert problem in str(error.value)


def test_that_let_shares_one_node(numbers: Library) -> None:
    root = from_lispress("(let (x0 (add 1L 2L)) (add x0 x0))", numbers)
    assert isinstance(root, Call)
    assert root.arguments[0] is root.arguments[1]
    assert to_lispress(root) == "(let (x0 (add 1L 2L)) (add x0 x0))"


def test_that_a_type_mismatch_names_the_node(numbers: Library) -> None:
    with pytest.raises(InvalidRule, match=r"add, argument 'y': expected Long, got Number from half\(4\)"):
        from_lispress("(add 1L (half 4L))", numbers)


def test_that_an_unknown_function_lists_the_nearest(numbers: Library) -> None:
    with pytest.raises(UnknownName, match=r"'ad'.*Did you mean 'add'"):
        from_lispress("(ad 1L 2L)", numbers)


def test_that_a_wrong_ascription_is_an_error(numbers: Library) -> None:
    assert from_lispress("^Long (add ^Long 1L 2L)", numbers).type.name == "Long"
    with pytest.raises(InvalidRule, match="has type Long, and String is ascribed"):
        from_lispress("^String (add 1L 2L)", numbers)


def test_that_named_and_missing_arguments_are_checked(numbers: Library) -> None:
    root = from_lispress("(add 1L :y 2L)", numbers)
    assert to_lispress(root) == "(add 1L :y 2L)"
    with pytest.raises(UnknownName, match="argument of add 'z'"):
        from_lispress("(add 1L :z 2L)", numbers)
    with pytest.raises(InvalidRule, match="missing argument y"):
        from_lispress("(add 1L)", numbers)
    with pytest.raises(InvalidRule, match="'x' is given twice"):
        from_lispress("(add 1L :x 2L)", numbers)


def test_that_json_keeps_shared_nodes_and_finds_cycles(numbers: Library) -> None:
    root = from_lispress("(let (x0 (add 1L 2L)) (add x0 :y x0))", numbers)
    again = from_json(json.loads(json.dumps(to_json(root))), numbers)
    assert to_lispress(again) == to_lispress(root)
    cyclic = {
        "root": "a",
        "nodes": {"a": {"call": "half", "arguments": ["b"]}, "b": {"call": "half", "arguments": ["a"]}},
    }
    with pytest.raises(InvalidRule, match=r"Node '[ab]' is part of a cycle"):
        from_json(cyclic, numbers)
    with pytest.raises(UnknownName, match="node 'c'"):
        from_json({"root": "c", "nodes": {}}, numbers)
    with pytest.raises(InvalidRule, match="Node 'a': half, argument 'x'"):
        from_json({"root": "a", "nodes": {"a": {"call": "half", "arguments": ["t"]}, "t": {"value": "x"}}}, numbers)


def test_that_depth_does_not_matter(numbers: Library) -> None:
    text = "(add 1L " * 5000 + "0L" + ")" * 5000
    root = from_lispress(text, numbers)
    assert to_lispress(root) == text
    assert sum(1 for _ in walk(from_json(to_json(root), numbers))) == 10001
