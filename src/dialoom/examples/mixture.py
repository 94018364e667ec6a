"""Selectors combined: by weighted ranks, or one where another has nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dialoom.dialogue import Dialogue
from dialoom.errors import UsageError
from dialoom.examples.base import Example, Selector

RANK_OFFSET = 60  # the usual constant of reciprocal rank fusion: how little the very first ranks stand out


class Mixture:
    """Weighted reciprocal rank fusion: a dialogue scores the sum of weight / (60 + rank) over the selectors.

    Ranks are fused because scores of different selectors share no unit. (Cormack, Clarke, Buettcher 2009.)
    """

    def __init__(self, parts: Mapping[str, tuple[Selector, float]], *, reach: int = 4) -> None:
        """`parts`: name -> selector and its weight (> 0). Each is asked for `reach` times the examples wanted."""
        if not parts or any(weight <= 0 for _, weight in parts.values()):
            raise UsageError("A mixture needs selectors with weights above 0.")
        self.parts = dict(parts)
        self.reach = reach

    def select(self, context: Dialogue, n: int = 5) -> list[Example]:
        """The dialogues that rank best over all parts; the turn of the part that adds most to the score is shown."""
        scores: dict[str, float] = {}
        shown: dict[str, tuple[float, Example]] = {}
        for name, (selector, weight) in self.parts.items():
            for rank, example in enumerate(selector.select(context, self.reach * n), start=1):
                id_, gain = example.dialogue.id, weight / (RANK_OFFSET + rank)
                scores[id_] = scores.get(id_, 0.0) + gain
                if id_ not in shown or gain > shown[id_][0]:
                    shown[id_] = gain, replace(example, reason=f"{name}: {example.reason}")
        order = sorted(scores, key=lambda id_: -scores[id_])[: max(n, 0)]
        return [replace(shown[id_][1], score=scores[id_]) for id_ in order]


class Fallback:
    """The first selector's examples, filled up with those of the next where they are fewer than wanted."""

    def __init__(self, parts: Mapping[str, Selector]) -> None:
        """`parts`: name -> selector, the preferred one first."""
        if not parts:
            raise UsageError("A fallback needs at least one selector.")
        self.parts = dict(parts)

    def select(self, context: Dialogue, n: int = 5) -> list[Example]:
        """Examples in the order of the parts; an example's score is 1 / its place, as parts share no unit."""
        chosen: dict[str, Example] = {}
        for name, selector in self.parts.items():
            if len(chosen) >= n:
                break
            for example in selector.select(context, n):
                if len(chosen) < n and example.dialogue.id not in chosen:
                    reason = f"{name}: {example.reason}"
                    chosen[example.dialogue.id] = replace(example, score=1 / (len(chosen) + 1), reason=reason)
        return list(chosen.values())
