"""A searchable set of passages that keeps itself up to date, in memory or in a folder.

A folder holds `passages.sqlite` and one sub-folder with the memory-mapped BM25 and vector files of the revision that
the database names. A writer makes the next sub-folder inside its transaction, so that one commit changes passages
and index at once: a stop at any moment leaves the old revision or the new one.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialoom.encoders.base import Encoder
from dialoom.errors import InvalidFile, UsageError
from dialoom.knowledge.base import Passage
from dialoom.knowledge.indexes.dense import HNSW_FROM, DenseIndex, where
from dialoom.knowledge.indexes.passages import Changes, PassageStore, Rows, StoreUpdate
from dialoom.knowledge.indexes.selection import Ranked, best, fused
from dialoom.knowledge.indexes.snapshot import Snapshot, empty_snapshot
from dialoom.knowledge.terms import words

Method = Literal["bm25", "dense", "fused"]
_PROBES = 3
_PROBE_ERROR = 1e-3
"""How many passages are encoded to recognise the encoder of stored vectors, and how far the same one may be off."""


class Hit(NamedTuple):
    """A passage found: `score` orders hits of one search; `parts` are the scores it was made of."""

    passage: Passage
    score: float
    parts: Mapping[str, float]


class PassageIndex:
    """Passages searched by BM25, by an encoder's vectors, or by both fused by rank.

    Only passages that changed are split into words, encoded and put into the graph. Several processes may share a
    folder: they search on while one of them writes, and each finds the new revision at its next search.
    """

    def __init__(
        self, folder: Path | str | None = None, *, encoder: Encoder | None = None, method: Method | None = None,
        hnsw_from: int = HNSW_FROM,
    ) -> None:  # fmt: skip
        self.method: Method = method or ("fused" if encoder is not None else "bm25")
        if self.method != "bm25" and encoder is None:
            raise UsageError(f"An index with the method '{self.method}' needs an encoder.", hint="Pass encoder=...")
        self._encoder = encoder if self.method != "bm25" else None
        self._hnsw_from = hnsw_from
        self._folder = Path(folder) if folder is not None else None
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        self._store = PassageStore(self._folder / "passages.sqlite" if self._folder else None)
        self._loading = threading.Lock()
        self._snapshot = self._empty()
        if not self._is_encoders(self._current()):
            self._write(lambda _: Changes(), anew=True)

    def __len__(self) -> int:
        return len(self._current().rows)

    @property
    def has_links(self) -> bool:
        """Whether any passage hangs from another."""
        return self._current().linked

    def close(self) -> None:
        """Let go of the files."""
        self._snapshot = self._empty()
        self._store.close()

    def update(self, passages: Iterable[Passage] = (), remove: Iterable[str] = ()) -> Changes:
        """Add, change and remove passages by id; the rest stays. All of it or nothing.

        Raises `UsageError` when an id is given twice, or when another process writes for longer than ten minutes.
        """
        return self._write(lambda store: store.update(passages, remove))

    def replace(self, passages: Iterable[Passage]) -> Changes:
        """Make the contents exactly `passages`; what is the same is not indexed again. Raises as `update` does."""
        return self._write(lambda store: store.update(passages, exactly=True))

    def search(
        self,
        text: str,
        n: int,
        *,
        owner: str = "",
        parents: Sequence[str] | None = None,
        exhaustive: bool = False,
    ) -> list[Hit]:
        """At most `n` passages, best first, among everyone's and `owner`'s; all of them of one revision.

        With `parents`, only passages that hang from one of them. BM25 leaves out passages that share no word
        with `text`, unless `exhaustive`. Ties go to the passage stored first.
        """
        if n < 1:
            return []
        while True:
            snapshot = self._current()
            at = self._allowed(snapshot, owner, parents)
            rows, scores, made_of = self._ranked(snapshot, text, n, at, exhaustive)
            hits = [
                Hit(passage, score, parts)
                for passage, score, parts in zip(self._store.fetch(rows), scores, made_of, strict=True)
                if passage is not None and passage.owner in ("", owner)
            ]
            # A commit in between may have taken passages or links away: then everything is asked anew.
            if (parents is None and len(hits) == len(rows)) or self._store.revision == snapshot.revision:
                return hits

    def _allowed(self, snapshot: Snapshot, owner: str, parents: Sequence[str] | None) -> NDArray[np.intp] | None:
        """The positions that may be found, ascending; None for all."""
        mask = snapshot.allowed(owner)
        if parents is None:
            return None if mask is None else np.flatnonzero(mask)
        linked = where(snapshot.rows, self._store.linked_rows(parents))
        return linked if mask is None else linked[mask[linked]]

    def _ranked(self, snapshot: Snapshot, text: str, n: int, at: NDArray[np.intp] | None, exhaustive: bool) -> Ranked:
        wide = n if self.method != "fused" else max(4 * n, 50)
        rows = snapshot.rows if at is None else snapshot.rows[at]
        lists: dict[str, tuple[list[int], list[float]]] = {}
        if snapshot.lexical is not None:
            scores = snapshot.lexical.scores(words(text))
            lists["bm25"] = best(scores if at is None else scores[at], wide, rows, above=-1.0 if exhaustive else 0.0)
        if snapshot.dense is not None:
            lists["cosine"] = self._dense(snapshot.dense, text, wide, at, rows)
        if len(lists) > 1:
            return fused(lists, n)
        ((name, (found, values)),) = lists.items()
        return found, values, [{name: value} for value in values]

    def _dense(
        self, dense: DenseIndex, text: str, n: int, at: NDArray[np.intp] | None, rows: Rows
    ) -> tuple[list[int], list[float]]:
        assert self._encoder is not None  # noqa: S101 - there are vectors only where there is an encoder
        query = self._encoder.encode([text])[0]
        if at is None:
            found = dense.nearest(query, n) or best(dense.scores(query), n, rows)
        else:
            found = best(dense.scores_at(at, query), n, rows)
        said_nothing = found[1][:1] == [0.0] and not query.any()
        return ([], []) if said_nothing else found

    def _current(self) -> Snapshot:
        """The last snapshot that was committed, by whichever process, with what this index's method asks."""
        snapshot = self._latest()
        if not self._has_parts(snapshot):
            self._write(lambda _: Changes(), anew=True)
            return self._snapshot
        return snapshot

    def _latest(self) -> Snapshot:
        if self._folder is not None and self._snapshot.revision != self._store.revision:
            with self._loading:
                self._snapshot = self._loaded(self._folder)
        return self._snapshot

    def _loaded(self, folder: Path) -> Snapshot:
        while True:
            revision = self._store.revision
            if revision == self._snapshot.revision:
                return self._snapshot
            place = _of_revision(folder, revision)
            try:
                return Snapshot.load(revision, place)
            except (KeyError, TypeError, ValueError, OSError, RuntimeError) as error:
                if self._store.revision == revision:  # else a writer has just replaced it
                    raise InvalidFile(
                        place, f"not a usable index ({error}).", hint="Delete the folder to index anew."
                    ) from error

    def _write(self, work: Callable[[StoreUpdate], Changes], *, anew: bool = False) -> Changes:
        with self._store.writing() as update:
            old = self._latest()
            base = self._empty() if anew or not self._has_parts(old) else old
            changes = work(update)
            if not changes and base is old:
                return changes
            number = update.revision + 1
            place = _of_revision(self._folder, number) if self._folder is not None else None
            if place is not None:
                shutil.rmtree(place, ignore_errors=True)  # what a writer that was stopped left behind
            snapshot = base.following(number, update, self._encoder, self._hnsw_from, place)
            if place is not None:
                snapshot.save(place)
            update.set_revision(number)
        self._snapshot = snapshot if place is None else Snapshot.load(number, place)
        if self._folder is not None:
            for other in self._folder.glob("revision-*"):
                if int(other.name.partition("-")[2]) < number:
                    shutil.rmtree(other, ignore_errors=True)
        return changes

    def _empty(self) -> Snapshot:
        return empty_snapshot(
            lexical=self.method != "dense", dimension=self._encoder.dimension if self._encoder is not None else 0
        )

    def _has_parts(self, snapshot: Snapshot) -> bool:
        """Whether a snapshot that may be another process's holds what this index's method asks."""
        dimension = snapshot.dense.vectors.shape[1] if snapshot.dense is not None else 0
        wanted = self._encoder.dimension if self._encoder is not None else 0
        return (snapshot.lexical is not None) == (self.method != "dense") and dimension == wanted

    def _is_encoders(self, snapshot: Snapshot) -> bool:
        """Whether the vectors are this encoder's, told by what it makes of the first passages."""
        if snapshot.dense is None or self._encoder is None or not len(snapshot.rows):
            return True
        passages = self._store.fetch(snapshot.rows[:_PROBES].tolist())
        texts = [passage.text for passage in passages if passage is not None]
        stored = snapshot.dense.vectors[:_PROBES]
        return len(texts) == len(stored) and np.allclose(self._encoder.encode(texts), stored, atol=_PROBE_ERROR)


def _of_revision(folder: Path, number: int) -> Path:
    return folder / f"revision-{number}"
