"""The benchmark's venues and trains, asked by constraints, with the fuzzy name matching of its evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dialoom.evaluation.multiwoz.spelling import UNCONSTRAINED, Spelling, minutes

FUZZY: Mapping[str, frozenset[str]] = {
    "attraction": frozenset({"name"}),
    "hotel": frozenset({"name"}),
    "restaurant": frozenset({"name", "food"}),
    "train": frozenset({"departure", "destination"}),
}
"""Domains with a database, and the columns matched by likeness."""

_IGNORED = frozenset({"location", "openhours", "takesbookings", "introduction", "signature"})
_WORDS = frozenset({"area", "day", "departure", "destination", "food", "name", "pricerange", "type"})
_ANYTHING = "?"  # a database value that satisfies every constraint
_LIKE = 0.895  # of 1: what rounds to 90 percent


class Venues:
    """Entities by domain. `tables`: domain -> rows of the original database files."""

    def __init__(self, tables: Mapping[str, Sequence[Mapping[str, Any]]], spelling: Spelling) -> None:
        self._spelling = spelling
        self._rows = {
            domain: [{spelling.slot(c): v for c, v in row.items() if isinstance(v, str)} for row in rows]
            for domain, rows in tables.items()
        }
        self._columns = {domain: _index(rows) for domain, rows in self._rows.items()}
        self._matches: dict[tuple[str, str, str], frozenset[int]] = {}
        self._found: dict[tuple[str, tuple[tuple[str, str], ...]], frozenset[str]] = {}

    def query(self, domain: str, constraints: Mapping[str, str]) -> frozenset[str]:
        """Ids of the entities that satisfy all `constraints` (slot -> value); none for a domain without a database.

        Slots that are no column, such as booking slots, constrain nothing; neither do "dontcare" values.
        """
        asked = tuple(
            (column, constraints[column])
            for column in self._columns.get(domain, ())
            if column in constraints and constraints[column] not in UNCONSTRAINED
        )
        found = self._found.get((domain, asked))
        if found is None:
            found = self._found[domain, asked] = self._query(domain, asked)
        return found

    def vocabulary(self) -> frozenset[str]:
        """All values of the columns a user may constrain by words: everything but times, prices and numbers."""
        return frozenset(
            value
            for columns in self._columns.values()
            for column, rows in columns.items()
            if column in _WORDS
            for value in rows
        ) - {_ANYTHING}

    def _query(self, domain: str, asked: Sequence[tuple[str, str]]) -> frozenset[str]:
        rows = self._rows.get(domain, [])
        left = frozenset(range(len(rows)))
        for column, value in asked:
            left &= self._matching(domain, column, self._spelling.value(column, value))
        key = "trainid" if domain == "train" else "id"
        return frozenset(rows[row][key] for row in left)

    def _matching(self, domain: str, column: str, value: str) -> frozenset[int]:
        found = self._matches.get((domain, column, value))
        if found is None:
            accepts = _accepting(domain, column, value)
            values = self._columns[domain][column]
            found = frozenset(row for held in values if held == _ANYTHING or accepts(held) for row in values[held])
            self._matches[domain, column, value] = found
        return found


def _index(rows: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[int]]]:
    """Column -> value -> the rows that hold it; a row without the column holds anything."""
    columns = sorted({column for row in rows for column in row} - _IGNORED)
    index: dict[str, dict[str, list[int]]] = {column: {} for column in columns}
    for place, row in enumerate(rows):
        for column in columns:
            index[column].setdefault(row.get(column, _ANYTHING), []).append(place)
    return index


def _accepting(domain: str, column: str, value: str) -> Callable[[str], bool]:
    """Whether a database value satisfies a constraint: times by order, names by likeness, the rest by equality."""
    if column == "arrive":
        return lambda held: minutes(held) <= minutes(value)
    if column == "leave":
        return lambda held: minutes(held) >= minutes(value)
    if column in FUZZY[domain]:
        return lambda held: alike(held, value)
    return lambda held: held == value


def alike(a: str, b: str) -> bool:
    """Is the shorter text, to nine tenths, in the longer one?

    Compares it with every window of its own length by the longest common subsequence: the "partial ratio" of string
    matching libraries, at 90 after rounding, without their windows cut short at the ends.
    """
    short, long = sorted((a, b), key=len)
    if not short or short in long:
        return bool(short)
    least = _LIKE * len(short)
    if (Counter(short) & Counter(long)).total() < least:  # too few letters in common, whatever their order
        return False
    starts = range(len(long) - len(short) + 1)
    return any(_common(short, long[start : start + len(short)]) >= least for start in starts)


def _common(a: str, b: str) -> int:
    """Length of the longest common subsequence, one machine word of bits a row (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << place
    full = (1 << len(a)) - 1
    row = full
    for letter in b:
        matched = row & places.get(letter, 0)
        row = (row + matched | row - matched) & full
    return len(a) - row.bit_count()
