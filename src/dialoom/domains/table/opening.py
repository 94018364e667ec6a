"""A domain over one's own table: one call, with words for the columns that are asked about."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from dialoom.domains.table.functions import Database, quoted, table_library
from dialoom.domains.table.rules import table_rules
from dialoom.errors import InvalidFile, UnknownName
from dialoom.generation import Domain


def open_table(
    path: Path | str,
    table: str,
    *,
    singular: str = "row",
    plural: str = "",
    label: str = "",
    verbs: Mapping[str, str] | None = None,
) -> Domain:
    """A domain that speaks about a table of a SQLite file, read only.

    `singular` and `plural` name a row, `label` is the column that names it (the first one by default), and `verbs` say
    columns in words: `{"price": "costs {value} euros"}`. Raises `InvalidFile` for a file that is no database and
    `UnknownName` for a table or a column that is not there.
    """
    source = Path(path)
    if not source.is_file():
        raise InvalidFile(source, "there is no such file.")
    try:
        with closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            query = "select name from sqlite_master where type in ('table', 'view')"
            tables = [name for (name,) in connection.execute(query)]
            if table not in tables:
                raise UnknownName("table", table, tables)
            columns = [row[1] for row in connection.execute(f"pragma table_info({quoted(table)})")]
    except sqlite3.Error as error:
        raise InvalidFile(source, f"not a SQLite database ({error}).") from error
    for name in [*([label] if label else []), *(verbs or {})]:
        if name not in columns:
            raise UnknownName(f"column of {table}", name, columns)
    database = Database(
        path=source,
        table=table,
        columns=tuple(columns),
        singular=singular,
        plural=plural or f"{singular}s",
        label=label or columns[0],
        verbs=dict(verbs or {}),
    )
    return Domain(table_library, table_rules, resources=lambda: [database])
