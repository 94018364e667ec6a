"""The best of many scores, and one ranking out of two."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Ranked = tuple[int, float, dict[str, float]]
"""A position, its score, and the scores that made it, by name."""
_FUSION = 60
"""The constant of reciprocal rank fusion."""


def best(
    scores: NDArray[np.float32], n: int, at: NDArray[np.intp] | None = None, *, above: float = -np.inf
) -> tuple[list[int], list[float]]:
    """The `n` highest scores over `above`, and their positions; equal scores by position.

    With `at` (ascending), scores[i] is that of position at[i].
    """
    if above > -np.inf:  # most scores of BM25 are 0, and equal scores are what partitioning is slow at
        over = np.flatnonzero(scores > above)
        scores, at = scores[over], over if at is None else at[over]
    if n < len(scores):
        places = np.flatnonzero(scores >= np.partition(scores, len(scores) - n)[len(scores) - n])
        scores, at = scores[places], places if at is None else at[places]
    order = np.argsort(-scores, kind="stable")[:n]
    return (order if at is None else at[order]).tolist(), scores[order].tolist()


def fused(lists: Mapping[str, tuple[list[int], list[float]]]) -> list[Ranked]:
    """Reciprocal rank fusion: the sum of 1 / (60 + rank) over the lists that a position is in."""
    total: dict[int, float] = {}
    parts: dict[int, dict[str, float]] = {}
    for name, (places, scores) in lists.items():
        for rank, (place, score) in enumerate(zip(places, scores, strict=True), start=1):
            total[place] = total.get(place, 0.0) + 1 / (_FUSION + rank)
            parts.setdefault(place, {})[name] = score
    return [(place, total[place], parts[place]) for place in sorted(total, key=lambda place: (-total[place], place))]
