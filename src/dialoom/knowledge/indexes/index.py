"""A searchable set of passages that keeps itself up to date, in memory or in a folder.

A folder holds `passages.sqlite` and, for the revision it was built from, one sub-folder with the memory-mapped BM25
and vector files. `current.json` names that sub-folder and is replaced last, so that a stop at any moment leaves the
old index or the new one.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dialoom.encoders.base import Encoder
from dialoom.errors import InvalidFile, UsageError
from dialoom.files import read_text, write_text
from dialoom.knowledge.base import Passage
from dialoom.knowledge.indexes.dense import HNSW_FROM, DenseIndex
from dialoom.knowledge.indexes.lexical import LexicalIndex
from dialoom.knowledge.indexes.passages import Changes, PassageStore, Rows
from dialoom.knowledge.terms import words

Method = Literal["bm25", "dense", "fused"]
_FUSION = 60
"""The constant of reciprocal rank fusion."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found: `score` orders hits of one search; `parts` are the scores it was made of."""

    passage: Passage
    score: float
    parts: Mapping[str, float]


@dataclass(frozen=True)
class _Built:
    revision: int
    rows: Rows
    lexical: LexicalIndex | None
    dense: DenseIndex | None


class PassageIndex:
    """Passages searched by BM25, by an encoder's vectors, or by both fused by rank.

    Only passages that changed are split into words and encoded again. The BM25 matrix is made anew from stored words
    when anything changed, since every document's length and every word's rarity enter each score.
    """

    def __init__(
        self, folder: Path | str | None = None, *, encoder: Encoder | None = None, method: Method | None = None,
        hnsw_from: int = HNSW_FROM,
    ) -> None:  # fmt: skip
        self.method: Method = method or ("fused" if encoder is not None else "bm25")
        if self.method != "bm25" and encoder is None:
            raise UsageError(f"An index with the method '{self.method}' needs an encoder.", hint="Pass encoder=...")
        self._encoder = encoder
        self._hnsw_from = hnsw_from
        self._folder = Path(folder) if folder is not None else None
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        self.store = PassageStore(self._folder / "passages.sqlite" if self._folder else None)
        self._lock = threading.Lock()
        self._built: _Built | None = self._load()

    def __len__(self) -> int:
        return len(self._current().rows)

    def close(self) -> None:
        """Let go of the files."""
        self._built = None
        self.store.close()

    def update(self, passages: Iterable[Passage] = (), remove: Iterable[str] = ()) -> Changes:
        """Add, change and remove passages by id; the rest stays."""
        return self._changed(self.store.update(passages, remove))

    def replace(self, passages: Iterable[Passage]) -> Changes:
        """Make the contents exactly `passages`; what is the same is not indexed again."""
        return self._changed(self.store.update(passages, exactly=True))

    def _changed(self, changes: Changes) -> Changes:
        if changes:
            self._current()
        return changes

    def search(
        self,
        text: str,
        n: int,
        *,
        owner: str = "",
        parents: Sequence[str] | None = None,
        exhaustive: bool = False,
    ) -> list[Hit]:
        """At most `n` passages, best first, among everyone's and `owner`'s.

        With `parents`, only passages that hang from one of them. BM25 leaves out passages that share no word
        with `text`, unless `exhaustive`. Ties go to the passage stored first.
        """
        built = self._current()
        allowed = self._allowed(built, owner, parents)
        ranked: list[tuple[int, float, dict[str, float]]]
        wide = n if self.method != "fused" else max(4 * n, 50)
        lists: dict[str, list[tuple[int, float]]] = {}
        if built.lexical is not None:
            lists["bm25"] = _top(built.lexical.scores(words(text)), wide, allowed, above=-1.0 if exhaustive else 0.0)
        if built.dense is not None:
            lists["cosine"] = self._dense(built.dense, text, wide, allowed)
        if len(lists) == 1:
            name, found = next(iter(lists.items()))
            ranked = [(at, score, {name: score}) for at, score in found]
        else:
            ranked = _fused(lists)
        chosen = ranked[:n]
        passages = self.store.fetch([int(built.rows[at]) for at, _, _ in chosen], owner)
        return [
            Hit(passages[row], score, parts) for at, score, parts in chosen if (row := int(built.rows[at])) in passages
        ]

    def _dense(
        self, dense: DenseIndex, text: str, n: int, allowed: NDArray[np.bool_] | None
    ) -> list[tuple[int, float]]:
        assert self._encoder is not None  # noqa: S101 - checked when built
        query = self._encoder.encode([text])[0]
        if not query.any():
            return []
        near = dense.nearest(query, n) if allowed is None else None
        if near is not None:
            return [(int(at), float(score)) for at, score in zip(*near, strict=True)]
        return _top(dense.scores(query), n, allowed)

    def _allowed(self, built: _Built, owner: str, parents: Sequence[str] | None) -> NDArray[np.bool_] | None:
        masks = []
        if parents is not None:
            masks.append(_mask(built.rows, self.store.linked_rows(parents)))
        if self.store.has_owners:
            mask = _mask(built.rows, self.store.owned_rows(""))
            if owner:
                mask |= _mask(built.rows, self.store.owned_rows(owner))
            masks.append(mask)
        return np.logical_and.reduce(masks) if masks else None

    def _current(self) -> _Built:
        with self._lock:
            if self._built is None or self._built.revision != self.store.revision:
                self._built = self._build(self._built)
                self._save(self._built)
            return self._built

    def _build(self, old: _Built | None) -> _Built:
        revision = self.store.revision
        rows = self.store.rows()
        lexical = LexicalIndex.build(self.store.tokens()) if self.method != "dense" else None
        dense = None
        if self._encoder is not None and self.method != "bm25":
            vectors = np.zeros((len(rows), self._encoder.dimension), dtype=np.float32)
            missing = np.ones(len(rows), dtype=np.bool_)
            if old is not None and old.dense is not None and old.dense.vectors.shape[1] == vectors.shape[1]:
                kept = np.isin(rows, old.rows)
                vectors[kept] = old.dense.vectors[np.searchsorted(old.rows, rows[kept])]
                missing = ~kept
            if missing.any():
                vectors[missing] = self._encoder.encode(self.store.texts(rows[missing].tolist()))
            dense = DenseIndex.build(vectors, hnsw_from=self._hnsw_from)
        return _Built(revision, rows, lexical, dense)

    def _save(self, built: _Built) -> None:
        if self._folder is None:
            return
        name = f"revision-{built.revision}"
        target = self._folder / name
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        np.save(target / "rows.npy", built.rows)
        if built.lexical is not None:
            built.lexical.save(target / "bm25")
        if built.dense is not None:
            built.dense.save(target / "dense")
        current = {"revision": built.revision, "method": self.method, "folder": name}
        write_text(self._folder / "current.json", json.dumps(current))
        for other in self._folder.glob("revision-*"):
            if other.name != name:
                shutil.rmtree(other, ignore_errors=True)
        self._built = self._load() or built

    def _load(self) -> _Built | None:
        if self._folder is None or not (self._folder / "current.json").exists():
            return None
        path = self._folder / "current.json"
        try:
            current = json.loads(read_text(path))
            folder = self._folder / Path(str(current["folder"])).name
            if current["method"] != self.method:
                return None
            return _Built(
                int(current["revision"]),
                np.load(folder / "rows.npy"),
                LexicalIndex.load(folder / "bm25") if self.method != "dense" else None,
                DenseIndex.load(folder / "dense") if self.method != "bm25" else None,
            )
        except (KeyError, TypeError, ValueError, OSError) as error:
            raise InvalidFile(
                path, f"not a usable index ({error}).", hint="Delete the folder to index anew."
            ) from error


def _mask(rows: Rows, wanted: Rows) -> NDArray[np.bool_]:
    mask = np.zeros(len(rows), dtype=np.bool_)
    if len(rows) and len(wanted):
        at = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
        mask[at[rows[at] == wanted]] = True
    return mask


def _top(
    scores: NDArray[np.float32], n: int, allowed: NDArray[np.bool_] | None, above: float = -np.inf
) -> list[tuple[int, float]]:
    """The `n` best positions with a score over `above`; equal scores by position."""
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    if n < len(scores):
        cut = np.partition(scores, len(scores) - n)[len(scores) - n]
        places = np.flatnonzero(scores >= max(cut, np.nextafter(np.float32(above), np.float32(np.inf))))
    else:
        places = np.flatnonzero(scores > above)
    order = places[np.lexsort((places, -scores[places]))][:n]
    return [(int(at), float(scores[at])) for at in order if scores[at] > above]


def _fused(lists: Mapping[str, Sequence[tuple[int, float]]]) -> list[tuple[int, float, dict[str, float]]]:
    """Reciprocal rank fusion: the sum of 1 / (60 + rank) over the lists a passage is in."""
    total: dict[int, float] = {}
    parts: dict[int, dict[str, float]] = {}
    for name, found in lists.items():
        for rank, (at, score) in enumerate(found, start=1):
            total[at] = total.get(at, 0.0) + 1 / (_FUSION + rank)
            parts.setdefault(at, {})[name] = score
    return [(at, total[at], parts[at]) for at in sorted(total, key=lambda at: (-total[at], at))]
