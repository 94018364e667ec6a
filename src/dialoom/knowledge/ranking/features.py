"""Columns that tell the passage a turn rests on from its rivals in the pool.

Three views of each candidate: its words against the turn's words (weighted by rarity in the language and in the
pool), what past turns that used it looked like, and how far earlier turns already covered it. A candidate that hangs
from another also carries its parent's columns, and one that has children their best. Every column is also given as
the difference to the best rival in the pool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue, Role
from dialoom.knowledge.base import Passage
from dialoom.knowledge.labelled import Pools
from dialoom.knowledge.ranking.experience import Experience, Recall
from dialoom.knowledge.terms import Lexicon, TermVector, words

Floats = NDArray[np.float32]

LEXICAL = ("cosine", "passage_covered", "turn_covered", "rare_covered", "rare_shared", "shared", "longest", "length")
HISTORY = ("said_1", "said_2", "said_3", "said_4", "said_5", "said_most", "said_last", "asked_1", "asked_2")
MEMORY = (
    "turn_best", "turn_mean", "turn_squares", "reply_best", "reply_mean", "reply_squares",
    "uses", "rate", "early", "expected",
)  # fmt: skip
OWN = 3
"""A candidate's own columns come after those of its turn: turn number, words in the turn, size of the pool."""
_SAID, _ASKED, _LONGEST = 5, 2, 10


@dataclass(frozen=True, slots=True)
class Kinship:
    """Which sources the passages of one source hang from, which hang from them, and whether parents differ."""

    parents: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    siblings: bool = False


def kinship(pools: Iterable[Pools]) -> dict[str, Kinship]:
    """The kinship of every source seen in `pools`; it fixes the columns."""
    parents: dict[str, set[str]] = {}
    mixed: set[str] = set()
    for pool in pools:
        homes = {passage.id: source for source, passages in pool.items() for passage in passages}
        for source, passages in pool.items():
            found = parents.setdefault(source, set())
            found.update(homes[p] for passage in passages for p in passage.parents if p in homes)
            if len({passage.parents for passage in passages}) > 1:
                mixed.add(source)
    return {
        source: Kinship(
            tuple(sorted(above)), tuple(sorted(s for s, up in parents.items() if source in up)), source in mixed
        )
        for source, above in sorted(parents.items())
    }


@dataclass
class Featuriser:
    """Turns (context, pools) into one matrix a source. `experience` is optional: without it nothing is remembered."""

    lexicon: Lexicon
    kinship: Mapping[str, Kinship]
    experience: Experience | None = None
    _grams: dict[str, list[frozenset[str]]] = field(default_factory=dict, repr=False)
    _used: dict[str, dict[int, list[int]]] = field(default_factory=dict, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns each candidate has of its own."""
        return (*LEXICAL, *HISTORY, *(MEMORY if self.experience else ()), "position")

    def recall(self, context: Dialogue) -> Recall | None:
        """What the turn calls to mind; None without experience."""
        if self.experience is None:
            return None
        return self.experience.recall(self.lexicon.vector(_last_user(context)), context.id)

    def matrices(self, context: Dialogue, pools: Pools, recall: Recall | None) -> dict[str, Floats]:
        """Columns for every candidate: shape (len(pool), width) by source, pools without candidates left out."""
        own = {s: self._own(context, s, pool, recall) for s, pool in pools.items() if pool and s in self.kinship}
        return {source: self._related(source, pools, own, context) for source in own}

    def _own(self, context: Dialogue, source: str, pool: Sequence[Passage], recall: Recall | None) -> Floats:
        said = [u.text for u in reversed(context.utterances) if u.role is Role.SYSTEM][:_SAID]
        asked = [u.text for u in reversed(context.utterances) if u.role is Role.USER][: _ASKED + 1]
        turn = asked[0] if asked else ""
        local = _LocalTerms([self.lexicon.vector(passage.text) for passage in pool])
        grams = self._shingles(turn)
        longest = np.array([_longest_shared(grams, self._shingles(passage.text)) for passage in pool])
        blocks = [
            np.column_stack([local.lexical(self.lexicon.vector(turn)), longest, np.log1p(local.sizes)]),
            local.history([self.lexicon.vector(text) for text in said]),
            local.cosines([self.lexicon.vector(text) for text in asked[1:]], _ASKED),
        ]
        if self.experience is not None and recall is not None:
            blocks.append(self._remembered(source, pool, recall))
        blocks.append(np.arange(len(pool))[:, None])
        return np.hstack(blocks).astype(np.float32)

    def _remembered(self, source: str, pool: Sequence[Passage], recall: Recall) -> Floats:
        experience = self.experience
        assert experience is not None  # noqa: S101 - the caller looked
        expected = experience.expected(recall, self._users_of(source, experience))
        rows = np.zeros((len(pool), len(MEMORY)), dtype=np.float32)
        for i, passage in enumerate(pool):
            vector = self.lexicon.vector(passage.text)
            rows[i, -1] = float(expected[vector.ids] @ vector.weights) / vector.norm
            known = experience.known(source, passage)
            if known < 0:
                continue
            users = experience.users_of(recall, source, passage)
            held = int(experience.held[known]) - recall.own
            if len(users):
                turns, replies = recall.turns[users], recall.replies[users]
                rows[i, :6] = (
                    turns.max(), turns.mean(), np.sqrt(turns @ turns),
                    replies.max(), replies.mean(), np.sqrt(replies @ replies),
                )  # fmt: skip
                rows[i, 8] = np.mean(experience.numbers[users] < 2)
            rows[i, 6] = np.log1p(len(users))
            rows[i, 7] = len(users) / (held + 1)
        return rows

    def _users_of(self, source: str, experience: Experience) -> Mapping[int, Sequence[int]]:
        if source not in self._used:
            prefix: dict[int, list[int]] = {}
            for passage, rows in enumerate(experience.uses):
                if experience.sources[passage] == source:
                    for row in rows:
                        prefix.setdefault(int(row), []).append(passage)
            self._used[source] = prefix
        return self._used[source]

    def _shingles(self, text: str) -> list[frozenset[str]]:
        known = self._grams.get(text)
        if known is None:
            plain = "".join(text.lower().split())
            known = [frozenset(plain[i : i + n] for i in range(len(plain) - n + 1)) for n in range(1, _LONGEST + 1)]
            if len(self._grams) > 50_000:
                self._grams.clear()
            self._grams[text] = known
        return known

    def _related(self, source: str, pools: Pools, own: Mapping[str, Floats], context: Dialogue) -> Floats:
        mine, pool, kin = own[source], pools[source], self.kinship[source]
        number = sum(1 for u in context.utterances if u.role is Role.USER) - 1
        whole = np.array([number, len(words(_last_user(context))), len(pool)], dtype=np.float32)
        everyone = [list(range(len(pool)))]
        blocks = [np.tile(whole, (len(pool), 1)), mine, _lead(mine, everyone)]
        if kin.siblings:
            families: dict[tuple[str, ...], list[int]] = {}
            for i, passage in enumerate(pool):
                families.setdefault(passage.parents, []).append(i)
            blocks.append(_lead(mine, list(families.values())))
        for other in (*kin.parents, *kin.children):
            best = np.zeros_like(mine)
            for i, passage in enumerate(pool):
                linked = [
                    j
                    for j, p in enumerate(pools.get(other, ()))
                    if (p.id in passage.parents if other in kin.parents else passage.id in p.parents)
                ]
                if linked:
                    best[i] = own[other][linked].max(axis=0)
            blocks += [best, _lead(best, everyone)]
        return np.hstack(blocks)


class _LocalTerms:
    """The terms of one pool as a small dense problem: candidates x distinct terms."""

    def __init__(self, vectors: Sequence[TermVector]) -> None:
        ids = np.concatenate([v.ids for v in vectors])
        self.terms, columns = np.unique(ids, return_inverse=True)
        rows = np.repeat(np.arange(len(vectors)), [len(v.ids) for v in vectors])
        shape = (len(vectors), len(self.terms))
        self.present = np.zeros(shape, dtype=np.float32)
        self.present[rows, columns] = 1
        self.weights = np.zeros(shape, dtype=np.float32)
        self.weights[rows, columns] = np.concatenate([v.weights for v in vectors])
        self.weights /= np.array([v.norm for v in vectors], dtype=np.float32)[:, None]
        self.idf = np.zeros(len(self.terms), dtype=np.float32)
        self.idf[columns] = np.concatenate([v.mass for v in vectors])
        self.rarity = np.log((len(vectors) + 1) / self.present.sum(axis=0)).astype(np.float32)
        self.sizes = np.array([len(v.ids) for v in vectors], dtype=np.float32)

    def place(self, vector: TermVector) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Columns of the vector's terms here, and which of its terms those are."""
        if not len(self.terms):
            return np.zeros(0, dtype=np.intp), np.zeros(len(vector.ids), dtype=np.bool_)
        at = np.minimum(np.searchsorted(self.terms, vector.ids), len(self.terms) - 1)
        shared = self.terms[at] == vector.ids
        return at[shared], shared

    def lexical(self, turn: TermVector) -> Floats:
        """The first six columns of `LEXICAL`."""
        at, shared = self.place(turn)
        both = self.present[:, at]
        overlap = both @ self.idf[at]
        rare = both @ (self.rarity[at] * self.idf[at])
        return np.column_stack(
            [
                self.weights[:, at] @ (turn.weights[shared] / turn.norm),
                overlap / np.maximum(self.present @ self.idf, 1e-6),
                overlap / max(float(turn.mass.sum()), 1e-6),
                rare / max(float((self.rarity[at] * self.idf[at]).sum()), 1e-6),
                rare,
                overlap,
            ]
        )

    def cosines(self, turns: Sequence[TermVector], width: int) -> Floats:
        """Cosine of every candidate with each of at most `width` turns; 0 for turns there are not."""
        found = np.zeros((len(self.sizes), width), dtype=np.float32)
        for i, turn in enumerate(turns):
            at, shared = self.place(turn)
            found[:, i] = self.weights[:, at] @ (turn.weights[shared] / turn.norm)
        return found

    def history(self, said: Sequence[TermVector]) -> Floats:
        """How much of each candidate's rare terms the last system turns hold; the most; how long ago that was."""
        weight = self.rarity * self.idf
        total = np.maximum(self.present @ weight, 1e-6)
        found = np.zeros((len(self.sizes), _SAID + 2), dtype=np.float32)
        for i, turn in enumerate(said):
            at, _ = self.place(turn)
            found[:, i] = (self.present[:, at] @ weight[at]) / total
        found[:, _SAID] = found[:, :_SAID].max(axis=1)
        found[:, _SAID + 1] = found[:, :_SAID].argmax(axis=1)
        return found


def _lead(matrix: Floats, groups: Sequence[Sequence[int]]) -> Floats:
    """Each value less the best other value in its group; 0 in a group of one."""
    lead = np.zeros_like(matrix)
    for group in groups:
        if len(group) < 2:
            continue
        block = matrix[group]
        order = np.sort(block, axis=0)
        rival = np.where(block == order[-1], order[-2], order[-1])
        lead[group] = block - rival
    return lead


def _last_user(context: Dialogue) -> str:
    return next((u.text for u in reversed(context.utterances) if u.role is Role.USER), "")


def _longest_shared(a: Sequence[frozenset[str]], b: Sequence[frozenset[str]]) -> int:
    """Length of the longest common substring, at most `_LONGEST`."""
    longest = 0
    for n, (left, right) in enumerate(zip(a, b, strict=True), start=1):
        if left.isdisjoint(right):
            break
        longest = n
    return longest
