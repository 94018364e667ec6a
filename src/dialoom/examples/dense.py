"""Dense retrieval over contexts: cosine between sums of utterance vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.encoders.base import Encoder, Vectors
from dialoom.encoders.rows import unit_rows
from dialoom.errors import InvalidFile
from dialoom.examples.base import Example
from dialoom.examples.context import window
from dialoom.examples.neighbours import Neighbours
from dialoom.examples.ranking import Scores, best, opening_scores
from dialoom.examples.turns import TurnIndex
from dialoom.files import Parts, pack_array, pack_json, unpack_array, unpack_json

BATCH = 4096  # utterances encoded at a time while building
REMEMBERED = 4096  # utterances of live conversations whose vectors are kept


class DenseSelector:
    """Turns whose context points the same way as ours.

    A context's vector is the normalised sum of the vectors of its last `size` spoken utterances (and the tool rounds
    among them), each older one weighing `decay` times the next. Utterances are encoded one by one and remembered, so a
    growing conversation costs one encoding per new utterance. Retrieval is exact; `neighbours` makes it approximate.
    """

    def __init__(
        self,
        index: TurnIndex,
        encoder: Encoder,
        vectors: Vectors,
        *,
        size: int = 2,
        decay: float = 1.0,
        neighbours: Neighbours | None = None,
    ) -> None:
        """`vectors` has a unit (or zero) row per turn of `index`."""
        self.index = index
        self.size = size
        self.decay = decay
        self.vectors = vectors
        self._neighbours = neighbours
        self._vector = lru_cache(REMEMBERED)(lambda text: encoder.encode([text])[0])

    @classmethod
    def build(
        cls, index: TurnIndex, encoder: Encoder, *, size: int = 2, decay: float = 1.0, approximate: bool = False
    ) -> DenseSelector:
        """Encodes every utterance of `index`; peak memory is the result and one batch.

        Vectors are rounded to half precision, so that a saved selector answers exactly as the built one.
        `approximate` adds a neighbour graph (usearch), worth it above about 100 000 turns.
        """
        vectors = np.zeros((len(index), encoder.dimension), np.float32)
        first = 0
        for dialogues in _batches(index):
            block = _context_vectors(dialogues, encoder, size, decay)
            vectors[first : first + len(block)] = block.astype(np.float16)
            first += len(block)
        neighbours = Neighbours.build(vectors) if approximate else None
        return cls(index, encoder, vectors, size=size, decay=decay, neighbours=neighbours)

    def scores(self, context: Dialogue, turns: NDArray[np.int64] | None = None) -> Scores:
        """Cosine of each turn's context with ours, in [-1, 1]."""
        if not context.utterances:
            opening = opening_scores(self.index)
            return opening if turns is None else opening[turns]
        query = self._encode(context)
        # Row by row on this thread: a threaded matrix product waits for cores that others use (ten times slower then).
        scores: Scores = np.vecdot(self.vectors if turns is None else self.vectors[turns], query)
        return scores

    def select(self, context: Dialogue, n: int = 5) -> list[Example]:
        """The nearest turns."""
        turns = None
        if self._neighbours is not None and context.utterances:
            turns = self._neighbours.near(self._encode(context), 8 * n)
        return best(self.index, self.scores(context, turns), n, "reads alike", turns)

    def _encode(self, context: Dialogue) -> NDArray[np.float32]:
        last = window(context.utterances, self.size)
        rows = np.stack([self._vector(utterance.text) for utterance in last])
        query: NDArray[np.float32] = unit_rows((_weights(len(last), self.decay) @ rows)[None, :])[0]
        return query

    def to_parts(self) -> dict[str, bytes]:
        """The selector without its index, its encoder and its neighbour graph."""
        return {
            "dense.json": pack_json({"size": self.size, "decay": self.decay}),
            "dense_vectors.npy": pack_array(self.vectors.astype(np.float16)),
        }

    @classmethod
    def from_parts(
        cls, parts: Parts, index: TurnIndex, encoder: Encoder, *, approximate: bool = False
    ) -> DenseSelector:
        """The selector that `to_parts` saved, over the same index. Raises `InvalidFile` when they do not fit."""
        settings = unpack_json(parts, "dense.json")
        vectors = unpack_array(parts, "dense_vectors.npy").astype(np.float32)
        try:
            size, decay = int(settings["size"]), float(settings["decay"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile("dense.json", f"not the settings of a dense selector ({error}).") from error
        if vectors.shape != (len(index), encoder.dimension):
            raise InvalidFile(
                "dense_vectors.npy",
                f"is {vectors.shape}, and these transcripts and encoder need {(len(index), encoder.dimension)}.",
                hint="Build the selector again.",
            )
        neighbours = Neighbours.build(vectors) if approximate else None
        return cls(index, encoder, vectors, size=size, decay=decay, neighbours=neighbours)


def _batches(index: TurnIndex) -> Iterator[list[Dialogue]]:
    batch: list[Dialogue] = []
    waiting = 0
    for dialogue in index.dialogues():
        batch.append(dialogue)
        waiting += len(dialogue)
        if waiting >= BATCH:
            yield batch
            batch, waiting = [], 0
    if batch:
        yield batch


def _context_vectors(dialogues: Sequence[Dialogue], encoder: Encoder, size: int, decay: float) -> Vectors:
    """A row per system turn of `dialogues`, in order; every distinct text is encoded once."""
    rows: dict[str, int] = {}
    for dialogue in dialogues:
        for utterance in dialogue.utterances:
            rows.setdefault(utterance.text, len(rows))
    known = encoder.encode(list(rows))
    found = [
        _sum(window(dialogue.utterances[:place], size), rows, known, decay)
        for dialogue in dialogues
        for place, utterance in enumerate(dialogue.utterances)
        if utterance.role is Role.SYSTEM
    ]
    return unit_rows(np.stack(found)) if found else np.zeros((0, encoder.dimension), np.float32)


def _sum(last: Sequence[Utterance], rows: dict[str, int], known: Vectors, decay: float) -> NDArray[np.float32]:
    total: NDArray[np.float32] = _weights(len(last), decay) @ known[[rows[utterance.text] for utterance in last]]
    return total


def _weights(count: int, decay: float) -> NDArray[np.float32]:
    """1 for the newest of `count` utterances, `decay` for the one before, and so on."""
    return np.float32(decay) ** np.arange(count - 1, -1, -1, dtype=np.float32)
