"""Models of the sentence-transformers library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dialoom.encoders.base import Pooling, Vectors
from dialoom.encoders.rows import encode_written
from dialoom.errors import MissingExtra, UsageError


class SentenceTransformersEncoder:
    """A model by hub name or folder, pooled as its own configuration says, or as `pooling` says in its place."""

    def __init__(
        self, model: str, *, device: str | None = None, batch: int = 32, pooling: Pooling | None = None
    ) -> None:
        """Loads `model`, downloading it if it is a hub name. Raises `MissingExtra`, `UsageError` for an unknown one."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtra("Encoding with sentence-transformers", "sentence-transformers") from error
        try:
            self._model: Any = SentenceTransformer(model, device=device)
        except (OSError, ValueError) as error:
            raise UsageError(f"No sentence-transformers model '{model}' ({error}).") from error
        if pooling is not None:
            self._pool(model, pooling)
        self.batch = batch
        self.dimension = len(self._encode(["dimension"])[0])

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit rows; blank texts give zeros."""
        return encode_written(texts, self.dimension, self._encode)

    def _pool(self, model: str, pooling: Pooling) -> None:
        places = [place for place, module in enumerate(self._model) if type(module).__name__ == "Pooling"]
        if not places:
            raise UsageError(f"'{model}' does not pool token vectors, so its pooling cannot be chosen.")
        pool = self._model[places[0]]
        width = getattr(pool, "embedding_dimension", None) or pool.word_embedding_dimension
        self._model[places[0]] = type(pool)(width, pooling_mode=pooling)

    def _encode(self, texts: list[str]) -> Vectors:
        rows = self._model.encode(texts, batch_size=self.batch, show_progress_bar=False, convert_to_numpy=True)
        return np.asarray(rows, np.float32)
