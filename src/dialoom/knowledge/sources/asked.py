"""A source as one turn sees it: what a planner has asked already is not asked again when evidence is gathered."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Literal

from dialoom.dialogue import Dialogue
from dialoom.errors import SourceError
from dialoom.knowledge.base import Evidence, Query, Source

Key = tuple[str, Dialogue, tuple[tuple[str, str], ...]]
HANGING = 8
"""Calls past their deadline after which a source is left alone until one of them comes back."""


class Underway:
    """The calls of one source that have not come back, over all turns, so that a dead source cannot pile up threads.

    `deadline` is in seconds.
    """

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline
        self._since: list[float] = []
        self._lock = threading.Lock()

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        """Around a call of the source called `name`. Raises `SourceError` when `HANGING` calls are late already."""
        now = time.monotonic()
        with self._lock:
            late = sum(now - since > self.deadline for since in self._since)
            if late >= HANGING:
                raise SourceError(f"Source '{name}' is not asked: {late} earlier calls have not come back.")
            self._since.append(now)
        try:
            yield
        finally:
            with self._lock:
                self._since.remove(now)


class AskedOnce:
    """Asks `source` each question once, also when it is asked from several threads or fails.

    Questions are the same when user, conversation and the evidence it may look at are; a search for fewer pieces is
    answered by one for more that is done or under way. Meant for one turn: nothing is ever let go.
    """

    def __init__(self, source: Source, underway: Underway) -> None:
        self.name = source.name
        self.description = source.description
        self.depends_on = source.depends_on
        self._source = source
        self._underway = underway
        self._lock = threading.Lock()
        self._answers: list[tuple[Key, int, Future[Sequence[Evidence]]]] = []

    def search(self, query: Query, n: int) -> Sequence[Evidence]:
        """See `Source`. Raises what the first search raised, `TimeoutError` when that is not back by the deadline."""
        earlier = tuple((e.source, e.id) for e in query.evidence if e.source in self.depends_on)
        key = (query.user, query.context, earlier)
        with self._lock:
            known = next((answer for asked, wide, answer in self._answers if asked == key and wide >= n), None)
            if known is None:
                answer: Future[Sequence[Evidence]] = Future()
                self._answers.append((key, n, answer))
        if known is not None:
            return known.result(self._underway.deadline)[:n]
        try:
            with self._underway.call(self.name):
                found = self._source.search(query, n)
            answer.set_result(found)
        except Exception as error:
            answer.set_exception(error)
        return answer.result()

    def trouble(self) -> tuple[Literal["failed", "slow"], str] | None:
        """What became of a search that brought nothing: it failed, or is not back yet; None when all went well."""
        for _, _, answer in self._answers:
            if not answer.done():
                return "slow", "no answer yet"
            error = answer.exception()
            if error is not None:
                return "failed", f"{type(error).__name__}: {error}"
        return None
