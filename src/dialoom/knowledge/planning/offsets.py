"""Additive log-offsets between plans, tuned on predictions for turns the model did not see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = np.linspace(-1.5, 2.5, 41)
_SWEEPS = 3


def f1_scores(gold: NDArray[np.int64], predicted: NDArray[np.intp], classes: int) -> Floats:
    """One-against-rest F1 of each class, in [0, 1]; 0 for a class neither present nor predicted."""
    right = np.bincount(gold[gold == predicted], minlength=classes)
    total = np.bincount(gold, minlength=classes) + np.bincount(predicted, minlength=classes)
    return np.where(total > 0, 2 * right / np.maximum(total, 1), 0.0)


def tune(logs: Floats, gold: NDArray[np.int64], *, balance: float = 0.5) -> Floats:
    """Offsets that maximise `balance` x mean F1 + (1 - `balance`) x accuracy of argmax(`logs` + offsets).

    `logs` are log-probabilities of shape (turns, classes). Coordinate search on a grid, one class at a time; the
    most frequent class stays at 0. Ties keep the offset nearest to 0.
    """
    classes = logs.shape[1]
    offsets = np.zeros(classes)

    def worth(trial: Floats) -> float:
        predicted = (logs + trial).argmax(axis=1)
        accuracy = float((predicted == gold).mean())
        return balance * float(f1_scores(gold, predicted, classes).mean()) + (1 - balance) * accuracy

    best = worth(offsets)
    usual = int(np.bincount(gold, minlength=classes).argmax())
    for _ in range(_SWEEPS):
        for i in set(range(classes)) - {usual}:
            for step in sorted(_STEPS, key=abs):
                trial = offsets.copy()
                trial[i] = step
                value = worth(trial)
                if value > best + 1e-9:
                    best, offsets = value, trial
    return offsets
