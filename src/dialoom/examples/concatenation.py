"""The retriever of S-ICL (sec. 2.3, 2.4): cosine between embeddings of whole conversations as one text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue, Role
from dialoom.encoders.base import Encoder, Vectors
from dialoom.examples.base import Example
from dialoom.examples.neighbours import Neighbours
from dialoom.examples.ranking import Scores, best, opening_scores
from dialoom.examples.records import concatenation
from dialoom.examples.turns import TurnIndex

BATCH = 4096  # contexts encoded at a time


class ConcatenationSelector:
    """Turns before which the whole conversation, read as one text, resembles ours.

    Where `DenseSelector` adds the vectors of the last utterances, this one embeds the Concatenation of everything said
    before a turn, as a transformer with one vector per text (CLS or mean pooling) is meant to be used.
    """

    def __init__(self, index: TurnIndex, encoder: Encoder, vectors: Vectors, neighbours: Neighbours | None) -> None:
        """`vectors` has a unit (or zero) row per turn of `index`."""
        self.index = index
        self.vectors = vectors
        self._encoder = encoder
        self._neighbours = neighbours

    @classmethod
    def build(cls, index: TurnIndex, encoder: Encoder, *, approximate: bool = False) -> ConcatenationSelector:
        """Encodes the context of every turn; `approximate` adds a neighbour graph (usearch) for large sets."""
        vectors = np.zeros((len(index), encoder.dimension), np.float32)
        first = 0
        for texts in _batches(index):
            vectors[first : first + len(texts)] = encoder.encode(texts)
            first += len(texts)
        return cls(index, encoder, vectors, Neighbours.build(vectors) if approximate else None)

    def scores(self, context: Dialogue, turns: NDArray[np.int64] | None = None) -> Scores:
        """Cosine of each turn's context with ours, in [-1, 1]."""
        if not context.utterances:
            opening = opening_scores(self.index)
            return opening if turns is None else opening[turns]
        query = self._encoder.encode([concatenation(context)])[0]
        scores: Scores = np.vecdot(self.vectors if turns is None else self.vectors[turns], query)
        return scores

    def select(self, context: Dialogue, n: int = 5) -> list[Example]:
        """The nearest turns."""
        turns = None
        if self._neighbours is not None and context.utterances:
            turns = self._neighbours.near(self._encoder.encode([concatenation(context)])[0], 8 * n)
        return best(self.index, self.scores(context, turns), n, "the whole conversation reads alike", turns)


def _batches(index: TurnIndex) -> Iterator[list[str]]:
    texts: list[str] = []
    for dialogue in index.dialogues():
        for place, utterance in enumerate(dialogue.utterances):
            if utterance.role is Role.SYSTEM:
                texts.append(concatenation(replace(dialogue, utterances=dialogue.utterances[:place])))
        if len(texts) >= BATCH:
            yield texts
            texts = []
    if texts:
        yield texts
