"""Scores over system turns, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue
from dialoom.examples.base import Example
from dialoom.examples.turns import TurnIndex

Scores = NDArray[np.float32]


@runtime_checkable
class Ranker(Protocol):
    """Says how well past turns fit a conversation; a selector that ranks is one."""

    @property
    def index(self) -> TurnIndex:
        """The turns that are ranked."""
        ...

    def scores(self, context: Dialogue, turns: NDArray[np.int64] | None = None) -> Scores:
        """One score per turn of `turns` (all turns of `index` when None); higher fits better."""
        ...


def opening_scores(index: TurnIndex) -> Scores:
    """Scores before a word is said: 1 for turns that open a dialogue, 0 for all others."""
    opening: Scores = (index.reply_of == 0).astype(np.float32)
    return opening


def best(
    index: TurnIndex, scores: Scores, n: int, reason: str, turns: NDArray[np.int64] | None = None
) -> list[Example]:
    """The `n` best turns of different dialogues, best first, ties in corpus order.

    `scores` are those of `turns`, ascending turn numbers (all turns when None). Dialogues are examples as a whole,
    so a second turn of one would only repeat it.
    """
    chosen: dict[int, int] = {}
    reach = 4 * n
    while n > 0:
        for place in _top(scores, reach):
            turn = int(place) if turns is None else int(turns[place])
            if chosen.setdefault(int(index.dialogue_of[turn]), int(place)) == place and len(chosen) == n:
                break
        if len(chosen) == n or reach >= len(scores):
            break
        chosen.clear()
        reach *= 8
    places = chosen.values()
    return [index.example(p if turns is None else int(turns[p]), float(scores[p]), reason) for p in places]


def _top(scores: Scores, count: int) -> Sequence[int] | NDArray[np.int64]:
    """Places of the `count` highest scores, highest first, ties by place."""
    if count < len(scores):
        edge = np.partition(scores, len(scores) - count)[len(scores) - count]
        above = np.flatnonzero(scores > edge)
        level = np.flatnonzero(scores == edge)[: count - len(above)]
        places = np.concatenate([above, level])
    else:
        places = np.arange(len(scores))
    order: NDArray[np.int64] = places[np.lexsort((places, -scores[places]))]
    return order
