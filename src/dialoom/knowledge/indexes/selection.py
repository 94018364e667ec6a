"""The best of many scores, and one ranking out of two."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Ranked = tuple[list[int], list[float], list[dict[str, float]]]
"""Row numbers, best first, their scores, and for each the scores that made it, by name."""
_FUSION = 60
"""The constant of reciprocal rank fusion."""


def best(
    scores: NDArray[np.float32], n: int, rows: NDArray[np.int64], *, above: float = -np.inf
) -> tuple[list[int], list[float]]:
    """The `n` of `rows` (ascending) with the highest scores over `above`, and these; equal scores by row."""
    if above > -np.inf:  # most scores of BM25 are 0, and equal scores are what partitioning is slow at
        places = np.flatnonzero(scores > above)
        scores, rows = scores[places], rows[places]
    if n < len(scores):
        places = np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])
        scores, rows = scores[places], rows[places]
    order = np.argsort(-scores, kind="stable")[:n]
    return rows[order].tolist(), scores[order].tolist()


def fused(lists: Mapping[str, tuple[list[int], list[float]]], n: int) -> Ranked:
    """Reciprocal rank fusion: the `n` best by the sum of 1 / (60 + rank) over the lists that a row is in."""
    total: dict[int, float] = {}
    parts: dict[int, dict[str, float]] = {}
    for name, (rows, scores) in lists.items():
        for rank, (row, score) in enumerate(zip(rows, scores, strict=True), start=1):
            total[row] = total.get(row, 0.0) + 1 / (_FUSION + rank)
            parts.setdefault(row, {})[name] = score
    found = sorted(total, key=lambda row: (-total[row], row))[:n]
    return found, [total[row] for row in found], [parts[row] for row in found]
