"""Boosted trees as plain arrays: trained by scikit-learn, kept and read as data, quick for one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialoom.files import Parts, pack_array, unpack_array

Floats = NDArray[np.float64]
_FIELDS = ("feature", "threshold", "left", "right", "value", "roots", "baseline")
_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Growth:
    """How trees are boosted: `rounds` of trees with at most `leaves`, each leaf of `least` rows; shrunk by `rate`,
    regularised by `l2`, each split choosing among a random `share` of the columns.
    """

    rounds: int = 200
    rate: float = 0.06
    leaves: int = 15
    least: int = 30
    share: float = 0.5
    l2: float = 0.0


@dataclass(frozen=True)
class Trees:
    """Binary trees over numeric columns, summed into one raw score an output.

    Node arrays share one numbering; a leaf's `left` is itself. `roots` has shape (rounds, outputs), `baseline` shape
    (outputs,). Columns never hold NaN.
    """

    feature: NDArray[np.int32]
    threshold: Floats
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Floats
    roots: NDArray[np.int32]
    baseline: Floats

    @classmethod
    def fit(cls, columns: NDArray[np.float32], labels: NDArray[np.int64], growth: Growth, seed: int) -> Trees:
        """Histogram gradient boosting of the log loss; one output for two classes, else one a class (0, 1, ...)."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        model = HistGradientBoostingClassifier(
            max_iter=growth.rounds,
            learning_rate=growth.rate,
            max_leaf_nodes=growth.leaves,
            min_samples_leaf=growth.least,
            max_features=growth.share,
            l2_regularization=growth.l2,
            early_stopping=False,
            random_state=seed,
        )
        model.fit(columns, labels)
        return cls.of(model._predictors, model._baseline_prediction)

    @classmethod
    def of(cls, predictors: Sequence[Sequence[object]], baseline: NDArray[np.float64]) -> Trees:
        """From the fitted trees of scikit-learn's histogram boosting (each has a structured array `nodes`)."""
        nodes = [tree.nodes for round_ in predictors for tree in round_]  # type: ignore[attr-defined]
        starts = np.cumsum([0, *(len(n) for n in nodes)]).astype(np.int32)
        whole = np.concatenate(nodes)
        shift = np.repeat(starts[:-1], [len(n) for n in nodes])
        leaf = whole["is_leaf"].astype(bool)
        itself = np.arange(len(whole))
        return cls(
            feature=np.where(leaf, 0, whole["feature_idx"]).astype(np.int32),
            threshold=np.where(leaf, np.inf, whole["num_threshold"]).astype(np.float64),
            left=np.where(leaf, itself, whole["left"] + shift).astype(np.int32),
            right=np.where(leaf, itself, whole["right"] + shift).astype(np.int32),
            value=whole["value"].astype(np.float64),
            roots=starts[:-1].reshape(len(predictors), -1),
            baseline=np.asarray(baseline, dtype=np.float64).ravel(),
        )

    def raw(self, columns: NDArray[np.float32]) -> Floats:
        """Raw scores of shape (rows, outputs): log-odds, or logits before the softmax."""
        return np.concatenate([self._raw(columns[i : i + _ROWS]) for i in range(0, max(len(columns), 1), _ROWS)])

    def _raw(self, columns: NDArray[np.float32]) -> Floats:
        rows = np.arange(len(columns))[:, None]
        at = np.tile(self.roots.ravel(), (len(columns), 1))
        while True:
            below = np.where(columns[rows, self.feature[at]] <= self.threshold[at], self.left[at], self.right[at])
            if np.array_equal(below, at):
                break
            at = below
        summed: Floats = self.value[at].reshape(len(columns), *self.roots.shape).sum(axis=1) + self.baseline
        return summed

    def probabilities(self, columns: NDArray[np.float32]) -> Floats:
        """Of class 1 for one output: shape (rows, 1); of every class otherwise: shape (rows, classes)."""
        raw = self.raw(columns)
        return 1 / (1 + np.exp(-raw)) if raw.shape[1] == 1 else softmax(raw)

    def parts(self) -> Parts:
        """What saved trees consist of."""
        return {f"{name}.npy": pack_array(getattr(self, name)) for name in _FIELDS}

    @classmethod
    def from_parts(cls, parts: Parts) -> Trees:
        """The inverse of `parts`."""
        return cls(**{name: unpack_array(parts, f"{name}.npy") for name in _FIELDS})


def softmax(raw: Floats) -> Floats:
    """Rows of logits to rows of probabilities."""
    raised = np.exp(raw - raw.max(axis=1, keepdims=True))
    found: Floats = raised / raised.sum(axis=1, keepdims=True)
    return found
