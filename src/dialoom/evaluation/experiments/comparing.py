"""Is a difference real: paired permutation test and bootstrap interval, whole dialogues at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dialoom.errors import NothingToLearn

EXACT = 13  # dialogues up to which all sign flips are tried (2**13 < 10 000)
DRAWS = 10_000
Reply = TypeVar("Reply")
CORPUS_DRAWS = 500  # for metrics that must be computed anew for every draw


@dataclass(frozen=True, slots=True)
class Comparison:
    """A minus B on the items that both answered.

    `low` and `high` bound the difference with 95 % confidence (percentile bootstrap over dialogues); `p` is the
    two-sided probability of a difference at least as large if the two systems were exchangeable in every dialogue.
    `unpaired` items were answered by one alone and left out.
    """

    metric: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float
    items: int
    dialogues: int
    unpaired: int
    method: str

    @property
    def real(self) -> bool:
        """Whether p is below 0.05."""
        return self.p < 0.05


def compare(
    metric: str, a: Mapping[str, float], b: Mapping[str, float], groups: Mapping[str, str], *, seed: int = 0
) -> Comparison:
    """Compare two systems by the mean of `metric`; `a` and `b` map items to values, `groups` items to dialogues.

    Signs of whole dialogues are flipped, all of them up to 13 dialogues and 10 000 draws beyond (Edgington 1969).
    Raises `NothingToLearn` when no item is answered by both.
    """
    shared = _shared(a, b)
    values_a, values_b = (np.asarray([values[item] for item in shared], dtype=np.float64) for values in (a, b))
    numbers = _numbers([groups[item] for item in shared])
    sums, sizes = np.bincount(numbers, weights=values_a - values_b), np.bincount(numbers)
    observed = float((values_a - values_b).mean())
    flips, method = _flips(len(sums), DRAWS, seed)
    flipped = np.abs(flips @ sums) / len(shared)
    draws = np.random.default_rng(seed).integers(len(sums), size=(DRAWS // 5, len(sums)))
    low, high = np.quantile(sums[draws].sum(axis=1) / sizes[draws].sum(axis=1), [0.025, 0.975])
    return Comparison(
        metric,
        float(values_a.mean()),
        float(values_b.mean()),
        observed,
        float(low),
        float(high),
        _p(flipped, abs(observed), method),
        len(shared),
        len(sums),
        len(a) + len(b) - 2 * len(shared),
        method,
    )


def compare_corpus(
    metric: str,
    measure: Callable[[Sequence[Reply]], float],
    a: Mapping[str, Reply],
    b: Mapping[str, Reply],
    groups: Mapping[str, str],
    *,
    seed: int = 0,
) -> Comparison:
    """The same for a metric of the whole corpus, computed anew for each of 500 draws (all flips of up to 8 dialogues).

    A draw swaps the replies of A and B in some dialogues (approximate randomisation, Noreen 1989).
    """
    shared = _shared(a, b)
    numbers = _numbers([groups[item] for item in shared])
    count = int(numbers.max()) + 1
    members = [np.flatnonzero(numbers == number) for number in range(count)]
    replies = [[values[item] for item in shared] for values in (a, b)]

    def difference(swapped: Sequence[bool], places: Sequence[int]) -> float:
        rows = [(int(place), swapped[numbers[place]]) for place in places]
        return measure([replies[swap][place] for place, swap in rows]) - measure(
            [replies[not swap][place] for place, swap in rows]
        )

    every, straight = range(len(shared)), [False] * count
    observed = difference(straight, every)
    flips, method = _flips(count, CORPUS_DRAWS, seed)
    flipped = np.abs([difference([bool(sign < 0) for sign in row], every) for row in flips])
    draws = np.random.default_rng(seed).integers(count, size=(CORPUS_DRAWS, count))
    spread = [difference(straight, np.concatenate([members[number] for number in row]).tolist()) for row in draws]
    low, high = np.quantile(spread, [0.025, 0.975])
    return Comparison(
        metric,
        measure(replies[0]),
        measure(replies[1]),
        observed,
        float(low),
        float(high),
        _p(flipped, abs(observed), method),
        len(shared),
        count,
        len(a) + len(b) - 2 * len(shared),
        method,
    )


def _shared(a: Mapping[str, object], b: Mapping[str, object]) -> list[str]:
    shared = sorted(set(a) & set(b))
    if not shared:
        raise NothingToLearn(
            "No item is answered by both, so there is nothing to compare.",
            hint="Compare two systems of one experiment, or of experiments on the same test dialogues.",
        )
    return shared


def _numbers(names: Sequence[str]) -> NDArray[np.int64]:
    known = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.asarray([known[name] for name in names], dtype=np.int64)


def _flips(count: int, draws: int, seed: int) -> tuple[NDArray[np.int8], str]:
    if count <= EXACT and 2**count <= draws:
        return np.asarray(list(product((1, -1), repeat=count)), dtype=np.int8), "exact permutation test"
    signs = np.random.default_rng(seed).integers(0, 2, size=(draws, count), dtype=np.int8) * np.int8(2) - np.int8(1)
    return signs.astype(np.int8), f"permutation test, {draws} draws"


def _p(flipped: NDArray[np.float64], observed: float, method: str) -> float:
    beyond = int((flipped >= observed - 1e-12).sum())
    if method.startswith("exact"):
        return beyond / len(flipped)
    return (beyond + 1) / (len(flipped) + 1)  # the draw that was observed counts (Phipson and Smyth 2010)
