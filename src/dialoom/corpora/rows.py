"""Rows of tables: CSV with places in errors, and rows gathered into conversations wherever they lie in the file."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from dialoom.corpora.base import Document
from dialoom.corpora.records import EXCERPT, Record
from dialoom.errors import InvalidRecord

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Header:
    """The first row of a table: its column names and what separates them."""

    columns: tuple[str, ...]
    delimiter: str


def header_of(head: bytes) -> Header:
    """Column names from the beginning of a CSV file; the separator is the commonest of comma, tab and semicolon."""
    line = next(iter(head.decode("utf-8-sig", "replace").splitlines()), "")
    delimiter = max(",\t;", key=line.count)
    return Header(tuple(name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])), delimiter)


def csv_rows(document: Document, header: Header) -> Iterator[Record | InvalidRecord]:
    """Rows as objects of column to text; the place is the line on which the row ends."""
    with document.open() as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        rows = csv.reader(text, delimiter=header.delimiter)
        next(rows, None)
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                yield InvalidRecord(document.name, f"not a row of a table ({error}).", place=f"line {rows.line_num}")
                continue
            if row is None:
                return
            if not row:
                continue
            place = f"line {rows.line_num}"
            if len(row) != len(header.columns):
                problem = f"expected {len(header.columns)} columns, found {len(row)}."
                raw = header.delimiter.join(row)[:EXCERPT]
                yield InvalidRecord(document.name, problem, place=place, raw=raw)
                continue
            yield Record(document.name, place, dict(zip(header.columns, row, strict=True)))


def gathered(
    rows: Callable[[], Iterator[Record | InvalidRecord]], key: Callable[[Record], Key]
) -> Iterator[tuple[Key, list[Record]] | InvalidRecord]:
    """Rows of one key together, in file order, each group given out as soon as its last row was read.

    `rows` is called twice: once to count rows by key, once to read them. Held in memory are one count a key and the
    rows of the groups that are open, so a file whose groups lie together is never held as a whole. `key` raises
    `InvalidRecord` for a row that has none; such rows are given out once, as they are met the second time.
    """
    left: Counter[Key] = Counter()
    for row in rows():
        if isinstance(row, Record):
            try:
                left[key(row)] += 1
            except InvalidRecord:
                continue
    open_groups: dict[Key, list[Record]] = {}
    for row in rows():
        if isinstance(row, InvalidRecord):
            yield row
            continue
        try:
            group = key(row)
        except InvalidRecord as problem:
            yield problem
            continue
        open_groups.setdefault(group, []).append(row)
        left[group] -= 1
        if not left[group]:
            del left[group]
            yield group, open_groups.pop(group)
