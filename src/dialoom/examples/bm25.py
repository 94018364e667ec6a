"""BM25 over the last utterances of every context."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue
from dialoom.errors import InvalidFile
from dialoom.examples.base import Example
from dialoom.examples.context import contexts, text_of, window
from dialoom.examples.ranking import Scores, best, opening_scores
from dialoom.examples.turns import TurnIndex
from dialoom.files import Parts, pack_array, pack_json, unpack_array, unpack_json

WORD = re.compile(r"\w+")


class BM25Selector:
    """Turns whose last utterances share the most telling words with ours (Lucene's BM25, k1 1.5, b 0.75).

    `size` is how many spoken utterances of a context count. Words are runs of letters and digits in lower case; the
    scores of a word are worked out at build time (bm25s), so that a query only adds.
    """

    def __init__(
        self,
        index: TurnIndex,
        words: dict[str, int],
        weights: tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64]],
        *,
        size: int = 2,
    ) -> None:
        """`weights` are scores, turns and the starts of each word's run in both."""
        self.index = index
        self.size = size
        self._words = words
        self._scores, self._turns, self._starts = weights

    @classmethod
    def build(cls, index: TurnIndex, *, size: int = 2) -> BM25Selector:
        """Reads every context of `index` once."""
        import bm25s

        words: dict[str, int] = {}
        documents: list[list[int]] = []
        for context in contexts(index, size):
            seen = WORD.findall(text_of(context).lower())
            documents.append([words.setdefault(word, len(words)) for word in seen])
        if not words:
            empty = np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(1, np.int64)
            return cls(index, words, empty, size=size)
        engine = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        engine.index((documents, words), create_empty_token=False, show_progress=False)
        table: dict[str, Any] = engine.scores
        weights = (
            np.asarray(table["data"], np.float32),
            np.asarray(table["indices"], np.int32),
            np.asarray(table["indptr"], np.int64),
        )
        return cls(index, words, weights, size=size)

    def scores(self, context: Dialogue, turns: NDArray[np.int64] | None = None) -> Scores:
        """BM25 of each turn's context with the end of ours as the query; every occurrence of a word counts."""
        if not context.utterances:
            total = opening_scores(self.index)
        else:
            total = np.zeros(len(self.index), np.float32)
            for word in WORD.findall(text_of(window(context.utterances, self.size)).lower()):
                number = self._words.get(word)
                if number is not None:
                    run = slice(self._starts[number], self._starts[number + 1])
                    total[self._turns[run]] += self._scores[run]
        return total if turns is None else total[turns]

    def select(self, context: Dialogue, n: int = 5) -> list[Example]:
        """The turns with the highest BM25."""
        return best(self.index, self.scores(context), n, "shares words")

    def to_parts(self) -> dict[str, bytes]:
        """The selector without its index."""
        return {
            "bm25.json": pack_json({"size": self.size, "words": list(self._words)}),
            "bm25_scores.npy": pack_array(self._scores),
            "bm25_turns.npy": pack_array(self._turns),
            "bm25_starts.npy": pack_array(self._starts),
        }

    @classmethod
    def from_parts(cls, parts: Parts, index: TurnIndex) -> BM25Selector:
        """The selector that `to_parts` saved, over the same index. Raises `InvalidFile` when they do not fit."""
        settings = unpack_json(parts, "bm25.json")
        try:
            size, words = int(settings["size"]), {str(word): number for number, word in enumerate(settings["words"])}
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile("bm25.json", f"not the settings of a BM25 selector ({error}).") from error
        scores, turns = unpack_array(parts, "bm25_scores.npy"), unpack_array(parts, "bm25_turns.npy")
        starts = unpack_array(parts, "bm25_starts.npy")
        fits = scores.shape == turns.shape and len(starts) == len(words) + 1 and starts[-1] == len(turns)
        fits = fits and starts[0] == 0 and bool((np.diff(starts) >= 0).all())
        if not fits or (len(turns) and not 0 <= turns.min() <= turns.max() < len(index)):
            raise InvalidFile("bm25_turns.npy", "does not fit these transcripts.", hint="Build the selector again.")
        weights = scores.astype(np.float32), turns.astype(np.int32), starts.astype(np.int64)
        return cls(index, words, weights, size=size)
