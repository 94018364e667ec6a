"""What encoder adapters share: unit rows, and zero rows for texts without content."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dialoom.encoders.base import Vectors


def unit_rows(vectors: Vectors) -> Vectors:
    """The rows scaled to length 1; a row of zeros stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 1e-9)
    return unit


def encode_written(texts: Sequence[str], dimension: int, encode: Callable[[list[str]], Vectors]) -> Vectors:
    """`encode` for the texts that are not blank, scaled to unit rows; blank ones are never handed on and give zeros."""
    written = [place for place, text in enumerate(texts) if text.strip()]
    vectors = np.zeros((len(texts), dimension), np.float32)
    if written:
        vectors[written] = unit_rows(encode([texts[place] for place in written]))
    return vectors
