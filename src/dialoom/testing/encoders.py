"""What every encoder must do, and an encoder without dependencies to test with."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from dialoom.encoders.base import Encoder, Vectors

TEXTS: tuple[str, ...] = (
    "Where is my parcel?",
    "I would like my money back for the green kettle.",
    "ok",
    "Ünïcode — 包裹在哪里 🙂",
    "?!",
    "word " * 2000,
)
"""Ordinary, short, foreign, wordless and very long texts."""


class HashedWords:
    """A test double: the normalised counts of a text's words, hashed to `dimension` columns. Keeps what it encoded."""

    def __init__(self, dimension: int = 512) -> None:
        self.dimension = dimension
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors by words alone."""
        self.encoded.extend(texts)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[zlib.crc32(word.encode()) % self.dimension] += 1
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(norms > 0, norms, 1)
        return rows


class EncoderConformance:
    """The laws of `dialoom.encoders.Encoder`. Inherit, define `make`, and let pytest collect the class.

    `tolerance` is how far a row may move when other texts share its batch (padding changes the order of additions).
    """

    tolerance = 1e-5

    def make(self) -> Encoder:
        """A ready encoder, the same each time."""
        raise NotImplementedError("define make() in the class that inherits EncoderConformance")

    def test_that_it_is_an_encoder(self) -> None:
        """It has the port's methods."""
        assert isinstance(self.make(), Encoder)

    def test_that_shape_and_type_are_as_said(self) -> None:
        """(texts, dimension) of float32."""
        encoder = self.make()
        vectors = encoder.encode(TEXTS)
        assert vectors.shape == (len(TEXTS), encoder.dimension)
        assert vectors.dtype == np.float32

    def test_that_no_texts_give_no_rows(self) -> None:
        """An empty list is an empty matrix of the right width."""
        encoder = self.make()
        vectors = encoder.encode([])
        assert vectors.shape == (0, encoder.dimension)
        assert vectors.dtype == np.float32

    def test_that_rows_have_length_one_or_zero(self) -> None:
        """A dot product of two rows is a cosine; ordinary text has content."""
        norms = np.linalg.norm(self.make().encode((*TEXTS, "", "   ")), axis=1)
        assert np.all((np.abs(norms - 1) < 1e-4) | (norms == 0))
        assert abs(norms[0] - 1) < 1e-4

    def test_that_a_row_depends_on_its_text_alone(self) -> None:
        """Batch, order and neighbours change nothing."""
        encoder = self.make()
        together = encoder.encode(TEXTS)
        assert np.allclose(together[::-1], encoder.encode(TEXTS[::-1]), atol=self.tolerance)
        for row, text in zip(together, TEXTS, strict=True):
            assert np.allclose(row, encoder.encode([text])[0], atol=self.tolerance)

    def test_that_encoding_is_deterministic(self) -> None:
        """Another instance gives the same vectors."""
        assert np.array_equal(self.make().encode(TEXTS), self.make().encode(TEXTS))

    def test_that_likeness_shows(self) -> None:
        """The same text is nearest to itself."""
        vectors = self.make().encode(TEXTS[:2])
        assert vectors[0] @ vectors[0] > vectors[0] @ vectors[1]
