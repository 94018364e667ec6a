"""Dated facts about users in SQLite. Every read and write names the user; none reads across users."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from dialoom.errors import UsageError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (
    number INTEGER PRIMARY KEY AUTOINCREMENT, user TEXT NOT NULL, subject TEXT NOT NULL, value TEXT NOT NULL,
    text TEXT NOT NULL, said_at TEXT NOT NULL, dialogue TEXT NOT NULL,
    confirmed INTEGER NOT NULL, asked INTEGER NOT NULL, times INTEGER NOT NULL, replaced_at TEXT
);
CREATE INDEX IF NOT EXISTS facts_user ON facts (user, subject);
"""
_COLUMNS = "number, subject, value, text, said_at, dialogue, confirmed, asked, times, replaced_at"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something a user said about themselves. `subject` is what it is about (`shoe size`), one current value each.

    `asked` says that the user was asked to confirm it.
    """

    number: int
    subject: str
    value: str
    text: str
    said_at: datetime
    dialogue: str = ""
    confirmed: bool = True
    asked: bool = False
    times: int = 1
    replaced_at: datetime | None = None


class Memory:
    """Facts by user, in a file or in memory. What is forgotten is overwritten in the file.

    With `keep`, a fact that was last said longer ago is never read again and goes at the next write or opening.
    `clock` gives the time, in UTC.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        keep: timedelta | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        self._clock = clock or (lambda: datetime.now(UTC))
        self._lock = threading.Lock()
        self._keep = keep
        self._db = sqlite3.connect(path or ":memory:", check_same_thread=False)
        self._db.execute("PRAGMA secure_delete = ON")
        self._db.executescript(_SCHEMA)
        self._forget_old()

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def remember(
        self,
        user: str,
        subject: str,
        value: str,
        text: str,
        *,
        dialogue: str = "",
        confirmed: bool = True,
        asked: bool = False,
    ) -> Fact:
        """Keep a fact; the same value again counts once more, another value of the subject replaces the old one.

        An unconfirmed value never replaces a confirmed one: it waits beside it until `confirm`.
        """
        self._check(user)
        self._forget_old()
        now = self._clock().isoformat()
        with self._lock, self._db:
            same = self._db.execute(
                "SELECT number, confirmed FROM facts"
                " WHERE user = ? AND subject = ? AND value = ? AND replaced_at IS NULL",
                (user, subject, value),
            ).fetchone()
            if same:
                number = int(same[0])
                self._db.execute(
                    "UPDATE facts SET times = times + 1, said_at = ?, text = ?, confirmed = max(confirmed, ?)"
                    " WHERE number = ?",
                    (now, text, int(confirmed), number),
                )
                confirmed = confirmed or bool(same[1])
            else:
                cursor = self._db.execute(
                    "INSERT INTO facts (user, subject, value, text, said_at, dialogue, confirmed, asked, times)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)",
                    (user, subject, value, text, now, dialogue, int(confirmed), int(asked)),
                )
                number = int(cursor.lastrowid or 0)
            if confirmed:
                self._replace_others(user, subject, number, now)
        return self._one(user, number)

    def confirm(self, user: str, number: int) -> Fact:
        """Mark a waiting fact as confirmed; it then replaces the subject's older value."""
        fact = self._one(user, number)
        now = self._clock().isoformat()
        with self._lock, self._db:
            self._db.execute("UPDATE facts SET confirmed = 1 WHERE number = ? AND user = ?", (number, user))
            self._replace_others(user, fact.subject, number, now)
        return self._one(user, number)

    def facts(self, user: str) -> list[Fact]:
        """Confirmed, current facts of one user, newest first."""
        return self._select(user, "confirmed = 1 AND replaced_at IS NULL")

    def waiting(self, user: str) -> list[Fact]:
        """Facts of one user that still need a yes, newest first."""
        return self._select(user, "confirmed = 0 AND replaced_at IS NULL")

    def history(self, user: str) -> list[Fact]:
        """All that is kept about one user, replaced values included, newest first: what to show on request."""
        return self._select(user, "1")

    def forget(self, user: str, subject: str | None = None) -> int:
        """Delete one subject of a user, or everything about them, replaced values included; how many facts went."""
        self._check(user)
        with self._lock, self._db:
            if subject is None:
                return self._db.execute("DELETE FROM facts WHERE user = ?", (user,)).rowcount
            return self._db.execute("DELETE FROM facts WHERE user = ? AND subject = ?", (user, subject)).rowcount

    def drop(self, user: str, number: int) -> None:
        """Delete one fact of a user."""
        with self._lock, self._db:
            self._db.execute("DELETE FROM facts WHERE user = ? AND number = ?", (user, number))

    def forget_older_than(self, age: timedelta) -> int:
        """Delete, for every user, what was last said longer than `age` ago; how many facts went."""
        limit = (self._clock() - age).isoformat()
        with self._lock, self._db:
            return self._db.execute("DELETE FROM facts WHERE said_at < ?", (limit,)).rowcount

    def _forget_old(self) -> None:
        if self._keep is not None:
            self.forget_older_than(self._keep)

    def _replace_others(self, user: str, subject: str, number: int, now: str) -> None:
        self._db.execute(
            "UPDATE facts SET replaced_at = ? WHERE user = ? AND subject = ? AND number != ? AND replaced_at IS NULL",
            (now, user, subject, number),
        )

    def _one(self, user: str, number: int) -> Fact:
        found = [fact for fact in self._select(user, "1") if fact.number == number]
        if not found:
            raise UsageError(f"There is no fact {number} about this user.")
        return found[0]

    def _select(self, user: str, condition: str) -> list[Fact]:
        self._check(user)
        oldest = "" if self._keep is None else (self._clock() - self._keep).isoformat()
        query = (
            f"SELECT {_COLUMNS} FROM facts WHERE user = ? AND said_at >= ? AND {condition}"  # noqa: S608
            " ORDER BY said_at DESC, number DESC"
        )
        with self._lock:
            rows = self._db.execute(query, (user, oldest)).fetchall()
        return [
            Fact(
                number=row[0],
                subject=row[1],
                value=row[2],
                text=row[3],
                said_at=datetime.fromisoformat(row[4]),
                dialogue=row[5],
                confirmed=bool(row[6]),
                asked=bool(row[7]),
                times=row[8],
                replaced_at=datetime.fromisoformat(row[9]) if row[9] else None,
            )
            for row in rows
        ]

    @staticmethod
    def _check(user: str) -> None:
        if not user:
            raise UsageError("Memory needs a user.", hint="Anonymous turns are not remembered; pass the user's id.")
