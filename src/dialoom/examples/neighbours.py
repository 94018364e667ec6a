"""An approximate nearest-neighbour graph for corpora too large to scan."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialoom.encoders.base import Vectors
from dialoom.errors import MissingExtra


class Neighbours:
    """HNSW (usearch) over unit vectors. Built on one thread, so that equal vectors give an equal graph."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    @classmethod
    def build(cls, vectors: Vectors) -> Neighbours:
        """The graph of `vectors`. Raises `MissingExtra` without usearch."""
        try:
            from usearch.index import Index, MetricKind
        except ImportError as error:
            raise MissingExtra("Approximate retrieval", "ann") from error
        graph = Index(ndim=vectors.shape[1], metric=MetricKind.IP, dtype="f16")
        graph.add(np.arange(len(vectors)), vectors, threads=1)
        return cls(graph)

    def near(self, query: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """About the `count` rows nearest to `query`, ascending."""
        if count < 1:
            return np.zeros(0, np.int64)
        found: NDArray[np.int64] = np.sort(np.asarray(self._graph.search(query, count, threads=1).keys, np.int64))
        return found
