"""BM25 over passages, by bm25s; memory-mapped from disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class LexicalIndex:
    """BM25 scores (Lucene's variant, k1 1.5, b 0.75) by position in the list it was built from."""

    def __init__(self, model: Any, size: int) -> None:
        self._model = model
        self.size = size

    @classmethod
    def build(cls, tokens: Sequence[Sequence[str]]) -> LexicalIndex:
        """From the words of every passage. Passages without words score 0."""
        import bm25s

        vocabulary: dict[str, int] = {}
        ids = [[vocabulary.setdefault(word, len(vocabulary)) for word in passage if word] for passage in tokens]
        if not vocabulary:
            return cls(None, len(tokens))
        model = bm25s.BM25()
        model.index((ids, vocabulary), show_progress=False)
        return cls(model, len(tokens))

    def scores(self, query: Sequence[str]) -> Floats:
        """One score a passage, 0 where nothing is shared."""
        known = [] if self._model is None else [word for word in query if word in self._model.vocab_dict]
        if not known:
            return np.zeros(self.size, dtype=np.float32)
        return np.asarray(self._model.get_scores(known), dtype=np.float32)

    def save(self, folder: Path) -> None:
        """Write into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "size.npy", np.array([self.size, self._model is not None]))
        if self._model is not None:
            self._model.save(str(folder), show_progress=False)

    @classmethod
    def load(cls, folder: Path) -> LexicalIndex:
        """Memory-map what `save` wrote."""
        import bm25s

        size, filled = np.load(folder / "size.npy")
        model = bm25s.BM25.load(str(folder), mmap=True, show_progress=False) if filled else None
        return cls(model, int(size))
