"""Vectors of passages: exact search by one matrix product, HNSW by usearch above a size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialoom.encoders.base import Encoder

Floats = NDArray[np.float32]
Rows = NDArray[np.int64]
HNSW_FROM = 100_000
"""Vectors from which the HNSW graph answers, where usearch is installed."""
GRAPH: Mapping[str, Any] = {"metric": "ip", "dtype": "f16", "expansion_add": 64}
"""How graphs are made: half the memory and less than half the time of usearch's defaults."""
_BATCH = 1024
_CROWDED = 1.25
"""A graph is built anew once it holds this many times the passages there are."""


class DenseIndex:
    """Cosine similarity by position. `vectors` has unit rows (or zero), float32, possibly memory-mapped.

    The graph, in half precision, knows a passage by its number in `rows` (ascending), which never changes; what was
    removed stays in it as a signpost and is left out of what is found.
    """

    def __init__(self, rows: Rows, vectors: Floats, graph: Any = None) -> None:
        self.rows = rows
        self.vectors = vectors
        self._plain = vectors.view(np.ndarray)  # a memory-mapped array's own class costs microseconds a use
        self._graph = graph
        self._dead = graph is not None and len(graph) != len(rows)

    @classmethod
    def empty(cls, dimension: int) -> DenseIndex:
        """An index of nothing."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, dimension), dtype=np.float32))

    def changed(
        self,
        rows: Rows,
        texts: Iterable[str],
        encoder: Encoder,
        *,
        hnsw_from: int = HNSW_FROM,
        folder: Path | None = None,
    ) -> DenseIndex:
        """For other `rows`: those not here yet are the last, with `texts`. In `folder` the vectors are a file."""
        vectors = _allocated(folder, (len(rows), encoder.dimension))
        keep = np.isin(self.rows, rows, assume_unique=True)
        done = 0
        for start in range(0, len(keep), _BATCH):
            part = self._plain[start : start + _BATCH][keep[start : start + _BATCH]]
            vectors[done : done + len(part)] = part
            done += len(part)
        first, waiting = done, iter(texts)
        while batch := list(islice(waiting, _BATCH)):
            vectors[done : done + len(batch)] = encoder.encode(batch)
            done += len(batch)
        return DenseIndex(rows, vectors, self._regraphed(rows, vectors, first) if len(rows) >= hnsw_from else None)

    def _regraphed(self, rows: Rows, vectors: Floats, first: int) -> Any:
        """The graph with the vectors from `first` on added, or a new one."""
        crowded = self._graph is None or len(self._graph) + len(rows) - first > _CROWDED * len(rows)
        graph = _new_graph(vectors.shape[1]) if crowded else self._graph.copy()
        start = 0 if crowded else first
        if graph is not None and start < len(rows):
            graph.add(rows[start:], vectors[start:])
        return graph

    def scores(self, query: Floats) -> Floats:
        """The exact cosine with every passage."""
        found: Floats = self._plain @ query
        return found

    def scores_at(self, positions: NDArray[np.intp], query: Floats) -> Floats:
        """The exact cosine with the passages at `positions`."""
        few = len(positions) * 4 < len(self._plain)
        found: Floats = self._plain[positions] @ query if few else self.scores(query)[positions]
        return found

    def nearest(self, query: Floats, n: int) -> tuple[list[int], list[float]] | None:
        """At most `n` numbers of passages that the graph holds nearest, and their cosines, to three digits, best first.

        None without a graph.
        """
        if self._graph is None:
            return None
        wanted = n
        while True:
            matches = self._graph.search(query, wanted, threads=1)
            rows, cosines = matches.keys.view(np.int64), 1 - matches.distances
            if self._dead:
                alive = self.rows[np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)] == rows
                rows, cosines = rows[alive], cosines[alive]
                if len(rows) < min(n, len(self.rows)) and wanted < len(self._graph):
                    wanted *= 2
                    continue
            return rows[:n].tolist(), cosines[:n].tolist()

    def save(self, folder: Path) -> None:
        """Write into `folder` what is not a file there yet."""
        folder.mkdir(parents=True, exist_ok=True)
        if isinstance(self.vectors, np.memmap):
            self.vectors.flush()
        else:
            np.save(folder / "vectors.npy", self.vectors)
        if self._graph is not None:
            self._graph.save(str(folder / "graph.usearch"))

    @classmethod
    def load(cls, rows: Rows, folder: Path) -> DenseIndex:
        """Memory-map what `save` wrote. Without usearch a graph is not used."""
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        graph = _new_graph(vectors.shape[1]) if (folder / "graph.usearch").exists() else None
        if graph is not None:
            graph.view(str(folder / "graph.usearch"))
        return cls(rows, vectors, graph)


def where(rows: Rows, wanted: Rows) -> NDArray[np.intp]:
    """The positions of `wanted` in ascending `rows`, in the order asked; those that are not there are left out."""
    if not len(rows):
        return np.zeros(0, dtype=np.intp)
    places: NDArray[np.intp] = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    found: NDArray[np.intp] = places[rows[places] == wanted]
    return found


def _allocated(folder: Path | None, shape: tuple[int, int]) -> Floats:
    if folder is None or 0 in shape:
        return np.zeros(shape, dtype=np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    return np.lib.format.open_memmap(folder / "vectors.npy", mode="w+", dtype=np.float32, shape=shape)


def _new_graph(dimension: int) -> Any:
    try:
        from usearch.index import Index
    except ImportError:
        return None
    return Index(ndim=dimension, **GRAPH)
