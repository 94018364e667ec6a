"""A source as one turn sees it: what a planner has asked already is not asked again when evidence is gathered."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future

from dialoom.dialogue import Dialogue
from dialoom.knowledge.base import Evidence, Query, Source

Key = tuple[str, Dialogue, tuple[tuple[str, str], ...]]


class AskedOnce:
    """Asks `source` each question once, also when it is asked from several threads or fails.

    Questions are the same when user, conversation and the evidence it may look at are; a search for fewer pieces is
    answered by one for more that is done or under way. Meant for one turn: nothing is ever let go.
    """

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.description = source.description
        self.depends_on = source.depends_on
        self._source = source
        self._lock = threading.Lock()
        self._answers: list[tuple[Key, int, Future[Sequence[Evidence]]]] = []

    def search(self, query: Query, n: int) -> Sequence[Evidence]:
        """See `Source`."""
        earlier = tuple((e.source, e.id) for e in query.evidence if e.source in self.depends_on)
        key = (query.user, query.context, earlier)
        with self._lock:
            known = next((answer for asked, wide, answer in self._answers if asked == key and wide >= n), None)
            if known is None:
                answer: Future[Sequence[Evidence]] = Future()
                self._answers.append((key, n, answer))
        if known is not None:
            return known.result()[:n]
        try:
            answer.set_result(self._source.search(query, n))
        except Exception as error:
            answer.set_exception(error)
        return answer.result()
