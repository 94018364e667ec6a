"""Functions over one table of a SQLite database. Names are quoted and values bound: no value changes a query."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.dataflow import Library
from dialoom.errors import CallError, UnknownName

table_library = Library()
"""Functions over a `Database`, for computations in Lispress."""
function = table_library.function

OPERATORS: Mapping[str, str] = {"=": "=", "!=": "<>", ">": ">", "<": "<", ">=": ">=", "<=": "<=", "contains": "like"}
MAX_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Database:
    """One table, read only. `singular` and `plural` name a row; `label` is the column that names it.

    `verbs` say a column in words, `{value}` standing for the value: "costs {value} euros".
    """

    path: Path
    table: str
    columns: tuple[str, ...]
    singular: str
    plural: str
    label: str
    verbs: Mapping[str, str]

    def select(self, what: str, where: Condition, tail: str = "") -> list[tuple[Any, ...]]:
        """Rows of one query. Raises `CallError` when SQLite does."""
        clause = f" where {where.sql}" if where.sql else ""
        query = f"select {what} from {quoted(self.table)}{clause}{tail}"  # noqa: S608 (names are quoted, values bound)
        try:
            with closing(sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                return connection.execute(query, where.values).fetchall()
        except sqlite3.Error as error:
            raise CallError(f"The table '{self.table}' could not be read: {error}.") from error

    def column(self, name: str) -> str:
        """The quoted column. Raises `UnknownName`, which lists the columns."""
        if name not in self.columns:
            raise UnknownName(f"column of {self.table}", name, self.columns)
        return quoted(name)


def quoted(name: str) -> str:
    """A SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


@table_library.type()
@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on rows: SQL with placeholders, and their values."""

    sql: str = ""
    values: tuple[Any, ...] = ()


@table_library.type()
@dataclass(frozen=True, slots=True)
class Row:
    """One row, by column."""

    values: tuple[tuple[str, Any], ...]

    def __getitem__(self, column: str) -> Any:
        return dict(self.values)[column]


@function("all")
def all_rows() -> Condition:
    """Every row."""
    return Condition()


@function("where")
def where(column: str, operator: str, value: str | float, *, database: Database) -> Condition:
    """Rows whose column compares so with a value. Raises `UnknownName` for a column or an operator."""
    if operator not in OPERATORS:
        raise UnknownName("operator", operator, OPERATORS)
    bound = f"%{value}%" if operator == "contains" else value
    return Condition(f"{database.column(column)} {OPERATORS[operator]} ?", (bound,))


@function("and")
def both(left: Condition, right: Condition) -> Condition:
    """Rows that meet both."""
    return Condition(f"({left.sql or '1'}) and ({right.sql or '1'})", (*left.values, *right.values))


@function("or")
def either(left: Condition, right: Condition) -> Condition:
    """Rows that meet one or the other."""
    return Condition(f"({left.sql or '1'}) or ({right.sql or '1'})", (*left.values, *right.values))


@function("rows")
def rows(condition: Condition, *, database: Database) -> list[Row]:
    """The rows that meet a condition, at most a thousand."""
    names = ", ".join(quoted(column) for column in database.columns)
    found = database.select(names, condition, f" limit {MAX_ROWS}")
    return [Row(tuple(zip(database.columns, values, strict=True))) for values in found]


@function("count")
def count(condition: Condition, *, database: Database) -> int:
    """How many rows meet a condition."""
    return int(database.select("count(*)", condition)[0][0])


@function("size")
def size(rows: list[Row]) -> int:
    """How many rows."""
    return len(rows)


@function("first")
def first(rows: list[Row]) -> Row:
    """The first row. Raises `CallError` where there is none."""
    if not rows:
        raise CallError("There is no first row.")
    return rows[0]


@function("top")
def top(column: str, condition: Condition, *, database: Database) -> Row:
    """The row with the greatest value. Raises `CallError` where there is none."""
    return _extreme(column, condition, "desc", database)


@function("bottom")
def bottom(column: str, condition: Condition, *, database: Database) -> Row:
    """The row with the least value. Raises `CallError` where there is none."""
    return _extreme(column, condition, "asc", database)


def _extreme(column: str, condition: Condition, order: str, database: Database) -> Row:
    name = database.column(column)
    known = Condition(f"({condition.sql or '1'}) and {name} is not null", condition.values)
    names = ", ".join(quoted(item) for item in database.columns)
    found = database.select(names, known, f" order by {name} {order} limit 1")
    if not found:
        raise CallError(f"No row has a {column}.")
    return Row(tuple(zip(database.columns, found[0], strict=True)))


@function("average")
def average(column: str, condition: Condition, *, database: Database) -> float:
    """The mean of a column. Raises `CallError` where no row has a value."""
    return _aggregate("avg", column, condition, database)


@function("total")
def total(column: str, condition: Condition, *, database: Database) -> float:
    """The sum of a column. Raises `CallError` where no row has a value."""
    return _aggregate("sum", column, condition, database)


def _aggregate(name: str, column: str, condition: Condition, database: Database) -> float:
    value = database.select(f"{name}({database.column(column)})", condition)[0][0]
    if not isinstance(value, int | float):
        raise CallError(f"No row has a {column} to count with.")
    return float(value)
