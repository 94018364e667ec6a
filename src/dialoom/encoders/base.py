"""The encoder port: texts to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Pooling = Literal["mean", "cls"]
"""How the vectors of a text's tokens become one: their mean, or that of the first (CLS) token."""


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into unit vectors, so that a dot product is a cosine."""

    @property
    def dimension(self) -> int:
        """Columns of every result."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dimension), float32, rows of length 1 (or 0 for a text without content).

        Row i depends on texts[i] alone. Raises `RunError` when the backend fails.
        """
        ...
