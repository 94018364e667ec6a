"""Turns whose plan and evidence are known: what planners, rankers and the unified model learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dialoom.dialogue import Dialogue
from dialoom.knowledge.base import Passage

Pools = Mapping[str, Sequence[Passage]]
"""The candidates of a turn by source, in an order of no meaning to the learner but its own position."""


@dataclass(frozen=True, slots=True)
class LabelledTurn:
    """A user turn with the plan, the evidence and the reply that a person chose.

    `context` ends with the user's turn; its `id` groups the turns of one dialogue, so that no fold ever holds half a
    dialogue. `gold` are ids of the passages used, by source.
    """

    context: Dialogue
    pools: Pools
    plan: tuple[str, ...] = ()
    gold: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reply: str = ""
