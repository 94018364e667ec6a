"""Confidence intervals by resampling whole dialogues, whose turns are not independent of each other."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000


def interval(
    values: NDArray[np.float64], groups: Sequence[Hashable], *, level: float = 0.95, seed: int = 0
) -> tuple[float, float]:
    """Percentile bootstrap interval of the mean of `values`, drawing whole `groups` with replacement (Efron 1979).

    Returns (0, 0) for no values. Equal input gives an equal interval.
    """
    if not len(values):
        return 0.0, 0.0
    names = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    group = np.asarray([names[name] for name in groups])
    sums = np.bincount(group, weights=values)
    sizes = np.bincount(group)
    draws = np.random.default_rng(seed).integers(len(sums), size=(RESAMPLES, len(sums)))
    means = sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def share_interval(count: int, of: int) -> tuple[float, float]:
    """95 % interval of a share of independent things (Wilson 1927): 0 of 2 is not never. `of` is 1 or more."""
    from scipy.stats import binomtest

    found = binomtest(count, of).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)
