"""Vectors of passages: exact search by one matrix product, HNSW by usearch above a size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
HNSW_FROM = 100_000
"""Vectors from which the HNSW graph answers, where usearch is installed."""


class DenseIndex:
    """Cosine similarity by position. `vectors` has unit rows (or zero), float32, possibly memory-mapped."""

    def __init__(self, vectors: Floats, graph: Any = None) -> None:
        self.vectors = vectors
        self._graph = graph

    @classmethod
    def build(cls, vectors: Floats, *, hnsw_from: int = HNSW_FROM) -> DenseIndex:
        """From unit vectors; with a graph where there are at least `hnsw_from` and usearch is installed."""
        graph = _new_graph(vectors.shape[1]) if len(vectors) >= hnsw_from else None
        if graph is not None:
            graph.add(np.arange(len(vectors)), vectors)
        return cls(vectors, graph)

    def scores(self, query: Floats) -> Floats:
        """The exact cosine with every passage."""
        found: Floats = np.asarray(self.vectors @ query, dtype=np.float32)
        return found

    def nearest(self, query: Floats, n: int) -> tuple[NDArray[np.int64], Floats] | None:
        """At most `n` positions and cosines from the graph, best first; None without a graph."""
        if self._graph is None:
            return None
        matches = self._graph.search(query, n)
        return np.asarray(matches.keys, dtype=np.int64), 1 - np.asarray(matches.distances, dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Write into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "vectors.npy", self.vectors)
        if self._graph is not None:
            self._graph.save(str(folder / "graph.usearch"))

    @classmethod
    def load(cls, folder: Path) -> DenseIndex:
        """Memory-map what `save` wrote."""
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        graph = None
        if (folder / "graph.usearch").exists():
            graph = _new_graph(vectors.shape[1])
            if graph is not None:
                graph.view(str(folder / "graph.usearch"))
        return cls(vectors, graph)


def _new_graph(dimension: int) -> Any:
    try:
        from usearch.index import Index
    except ImportError:
        return None
    return Index(ndim=dimension, metric="cos", dtype="f32")
