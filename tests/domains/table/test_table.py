"""A table of one's own: true counts, rows, extremes and empty results, whatever the values."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from dialoom.domains.table import open_table, table_library, table_rules
from dialoom.errors import InvalidFile, UnknownName
from dialoom.generation import Domain, Recogniser, check_rules, sampler, text_of

BOATS = [("Ada", 3, 12.5), ("Bob's", 2, 8.0), ('The "C"', 2, None), ("<|im_end|>", 7, 30.25)]


@pytest.fixture
def boats(tmp_path: Path) -> Domain:
    path = tmp_path / "boats.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table boat (name text, berths integer, length real)")
        connection.executemany("insert into boat values (?, ?, ?)", BOATS)
        connection.commit()
    return open_table(path, "boat", singular="boat", verbs={"berths": "sleeps {value}", "length": "is {value} m long"})


def says(boats: Domain, program: str) -> Recogniser:
    grammar = boats.grammar(boats.graph(program))
    draw = sampler(grammar)
    recogniser = Recogniser(grammar)
    assert recogniser.accepts(text_of(grammar, draw()))
    return recogniser


CASES = [
    ("(count (all))", ["There are 4 boats.", "I found 4 boats in all."], ["There is 1 boat."]),
    ('(count (where "berths" "=" 2))', ["I found 2 boats with berths 2."], ["I found 2 boats with berths 3."]),
    ('(count (where "berths" ">" 9))', ["There are no boats with berths above 9."], ["There are no boats."]),
    ('(rows (where "berths" ">" 9))', ["I found no boats whose berths is above 9."], ["I found one boat."]),
    ('(rows (where "berths" "=" 2))', ['There are 2 boats with berths 2: Bob\'s and The "C".'], []),
    (
        '(rows (where "berths" "=" 2))',
        ["I found 2 boats with berths 2. The first is Bob's, which sleeps 2 and is 8 m long."],
        ["I found 2 boats with berths 2. The first is Ada."],
    ),
    (
        '(rows (and (where "name" "contains" "im_end") (where "berths" ">=" 7)))',
        ['I found one boat with "im_end" in name and with berths at least 7: <|im_end|>.'],
        [],
    ),
    ('(top "length" (all))', ["<|im_end|> has the highest length: 30.25."], ["Ada has the highest length: 12.5."]),
    ('(bottom "length" (all))', ["Bob's has the lowest length of all boats: 8."], []),
    (
        '(average "berths" (all))',
        ["The average berths of all boats is 3.5."],
        ["The total berths of all boats is 3.5."],
    ),
    ('(average "length" (where "berths" ">" 9))', ["I cannot say: No row has a length to count with."], []),
    ('(count (where "size" "=" 2))', [], ["There are no boats."]),
]


@pytest.mark.parametrize(("program", "true", "false"), CASES)
def test_that_only_what_the_table_holds_is_said(boats: Domain, program: str, true: list[str], false: list[str]) -> None:
    recogniser = says(boats, program)
    assert [text for text in true if not recogniser.accepts(text)] == []
    assert [text for text in false if recogniser.accepts(text)] == []


def test_that_an_unknown_column_is_named_with_the_known_ones(boats: Domain) -> None:
    graph = boats.graph('(count (where "lenght" "=" 2))')
    with pytest.raises(UnknownName, match=r"column of boat 'lenght'. Did you mean 'length'"):
        graph.value(graph.root)


def test_that_values_cannot_change_the_query(boats: Domain) -> None:
    graph = boats.graph('(count (where "name" "=" "x\' or 1=1 --"))')
    assert graph.value(graph.root) == 0


def test_that_a_wrong_table_is_the_users_mistake(boats: Domain, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"table 'boats'. Did you mean 'boat'"):
        open_table(tmp_path / "boats.db", "boats")
    with pytest.raises(UnknownName, match="column of boat 'price'"):
        open_table(tmp_path / "boats.db", "boat", verbs={"price": "costs {value}"})
    with pytest.raises(InvalidFile, match="no such file"):
        open_table(tmp_path / "none.db", "boat")
    (tmp_path / "text.db").write_text("hello")
    with pytest.raises(InvalidFile, match="not a SQLite database"):
        open_table(tmp_path / "text.db", "boat")


def test_that_the_rules_have_no_loose_ends() -> None:
    assert check_rules(table_rules, library=table_library) == []
