"""Customer Support on Twitter (Kaggle twcs.csv): conversations rebuilt from reply links."""

from __future__ import annotations

import heapq
import html
import re
from array import array
from collections.abc import Iterator
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.documents import head as head_of
from dialoom.corpora.records import Record
from dialoom.corpora.rows import csv_rows, gathered, header_of
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord

_COLUMNS = ("tweet_id", "author_id", "inbound", "created_at", "text", "response_tweet_id", "in_response_to_tweet_id")
_CREATED = "%a %b %d %H:%M:%S %z %Y"
_LEADING = re.compile(r"^(?:\s*\.?@\w+)+\s*")
_HANDLE = re.compile(r"(?<![\w@])@\w+")
_LINK = re.compile(r"https?://\S+")


class TwcsReader:
    """A conversation is everything that answers one first tweet, parents before replies, otherwise by time.

    A tweet that answers one outside the file starts a conversation. `inbound` tweets are the users'. The handles that
    a tweet is addressed to are dropped, other handles become <handle>, links <url>, and HTML entities characters. The
    id is `tweet-ID` of the first tweet; metadata: company (the first agent's account), customers (how many).
    """

    name = "twcs"
    description = "Kaggle twcs.csv (Customer Support on Twitter): threads from reply links"

    def sniff(self, head: bytes) -> bool:
        """The columns of twcs.csv."""
        return set(_COLUMNS) <= set(header_of(head).columns)

    def read(self, document: Document, _options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Conversations, each as soon as its last tweet was read.

        Memory: 16 bytes a tweet, a count for each conversation, and the conversations that are open.
        """
        header = header_of(head_of(document))
        missing = sorted(set(_COLUMNS) - set(header.columns))
        if missing:
            yield InvalidRecord(document.name, f"expected the columns of twcs.csv; missing: {', '.join(missing)}.")
            return
        roots = _roots(csv_rows(document, header))
        for group in gathered(lambda: csv_rows(document, header), lambda row: roots.of(_tweet(row))):
            if isinstance(group, InvalidRecord):
                yield group
                continue
            try:
                yield _dialogue(*group)
            except InvalidRecord as problem:
                yield problem


class _Roots:
    """First tweets by tweet id: two sorted arrays instead of a dictionary of millions of entries."""

    def __init__(self, ids: NDArray[np.int64], parents: NDArray[np.int64]) -> None:
        order = np.argsort(ids, kind="stable")
        self._ids = ids[order]
        at = np.clip(np.searchsorted(self._ids, parents[order]), 0, max(len(ids) - 1, 0))
        own = np.arange(len(ids), dtype=np.int64)
        known = self._ids[at] == parents[order] if len(ids) else np.zeros(0, dtype=bool)
        step = np.where(known, at, own)
        root = step
        for _ in range(max(1, len(ids)).bit_length() + 1):  # each pass doubles the distance walked
            root = root[root]
        self._root = np.where(step[root] == root, root, -1)

    def of(self, tweet: int) -> int:
        """The first tweet of the conversation; a negative number where the links go round in a circle."""
        root = int(self._root[np.searchsorted(self._ids, tweet)])
        return int(self._ids[root]) if root >= 0 else -tweet


def _roots(rows: Iterator[Record | InvalidRecord]) -> _Roots:
    ids, parents = array("q"), array("q")
    for row in rows:
        links = _links(row)
        if links is not None:
            ids.append(links[0])
            parents.append(links[1])
    return _Roots(np.asarray(ids, dtype=np.int64), np.asarray(parents, dtype=np.int64))


def _links(row: Record | InvalidRecord) -> tuple[int, int] | None:
    """(tweet, tweet answered or -1); None for a row that will be rejected."""
    try:
        return (_tweet(row), _parent(row)) if isinstance(row, Record) else None
    except InvalidRecord:
        return None


def _tweet(row: Record) -> int:
    _parent(row)
    return _number(row, "tweet_id")


def _parent(row: Record) -> int:
    return _number(row, "in_response_to_tweet_id") if row.value["in_response_to_tweet_id"].strip() else -1


def _number(row: Record, column: str) -> int:
    text = row.value[column].strip().removesuffix(".0")
    if not text.isdecimal() or len(text) > 18:
        raise row.invalid(f"expected a tweet id (a whole number), found '{text[:40]}'.", column)
    return int(text)


def _dialogue(root: int, rows: list[Record]) -> Dialogue:
    if root < 0:
        raise rows[0].invalid("the reply links go round in a circle.", "in_response_to_tweet_id")
    utterances, companies, customers = [], [], set()
    for row in _in_order(rows):
        inbound = row.value["inbound"].strip().lower()
        if inbound not in ("true", "false"):
            raise row.invalid(f"expected True or False, found '{inbound[:40]}'.", "inbound")
        author = row.value["author_id"]
        if inbound == "true":
            customers.add(author)
        else:
            companies.append(author)
        role = Role.USER if inbound == "true" else Role.SYSTEM
        utterances.append(Utterance(role, normalised(row.value["text"])))
    metadata = {"company": companies[0] if companies else "", "customers": len(customers)}
    return Dialogue(f"tweet-{root}", tuple(utterances), metadata)


def normalised(text: str) -> str:
    """A tweet's text without the handles it is addressed to, other handles and links as placeholders."""
    words = _LINK.sub("<url>", _HANDLE.sub("<handle>", _LEADING.sub("", html.unescape(text))))
    return " ".join(words.split())


def _in_order(rows: list[Record]) -> Iterator[Record]:
    """Parents before replies, else by time, then by id; a reply may carry an earlier time than what it answers."""
    by_id: dict[int, Record] = {}
    for row in rows:
        if _tweet(row) in by_id:
            raise row.invalid(f"the tweet {_tweet(row)} is there twice.", "tweet_id")
        by_id[_tweet(row)] = row
    replies: dict[int, list[tuple[datetime, int]]] = {}
    ready: list[tuple[datetime, int]] = []
    for tweet, row in by_id.items():
        entry = (_created(row), tweet)
        if _parent(row) in by_id:
            replies.setdefault(_parent(row), []).append(entry)
        else:
            ready.append(entry)
    heapq.heapify(ready)
    while ready:
        _, tweet = heapq.heappop(ready)
        yield by_id[tweet]
        for entry in replies.pop(tweet, ()):
            heapq.heappush(ready, entry)


def _created(row: Record) -> datetime:
    text = row.value["created_at"].strip()
    try:
        return datetime.strptime(text, _CREATED)
    except ValueError:
        problem = f"expected a time such as 'Wed Oct 11 06:55:44 +0000 2017', found '{text[:40]}'."
        raise row.invalid(problem, "created_at") from None
