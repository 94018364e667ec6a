"""Tags on disk, so that a stopped run goes on where it was."""

from __future__ import annotations

import json
import sqlite3
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path

from dialoom.errors import InvalidFile


class TagCache:
    """Keys to tags in an SQLite file (or in memory); a write is whole or not at all, and processes may share it."""

    def __init__(self, path: Path | str | None = None) -> None:
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        self._tables = sqlite3.connect(str(path or ":memory:"), timeout=30, check_same_thread=False)
        try:
            with self._tables:
                self._tables.execute("CREATE TABLE IF NOT EXISTS tags (key TEXT PRIMARY KEY, tags TEXT NOT NULL)")
        except sqlite3.DatabaseError as error:
            self._tables.close()
            raise InvalidFile(path, f"not a tag cache ({error}).", hint="Name another file, or delete it.") from error
        weakref.finalize(self, self._tables.close)

    def found(self, keys: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """The tags kept under those of `keys` that are known."""
        query = "SELECT tags FROM tags WHERE key = ?"
        with self._lock:
            rows = {key: self._tables.execute(query, (key,)).fetchone() for key in keys}
        return {key: tuple(json.loads(row[0])) for key, row in rows.items() if row}

    def keep(self, tags: Mapping[str, tuple[str, ...]]) -> None:
        """Keep all of these, or none if stopped."""
        rows = [(key, json.dumps(value, ensure_ascii=False)) for key, value in tags.items()]
        with self._lock, self._tables:
            self._tables.executemany("INSERT OR REPLACE INTO tags VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._tables.close()
