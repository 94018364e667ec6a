"""Random examples: the control that every other selector has to beat."""

from __future__ import annotations

import numpy as np

from dialoom.dialogue import Dialogue
from dialoom.examples.base import Example
from dialoom.examples.context import chance
from dialoom.examples.turns import TurnIndex


class RandomSelector:
    """A random system turn of each of `n` random dialogues (RandSamp of DFA-RAG, sec. 4.1), fixed by `seed`."""

    def __init__(self, index: TurnIndex, *, seed: int = 0) -> None:
        self.index = index
        self.seed = seed
        self._dialogues, self._first, self._count = np.unique(index.dialogue_of, return_index=True, return_counts=True)

    def select(self, context: Dialogue, n: int = 5) -> list[Example]:
        """`n` draws without regard to the context, which only seeds them."""
        draw = chance(self.seed, context)
        drawn = draw.choice(len(self._dialogues), min(n, len(self._dialogues)), replace=False) if n > 0 else ()
        turns = [int(self._first[place] + draw.integers(self._count[place])) for place in drawn]
        return [self.index.example(turn, 0.0, "drawn at random") for turn in turns]
