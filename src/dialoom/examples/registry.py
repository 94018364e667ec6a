"""Selectors by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from dialoom.encoders.base import Encoder
from dialoom.errors import UnknownName, UsageError
from dialoom.examples.automaton import AutomatonSelector, Candidates
from dialoom.examples.base import Selector
from dialoom.examples.bm25 import BM25Selector
from dialoom.examples.concatenation import ConcatenationSelector
from dialoom.examples.dense import DenseSelector
from dialoom.examples.mixture import Fallback, Mixture
from dialoom.examples.ranking import Ranker
from dialoom.examples.turns import TurnIndex
from dialoom.examples.uniform import RandomSelector


@dataclass(frozen=True)
class Selectors:
    """Opens the selectors of one corpus by name; what two of them share is built once.

    `size` is how many spoken utterances retrieval looks at; `dense-history` looks at `HISTORY` instead. With
    `approximate` vectors are searched by a neighbour graph (HNSW) and not one by one.
    """

    index: TurnIndex
    encoder: Encoder | None = None
    candidates: Candidates | None = None
    seed: int = 0
    size: int = 2
    approximate: bool = False

    def open(self, name: str) -> Selector:
        """The selector called `name`, one of `SELECTORS`.

        Raises `UnknownName`, and `UsageError` when it needs an encoder or an automaton that is not given.
        """
        if name not in SELECTORS:
            raise UnknownName("selector", name, SELECTORS)
        return SELECTORS[name](self)

    @cached_property
    def bm25(self) -> BM25Selector:
        """BM25 over the last `size` utterances."""
        return BM25Selector.build(self.index, size=self.size)

    @cached_property
    def concatenation(self) -> ConcatenationSelector:
        """Cosine over the whole conversation as one text."""
        return ConcatenationSelector.build(self.index, self._encoder, approximate=self.approximate)

    @cached_property
    def dense(self) -> DenseSelector:
        """Cosine over the last `size` utterances."""
        return DenseSelector.build(self.index, self._encoder, size=self.size, approximate=self.approximate)

    @cached_property
    def dense_history(self) -> DenseSelector:
        """Cosine over the whole conversation, where the recent weighs more."""
        return DenseSelector.build(
            self.index, self._encoder, size=HISTORY, decay=HISTORY_DECAY, approximate=self.approximate
        )

    @property
    def _encoder(self) -> Encoder:
        if self.encoder is None:
            raise UsageError("Dense retrieval needs an encoder.", hint="Choose one with open_encoder, or use bm25.")
        return self.encoder

    @property
    def _ranker(self) -> BM25Selector | DenseSelector:
        """Among turns of one state the whole conversation tells more than its end, which they have in common."""
        return self.bm25 if self.encoder is None else self.dense_history

    def _automaton(self, ranker: Ranker | None) -> AutomatonSelector:
        if self.candidates is None:
            raise UsageError("Selecting by state needs an automaton.", hint="Learn one first, or use dense or bm25.")
        return AutomatonSelector(self.index, self.candidates, ranker=ranker, seed=self.seed)

    def _hybrid(self) -> Mixture:
        return Mixture({"dense": (self.dense, 1.0), "bm25": (self.bm25, 1.0)})

    def _mixture(self) -> Fallback:
        return Fallback({"automaton": self._automaton(self._ranker), "retrieval": self._ranker})


HISTORY = 12
HISTORY_DECAY = 0.8

SELECTORS: Mapping[str, Callable[[Selectors], Selector]] = MappingProxyType(
    {
        "automaton": lambda selectors: selectors._automaton(selectors._ranker),
        "automaton-sampled": lambda selectors: selectors._automaton(None),
        "bm25": lambda selectors: selectors.bm25,
        "concatenation": lambda selectors: selectors.concatenation,
        "dense": lambda selectors: selectors.dense,
        "dense-history": lambda selectors: selectors.dense_history,
        "hybrid": lambda selectors: selectors._hybrid(),
        "mixture": lambda selectors: selectors._mixture(),
        "random": lambda selectors: RandomSelector(selectors.index, seed=selectors.seed),
    }
)
