"""Passages on disk: one SQLite table that knows what changed since the last time."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dialoom.errors import UsageError
from dialoom.knowledge.base import Passage
from dialoom.knowledge.terms import words

Rows = NDArray[np.int64]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS passages (
    row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, digest TEXT NOT NULL, owner TEXT NOT NULL,
    tokens TEXT NOT NULL, value TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS passages_owner ON passages (owner);
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
    """Passages by id. A changed passage gets a new row number, so a row number always means one text."""

    def __init__(self, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path or ":memory:", check_same_thread=False)
        self._db.executescript(_SCHEMA)
        if self._db.execute("SELECT COUNT(*) FROM revision").fetchone()[0] == 0:
            with self._db:
                self._db.execute("INSERT INTO revision VALUES (0)")

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    @property
    def revision(self) -> int:
        """Grows by one with every update that changed anything."""
        with self._lock:
            return int(self._db.execute("SELECT number FROM revision").fetchone()[0])

    def update(self, passages: Iterable[Passage], remove: Iterable[str] = (), *, exactly: bool = False) -> Changes:
        """Add and change `passages` by id, remove others by id; with `exactly`, remove all that were not given.

        One transaction: all of it or nothing. Raises `UsageError` when an id is given twice.
        """
        added = changed = unchanged = 0
        given: set[str] = set()
        with self._lock, self._db:
            for passage in passages:
                if passage.id in given:
                    raise UsageError(
                        f"Two passages have the id '{passage.id}'.", hint="Ids are unique inside a source."
                    )
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
            changes = Changes(added, changed, removed, unchanged)
            if changes:
                self._db.execute("UPDATE revision SET number = number + 1")
        return changes

    def _insert(self, passage: Passage, digest: str) -> None:
        value = json.dumps(
            {
                "text": passage.text,
                "parents": passage.parents,
                "origin": passage.origin,
                "start": passage.start,
                "end": passage.end,
                "metadata": dict(passage.metadata),
            },
            ensure_ascii=False,
        )
        cursor = self._db.execute(
            "INSERT INTO passages (id, digest, owner, tokens, value) VALUES (?, ?, ?, ?, ?)",
            (passage.id, digest, passage.owner, " ".join(words(passage.text)), value),
        )
        self._db.executemany("INSERT INTO links VALUES (?, ?)", ((p, cursor.lastrowid) for p in passage.parents))

    def _delete(self, id_: str) -> int:
        self._db.execute("DELETE FROM links WHERE row IN (SELECT row FROM passages WHERE id = ?)", (id_,))
        return self._db.execute("DELETE FROM passages WHERE id = ?", (id_,)).rowcount

    def rows(self) -> Rows:
        """Every row number, ascending."""
        return self._numbers("SELECT row FROM passages ORDER BY row", ())

    def owned_rows(self, owner: str) -> Rows:
        """Row numbers that belong to `owner` alone, ascending."""
        return self._numbers("SELECT row FROM passages WHERE owner = ? ORDER BY row", (owner,))

    def linked_rows(self, parents: Sequence[str]) -> Rows:
        """Row numbers of passages that hang from any of `parents`, ascending."""
        marks = ",".join("?" * len(parents))
        return self._numbers(f"SELECT DISTINCT row FROM links WHERE parent IN ({marks}) ORDER BY row", tuple(parents))  # noqa: S608

    @property
    def has_owners(self) -> bool:
        """Whether any passage belongs to one user."""
        return bool(len(self._numbers("SELECT row FROM passages WHERE owner != '' LIMIT 1", ())))

    @property
    def has_links(self) -> bool:
        """Whether any passage hangs from another."""
        return bool(len(self._numbers("SELECT row FROM links LIMIT 1", ())))

    def _numbers(self, query: str, values: tuple[str, ...]) -> Rows:
        with self._lock:
            return np.array([row[0] for row in self._db.execute(query, values)], dtype=np.int64)

    def tokens(self) -> list[list[str]]:
        """Words of every passage, in row order; split when the passage was stored, not now."""
        with self._lock:
            return [row[0].split(" ") for row in self._db.execute("SELECT tokens FROM passages ORDER BY row")]

    def fetch(self, rows: Sequence[int], owner: str) -> dict[int, Passage]:
        """Passages by row number, leaving out what belongs to anyone but `owner`."""
        marks = ",".join("?" * len(rows))
        query = f"SELECT row, id, owner, value FROM passages WHERE row IN ({marks}) AND owner IN ('', ?)"  # noqa: S608
        with self._lock:
            found = self._db.execute(query, (*map(int, rows), owner)).fetchall()
        passages = {}
        for row, id_, owned, value in found:
            kept = json.loads(value)
            passages[row] = Passage(
                id=id_,
                text=kept["text"],
                parents=tuple(kept["parents"]),
                owner=owned,
                origin=kept["origin"],
                start=kept["start"],
                end=kept["end"],
                metadata=kept["metadata"],
            )
        return passages

    def texts(self, rows: Sequence[int]) -> list[str]:
        """Texts of `rows`, in that order; for indexing only, whoever owns them."""
        found: dict[int, str] = {}
        for start in range(0, len(rows), 500):
            chunk = [int(row) for row in rows[start : start + 500]]
            marks = ",".join("?" * len(chunk))
            query = f"SELECT row, value FROM passages WHERE row IN ({marks})"  # noqa: S608
            with self._lock:
                found |= {row: json.loads(value)["text"] for row, value in self._db.execute(query, chunk)}
        return [found[int(row)] for row in rows]
