"""What labelled turns tell about passages: who asked what when a passage was used, and how often."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dialoom.dialogue import Role
from dialoom.files import Parts, pack_array, pack_json, unpack_array, unpack_json
from dialoom.knowledge.base import Passage
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.terms import BUCKETS, Lexicon, TermVector

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
NEIGHBOURS = 60


@dataclass(frozen=True)
class Recall:
    """How one turn resembles the remembered ones; the turn's own dialogue counts as never seen.

    `turns` and `replies` are cosines of the turn with every remembered user turn and reply. `foreign` marks the
    remembered turns of other dialogues. `nearest` are rows of the most similar user turns, best first.
    """

    turns: Floats
    replies: Floats
    foreign: NDArray[np.bool_]
    nearest: Ints
    own: bool


@dataclass(frozen=True)
class Experience:
    """Remembered labelled turns as sparse unit rows: their user turns, their replies and the passages they used."""

    turns: csr_matrix
    replies: csr_matrix
    passages: csr_matrix
    groups: Ints
    numbers: Ints
    plans: tuple[tuple[str, ...], ...]
    uses: tuple[Ints, ...]
    held: Ints
    sources: tuple[str, ...]
    keys: Mapping[str, int]
    names: Mapping[str, int]

    @classmethod
    def gather(cls, turns: Sequence[LabelledTurn], lexicon: Lexicon) -> Experience:
        """Remember `turns`."""
        names = {name: i for i, name in enumerate(dict.fromkeys(turn.context.id for turn in turns))}
        keys: dict[str, int] = {}
        texts: list[str] = []
        sources: list[str] = []
        uses: list[list[int]] = []
        holders: list[set[int]] = []
        for row, turn in enumerate(turns):
            for source, pool in turn.pools.items():
                gold = turn.gold.get(source, frozenset())
                for passage in pool:
                    index = keys.setdefault(passage_key(source, passage), len(texts))
                    if index == len(texts):
                        texts.append(passage.text)
                        sources.append(source)
                        uses.append([])
                        holders.append(set())
                    holders[index].add(names[turn.context.id])
                    if passage.id in gold:
                        uses[index].append(row)
        return cls(
            turns=unit_rows(lexicon, (turn.context.utterances[-1].text for turn in turns)),
            replies=unit_rows(lexicon, (turn.reply for turn in turns)),
            passages=unit_rows(lexicon, texts),
            groups=np.array([names[turn.context.id] for turn in turns], dtype=np.int64),
            numbers=np.array([turn_number(turn) for turn in turns], dtype=np.int64),
            plans=tuple(turn.plan for turn in turns),
            uses=tuple(np.array(rows, dtype=np.int64) for rows in uses),
            held=np.array([len(dialogues) for dialogues in holders], dtype=np.int64),
            sources=tuple(sources),
            keys=keys,
            names=names,
        )

    def recall(self, vector: TermVector, dialogue: str) -> Recall:
        """What the turn `vector` of the dialogue with id `dialogue` calls to mind."""
        dense = np.zeros(BUCKETS, dtype=np.float32)
        dense[vector.ids] = vector.weights / vector.norm
        group = self.names.get(dialogue, -1)
        foreign = self.groups != group
        similar = (self.turns @ dense) * foreign
        count = min(NEIGHBOURS, len(similar))
        nearest = np.argpartition(-similar, count - 1)[:count] if count else np.zeros(0, dtype=np.int64)
        nearest = nearest[np.lexsort((nearest, -similar[nearest]))]
        return Recall(similar, (self.replies @ dense) * foreign, foreign, nearest, group >= 0)

    def known(self, source: str, passage: Passage) -> int:
        """The row of `passage` in `passages`, -1 when no remembered pool held it."""
        return self.keys.get(passage_key(source, passage), -1)

    def expected(self, recall: Recall, rows_of: Mapping[int, Sequence[int]]) -> Floats:
        """The evidence that the nearest turns used, as one dense term vector weighted by their similarity."""
        rows = [(row, p) for row in recall.nearest for p in rows_of.get(int(row), ())]
        if not rows:
            return np.zeros(BUCKETS, dtype=np.float32)
        weights = recall.turns[[row for row, _ in rows]]
        summed: Floats = np.asarray(weights @ self.passages[[p for _, p in rows]], dtype=np.float32).ravel()
        return summed / max(float(weights.sum()), 1e-6)

    @cached_property
    def plan_names(self) -> tuple[tuple[str, ...], ...]:
        """The distinct plans, sorted."""
        return tuple(sorted(set(self.plans)))

    @cached_property
    def _plan_rows(self) -> NDArray[np.float32]:
        at = {plan: i for i, plan in enumerate(self.plan_names)}
        found = np.zeros((len(self.plans), len(at)), dtype=np.float32)
        found[np.arange(len(self.plans)), [at[plan] for plan in self.plans]] = 1
        return found

    def plan_shares(self, recall: Recall, rows: Ints) -> Floats:
        """How `rows` were planned, weighted by their similarity to the turn: a share for each of `plan_names`, then
        the highest and the mean similarity; zeros without rows.
        """
        if not len(rows):
            return np.zeros(len(self.plan_names) + 2, dtype=np.float32)
        weights = recall.turns[rows] + np.float32(0.01)
        shares = weights @ self._plan_rows[rows] / weights.sum()
        return np.concatenate([shares, [weights.max(), weights.mean()]]).astype(np.float32)

    def users_of(self, recall: Recall, source: str, passage: Passage) -> Ints:
        """Rows of other dialogues' turns that used the passage."""
        known = self.known(source, passage)
        rows = self.uses[known] if known >= 0 else np.zeros(0, dtype=np.int64)
        return rows[recall.foreign[rows]]

    def parts(self) -> Parts:
        """What saved experience consists of; no text is kept, only hashed terms."""
        found: dict[str, bytes] = {}
        for name in ("turns", "replies", "passages"):
            matrix = getattr(self, name)
            found[f"{name}.data.npy"] = pack_array(matrix.data)
            found[f"{name}.indices.npy"] = pack_array(matrix.indices)
            found[f"{name}.indptr.npy"] = pack_array(matrix.indptr)
        found["groups.npy"] = pack_array(self.groups)
        found["numbers.npy"] = pack_array(self.numbers)
        found["held.npy"] = pack_array(self.held)
        found["experience.json"] = pack_json(
            {
                "plans": self.plans,
                "uses": [rows.tolist() for rows in self.uses],
                "sources": self.sources,
                "keys": list(self.keys),
                "names": list(self.names),
            }
        )
        return found

    @classmethod
    def from_parts(cls, parts: Parts) -> Experience:
        """The inverse of `parts`."""
        stored = unpack_json(parts, "experience.json")

        def matrix(name: str) -> csr_matrix:
            pieces = [unpack_array(parts, f"{name}.{piece}.npy") for piece in ("data", "indices", "indptr")]
            return csr_matrix((pieces[0], pieces[1], pieces[2]), shape=(len(pieces[2]) - 1, BUCKETS))

        return cls(
            turns=matrix("turns"),
            replies=matrix("replies"),
            passages=matrix("passages"),
            groups=unpack_array(parts, "groups.npy"),
            numbers=unpack_array(parts, "numbers.npy"),
            plans=tuple(tuple(plan) for plan in stored["plans"]),
            uses=tuple(np.array(rows, dtype=np.int64) for rows in stored["uses"]),
            held=unpack_array(parts, "held.npy"),
            sources=tuple(stored["sources"]),
            keys={key: i for i, key in enumerate(stored["keys"])},
            names={name: i for i, name in enumerate(stored["names"])},
        )


def passage_key(source: str, passage: Passage) -> str:
    """What makes two passages of different pools the same: their source and text."""
    return hashlib.blake2b(f"{source}\x1f{passage.text}".encode(), digest_size=12).hexdigest()


def turn_number(turn: LabelledTurn) -> int:
    """How many user turns came before."""
    return sum(1 for utterance in turn.context.utterances if utterance.role is Role.USER) - 1


def unit_rows(lexicon: Lexicon, texts: Iterable[str]) -> csr_matrix:
    """Texts as sparse unit vectors, one row each, `BUCKETS` columns."""
    vectors = [lexicon.vector(text) for text in texts]
    indptr = np.cumsum([0, *(len(v.ids) for v in vectors)])
    empty = [np.zeros(0, dtype=np.float32)]
    data = np.concatenate([v.weights / np.float32(v.norm) for v in vectors] or empty)
    indices = np.concatenate([v.ids for v in vectors] or [np.zeros(0, dtype=np.int32)])
    return csr_matrix((data, indices, indptr), shape=(len(vectors), BUCKETS), dtype=np.float32)
