"""A one-layer network over sparse symbolic features, in plain arrays: trained once, scored in microseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dialoom.errors import InvalidFile
from dialoom.files import Parts, pack_array, unpack_array

Probabilities = NDArray[np.float32]
_NAMES = "input", "input_bias", "output", "output_bias"


@dataclass(frozen=True, slots=True)
class Training:
    """How a network is trained: Adam on cross-entropy with dropout; the learning rate falls to nothing."""

    hidden: int = 256
    epochs: int = 12
    rate: float = 3e-3
    decay: float = 1e-3
    drop_hidden: float = 0.6
    drop_input: float = 0.3
    batch: int = 256
    least: int = 500
    most: int = 2000
    """Between `least` and `most` steps: a small corpus is gone through more often, in smaller batches; a large one is
    trained with larger batches, so that time grows linearly."""


class Network:
    """softmax(relu(x W1 + b1) W2 + b2)."""

    def __init__(self, arrays: Sequence[NDArray[np.float32]]) -> None:
        """`arrays`: W1 (features x hidden), b1, W2 (hidden x classes), b2."""
        self._input, self._input_bias, self._output, self._output_bias = arrays

    @classmethod
    def fit(
        cls, rows: sparse.csr_array, wanted: NDArray[np.int64], classes: int, training: Training, seed: int = 0
    ) -> Self:
        """Learn to tell `wanted` (a class a row) from sparse `rows`. Equal input gives an equal network."""
        draw = np.random.default_rng(seed)
        count, features = rows.shape
        active = max(1.0, rows.nnz / max(1, count))
        arrays = [
            (draw.standard_normal((features, training.hidden)) * 0.3 * (2 / active) ** 0.5).astype(np.float32),
            np.zeros(training.hidden, np.float32),
            (draw.standard_normal((training.hidden, classes)) * training.hidden**-0.5).astype(np.float32),
            np.zeros(classes, np.float32),
        ]
        batch = max(min(training.batch, max(16, count // 40)), -(-count * training.epochs // training.most))
        steps = -(-count // batch)
        epochs = max(training.epochs, -(-training.least // steps))
        adam = _Adam(arrays, training, total=epochs * steps)
        for _ in range(epochs):
            order = draw.permutation(count)
            for start in range(0, count, batch):
                some = order[start : start + batch]
                adam.step(*_gradients(arrays, rows[some], wanted[some], training, draw))
        return cls([array.astype(np.float16).astype(np.float32) for array in arrays])

    @property
    def shape(self) -> tuple[int, int]:
        """Features and classes."""
        return self._input.shape[0], self._output.shape[1]

    def predict(self, rows: sparse.csr_array) -> Probabilities:
        """A distribution over classes for each row."""
        hidden = np.maximum(np.asarray(rows @ self._input, dtype=np.float32) + self._input_bias, np.float32(0))
        return _softmax(hidden @ self._output + self._output_bias)

    def predict_one(self, features: Sequence[int], weights: Sequence[float]) -> Probabilities:
        """The distribution for one row, given by its features and their weights."""
        hidden = self._input_bias
        if features:
            hidden = np.asarray(weights, dtype=np.float32) @ self._input.take(features, axis=0) + hidden
        return _softmax(np.maximum(hidden, 0.0) @ self._output + self._output_bias)

    def to_parts(self) -> dict[str, bytes]:
        """The weights as named entries, in half precision (to which `fit` rounds them)."""
        arrays = (self._input, self._input_bias, self._output, self._output_bias)
        return {f"network_{n}.npy": pack_array(a.astype(np.float16)) for n, a in zip(_NAMES, arrays, strict=True)}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """The network that `to_parts` saved. Raises `InvalidFile` for arrays that do not fit together."""
        arrays = [unpack_array(parts, f"network_{name}.npy").astype(np.float32) for name in _NAMES]
        first, bias, second, last = arrays
        if [a.ndim for a in arrays] != [2, 1, 2, 1] or not (
            first.shape[1] == len(bias) == second.shape[0] and second.shape[1] == len(last)
        ):
            raise InvalidFile("network_input.npy", "the layers of the network do not fit together.")
        return cls(arrays)


def _softmax(scores: NDArray[np.float32]) -> Probabilities:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Probabilities = powers / powers.sum(axis=-1, keepdims=True)
    return result


def _gradients(
    arrays: Sequence[NDArray[np.float32]],
    rows: sparse.csr_array,
    wanted: NDArray[np.int64],
    training: Training,
    draw: np.random.Generator,
) -> tuple[list[NDArray[np.float32]], NDArray[np.int64]]:
    """Gradients of the mean cross-entropy of a batch, with inverted dropout on input and hidden layer.

    That of W1 has rows only for the features that occur in the batch, which are returned beside the gradients.
    """
    first, bias, second, last = arrays
    active, place = np.unique(rows.indices, return_inverse=True)
    values = rows.data * _kept(rows.data.shape, training.drop_input, draw)
    seen = sparse.csr_array((values, place, rows.indptr), shape=(rows.shape[0], len(active)))
    before = np.asarray(seen @ first[active], dtype=np.float32) + bias
    mask = _kept(before.shape, training.drop_hidden, draw) * (before > 0).astype(np.float32)
    hidden = before * mask
    error: NDArray[np.float32] = _softmax(np.asarray(hidden @ second + last, dtype=np.float32))
    error[np.arange(len(wanted)), wanted] -= 1.0
    error /= len(wanted)
    back: NDArray[np.float32] = np.asarray(error @ second.T * mask, dtype=np.float32)
    upper: NDArray[np.float32] = np.asarray(hidden.T @ error, dtype=np.float32)
    return [np.asarray(seen.T @ back), back.sum(axis=0), upper, error.sum(axis=0)], active.astype(np.int64)


def _kept(shape: tuple[int, ...], drop: float, draw: np.random.Generator) -> NDArray[np.float32]:
    mask: NDArray[np.float32] = (draw.random(shape, dtype=np.float32) >= drop).astype(np.float32)
    mask /= np.float32(1.0 - drop)
    return mask


class _Adam:
    """Adam with decoupled weight decay (Kingma & Ba 2015; Loshchilov & Hutter 2019), changing arrays in place.

    Lazy in the rows of W1: those of features that a batch does not hold keep their weights and moments.
    """

    def __init__(self, arrays: Sequence[NDArray[np.float32]], training: Training, *, total: int) -> None:
        self._arrays = arrays
        self._mean = [np.zeros_like(array) for array in arrays]
        self._square = [np.zeros_like(array) for array in arrays]
        self._training = training
        self._total = total
        self._count = 0

    def step(self, gradients: Sequence[NDArray[np.float32]], active: NDArray[np.int64]) -> None:
        """One update; `active` are the rows of the first array that its gradient is for."""
        self._count += 1
        rate = self._training.rate * min(1.0, self._count / 50) * (1.0 - 0.95 * self._count / self._total)
        grow, shrink = np.float32(rate / (1 - 0.9**self._count)), np.float32(1 / (1 - 0.99**self._count))
        for number, gradient in enumerate(gradients):
            rows: NDArray[np.int64] | slice = slice(None) if number else active
            array, mean, square = self._arrays[number], self._mean[number], self._square[number]
            mean_now = mean[rows] * np.float32(0.9) + gradient * np.float32(0.1)
            square_now = square[rows] * np.float32(0.99) + gradient * gradient * np.float32(0.01)
            mean[rows], square[rows] = mean_now, square_now
            kept = np.float32(1.0 - rate * self._training.decay) if array.ndim == 2 else np.float32(1.0)
            array[rows] = array[rows] * kept - grow * mean_now / (np.sqrt(square_now * shrink) + np.float32(1e-8))
