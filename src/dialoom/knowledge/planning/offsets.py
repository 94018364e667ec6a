"""Additive log-offsets between plans, tuned on predictions for turns the model did not see."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = np.linspace(-1.0, 2.0, 31)
_SWEEPS = 3


def f1_scores(gold: NDArray[np.int64], predicted: NDArray[np.intp], classes: int) -> Floats:
    """One-against-rest F1 of each class, in [0, 1]; 0 for a class neither present nor predicted."""
    right = np.bincount(gold[gold == predicted], minlength=classes)
    total = np.bincount(gold, minlength=classes) + np.bincount(predicted, minlength=classes)
    return np.where(total > 0, 2 * right / np.maximum(total, 1), 0.0)


def tune(logs: Floats, gold: NDArray[np.int64], *, balance: float = 0.5, aims: Floats | None = None) -> Floats:
    """Offsets for argmax(`logs` + offsets); `logs` are log-probabilities of shape (turns, classes).

    Maximises `balance` x mean F1 + (1 - `balance`) x accuracy. With `aims` (one F1 a class, NaN for none), maximises
    the smallest margin over them instead. The most frequent class stays at 0. Up to three classes every point of a
    grid is tried, else one class at a time. Ties keep the offsets nearest to 0.
    """
    classes = logs.shape[1]
    free = [i for i in range(classes) if i != int(np.bincount(gold, minlength=classes).argmax())]

    def worth(trial: Floats) -> float:
        predicted = (logs + trial).argmax(axis=1)
        scores = f1_scores(gold, predicted, classes)
        if aims is not None and np.isfinite(aims).any():
            return float(np.nanmin(scores - aims))
        return balance * float(scores.mean()) + (1 - balance) * float((predicted == gold).mean())

    offsets = np.zeros(classes)
    best = worth(offsets)
    groups = [free] if len(free) <= 2 else [[i] for i in free] * _SWEEPS
    for group in groups:
        for steps in sorted(product(_STEPS, repeat=len(group)), key=lambda point: sum(map(abs, point))):
            trial = offsets.copy()
            trial[group] = steps
            value = worth(trial)
            if value > best + 1e-9:
                best, offsets = value, trial
    return offsets
