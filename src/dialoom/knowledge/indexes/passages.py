"""Passages in SQLite, whose commit is the moment at which an index changes from its old revision to the new one."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialoom.errors import InvalidFile, UsageError
from dialoom.knowledge.base import Passage

Rows = NDArray[np.int64]
_KEPT = 10_000
"""Passages kept at hand after they were found; a row number always means one text."""
_WAIT = 600.0
"""Seconds a writer waits for another process that writes the same index."""
_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS passages (
    row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, owner TEXT NOT NULL,
    text TEXT NOT NULL, more TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS passages_owner ON passages (owner) WHERE owner != '';
CREATE TABLE IF NOT EXISTS links (parent TEXT NOT NULL, row INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS links_parent ON links (parent);
CREATE INDEX IF NOT EXISTS links_row ON links (row);
CREATE TABLE IF NOT EXISTS revision (number INTEGER NOT NULL);
"""


@dataclass(frozen=True, slots=True)
class Changes:
    """How many passages an update added, changed, removed and left alone."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.removed)


class PassageStore:
    """Passages by id. A changed passage gets a new row number, so a row number always means one text.

    In a file, readers see the last commit while a writer is at work, and one process writes at a time.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._fetched: dict[int, Passage] = {}
        self._reading, self._writing = threading.RLock(), threading.RLock()
        self._writer = self._connected()
        self._reader = self._writer
        if path is None:
            self._reading = self._writing
        self._prepare()
        if path is not None:
            self._reader = self._connected()

    def _connected(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path or ":memory:", timeout=_WAIT, check_same_thread=False, isolation_level=None
        )
        if self._path is not None:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _prepare(self) -> None:
        with self._transaction():
            version = self._writer.execute("PRAGMA user_version").fetchone()[0]
            tables = self._writer.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
            if tables and version != _VERSION:
                raise InvalidFile(
                    self._path or "", "an index of another version.", hint="Delete the folder to index anew."
                )
            if not tables:
                for statement in _SCHEMA.split(";"):
                    self._writer.execute(statement)
                self._writer.execute("INSERT INTO revision VALUES (0)")
                self._writer.execute(f"PRAGMA user_version = {_VERSION}")

    def close(self) -> None:
        """Let go of the file."""
        self._reader.close()
        self._writer.close()

    @property
    def revision(self) -> int:
        """Grows by one with every commit that changed anything."""
        with self._reading:
            return int(self._reader.execute("SELECT number FROM revision").fetchone()[0])

    @contextmanager
    def writing(self) -> Iterator[StoreUpdate]:
        """The only writer there is, in this and other processes. Committed at the end; undone if that is not reached.

        Raises `UsageError` when another process writes for longer than ten minutes.
        """
        with self._transaction():
            yield StoreUpdate(self._writer)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._writing:
            try:
                self._writer.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                raise UsageError(
                    f"The index {self._path} cannot be written ({error}).",
                    hint="Wait for the process that writes it, or look at the folder's permissions.",
                ) from error
            try:
                yield
                self._writer.execute("COMMIT")
            except BaseException:
                self._writer.execute("ROLLBACK")
                raise

    def linked_rows(self, parents: Sequence[str]) -> Rows:
        """Row numbers of passages that hang from any of `parents`, ascending."""
        marks = ",".join("?" * len(parents))
        query = f"SELECT DISTINCT row FROM links WHERE parent IN ({marks}) ORDER BY row"  # noqa: S608
        with self._reading:
            return _numbers(self._reader, query, tuple(parents))

    def fetch(self, rows: Sequence[int]) -> list[Passage | None]:
        """Passages by row number, None for what is there no more; whose they are is for the caller to mind."""
        fetched = self._fetched
        passages = list(map(fetched.get, rows))
        if all(passages):
            return passages
        with self._reading:
            found = self._read([row for row in rows if row not in fetched])
        if len(fetched) + len(found) > _KEPT:
            fetched = self._fetched = {row: fetched[row] for row in rows if row in fetched}
        fetched.update(found)
        return list(map(fetched.get, rows))

    def _read(self, rows: Sequence[int]) -> dict[int, Passage]:
        marks = ",".join("?" * len(rows))
        query = f"SELECT row, id, owner, text, more FROM passages WHERE row IN ({marks})"  # noqa: S608
        return {
            row: Passage(id_, text, owner=owner, **_unpacked(more)) if more else Passage(id_, text, owner=owner)
            for row, id_, owner, text, more in self._reader.execute(query, rows)
        }


class StoreUpdate:
    """What only a writer may do and see, until its transaction ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def update(self, passages: Iterable[Passage], remove: Iterable[str] = (), *, exactly: bool = False) -> Changes:
        """Add and change `passages` by id, remove others by id; with `exactly`, remove all that were not given.

        Raises `UsageError` when an id is given twice.
        """
        added = changed = unchanged = 0
        given: set[str] = set()
        for passage in passages:
            if passage.id in given:
                raise UsageError(f"Two passages have the id '{passage.id}'.", hint="Ids are unique inside a source.")
            given.add(passage.id)
            known = self._db.execute("SELECT digest FROM passages WHERE id = ?", (passage.id,)).fetchone()
            digest = passage.digest
            if known is None:
                added += 1
            elif known[0] == digest:
                unchanged += 1
                continue
            else:
                changed += 1
                self._delete(passage.id)
            self._insert(passage, digest)
        gone = set(remove) - given
        if exactly:
            gone |= {row[0] for row in self._db.execute("SELECT id FROM passages")} - given
        removed = sum(self._delete(id_) for id_ in gone)
        return Changes(added, changed, removed, unchanged)

    @property
    def revision(self) -> int:
        """The last one that was committed, or the one set since."""
        return int(self._db.execute("SELECT number FROM revision").fetchone()[0])

    def set_revision(self, number: int) -> None:
        """What readers find once this is committed."""
        self._db.execute("UPDATE revision SET number = ?", (number,))

    def rows(self) -> Rows:
        """Every row number, ascending."""
        return _numbers(self._db, "SELECT row FROM passages ORDER BY row", ())

    def texts(self, rows: Rows) -> Iterator[str]:
        """Texts of `rows`, in that order; for indexing only, whoever owns them."""
        for start in range(0, len(rows), 500):
            chunk = rows[start : start + 500].tolist()
            marks = ",".join("?" * len(chunk))
            query = f"SELECT text FROM passages WHERE row IN ({marks}) ORDER BY row"  # noqa: S608
            for found in self._db.execute(query, chunk).fetchall():
                yield found[0]

    def owners(self) -> dict[int, str]:
        """The owner of every row that has one, by ascending row."""
        return dict(self._db.execute("SELECT row, owner FROM passages WHERE owner != '' ORDER BY row"))

    @property
    def has_links(self) -> bool:
        """Whether any passage hangs from another."""
        return self._db.execute("SELECT 1 FROM links LIMIT 1").fetchone() is not None

    def _insert(self, passage: Passage, digest: str) -> None:
        cursor = self._db.execute(
            "INSERT INTO passages (id, digest, owner, text, more) VALUES (?, ?, ?, ?, ?)",
            (passage.id, digest, passage.owner, passage.text, _packed(passage)),
        )
        if passage.parents:
            self._db.executemany("INSERT INTO links VALUES (?, ?)", ((p, cursor.lastrowid) for p in passage.parents))

    def _delete(self, id_: str) -> int:
        self._db.execute("DELETE FROM links WHERE row IN (SELECT row FROM passages WHERE id = ?)", (id_,))
        return self._db.execute("DELETE FROM passages WHERE id = ?", (id_,)).rowcount


def _packed(passage: Passage) -> str:
    """What a passage has beside id, owner and text, as JSON; empty for the many that have nothing."""
    if not (passage.parents or passage.origin or passage.start or passage.end or passage.metadata):
        return ""
    rest = [passage.parents, passage.origin, passage.start, passage.end, dict(passage.metadata)]
    return json.dumps(rest, ensure_ascii=False)


def _unpacked(more: str) -> dict[str, Any]:
    parents, origin, start, end, metadata = json.loads(more)
    return {"parents": tuple(parents), "origin": origin, "start": start, "end": end, "metadata": metadata}


def _numbers(connection: sqlite3.Connection, query: str, values: tuple[str, ...]) -> Rows:
    return np.fromiter((row[0] for row in connection.execute(query, values)), dtype=np.int64)
