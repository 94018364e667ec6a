"""In-domain latent semantic analysis: the default encoder, fitted on the user's own corpus, nothing to download."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from dialoom.encoders.base import Vectors
from dialoom.encoders.terms import TermSpace
from dialoom.errors import InvalidFile, NothingToLearn
from dialoom.files import Parts, pack_array, unpack_array

SAMPLE = 40_000  # distinct texts the factors are computed from; more do not change them noticeably
BLOCK = 4096  # texts encoded at a time


class LSAEncoder:
    """TF-IDF of words and word pairs, reduced by truncated singular value decomposition (Deerwester et al. 1990).

    At query time a text costs one look-up per term and a weighted sum of as many rows: well under a tenth of a
    millisecond for an utterance.
    """

    def __init__(self, space: TermSpace, factors: NDArray[np.float32]) -> None:
        """`factors` has a row per term of `space` and a column per dimension."""
        self._space = space
        self._factors = np.ascontiguousarray(factors, dtype=np.float32)

    @classmethod
    def fit(cls, texts: Iterable[str], *, dimension: int = 200, seed: int = 0) -> LSAEncoder:
        """The encoder of a corpus. Depends on the texts alone, not on their order.

        A corpus with fewer than `dimension` distinct terms or texts gives fewer dimensions.
        Raises `NothingToLearn` when no word occurs.
        """
        from sklearn.decomposition import TruncatedSVD

        every = sorted(texts)
        space = TermSpace.fit(every, at_least=2 if len(every) > 20 else 1)
        if not len(space):
            raise NothingToLearn("The texts hold no words to learn an encoder from.")
        distinct = sorted({space.skeleton(text) for text in every})
        rows = space.matrix(distinct[:: max(1, len(distinct) // SAMPLE)])
        rank = min(dimension, min(rows.shape) - 1)
        if rank < 1:  # a single text or term: its own space is small enough
            return cls(space, np.eye(len(space), dtype=np.float32))
        svd = TruncatedSVD(rank, random_state=seed).fit(rows)
        rounded = svd.components_.T.astype(np.float16)  # as saved, so that a loaded encoder gives equal vectors
        return cls(space, rounded.astype(np.float32))

    @property
    def dimension(self) -> int:
        """Columns of every result."""
        return int(self._factors.shape[1])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit rows of shape (len(texts), dimension); a zero row for a text without a known word."""
        result = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if len(texts) <= 8:  # one at a time is faster than building a sparse matrix
            for row, text in enumerate(texts):
                terms, weights = self._space.weigh(self._space.skeleton(text))
                if terms:
                    result[row] = np.asarray(weights, dtype=np.float32) @ self._factors[terms]
        else:
            for start in range(0, len(texts), BLOCK):
                some = texts[start : start + BLOCK]
                matrix = self._space.matrix(self._space.skeleton(text) for text in some)
                result[start : start + len(some)] = matrix @ self._factors
        lengths = np.linalg.norm(result, axis=1, keepdims=True)
        result /= np.maximum(lengths, 1e-12)
        return result

    def to_parts(self) -> dict[str, bytes]:
        """The encoder as named entries."""
        return {**self._space.to_parts(), "lsa_factors.npy": pack_array(self._factors.astype(np.float16))}

    @classmethod
    def from_parts(cls, parts: Parts) -> LSAEncoder:
        """The encoder that `to_parts` saved. Raises `InvalidFile` for entries that do not fit together."""
        space = TermSpace.from_parts(parts)
        factors = unpack_array(parts, "lsa_factors.npy")
        if factors.ndim != 2 or factors.shape[0] != len(space):
            raise InvalidFile("lsa_factors.npy", "does not hold one row for each term.")
        return cls(space, factors.astype(np.float32))
