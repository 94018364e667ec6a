"""The selector port: which past dialogues to show for the turn at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dialoom.dialogue import Dialogue


@dataclass(frozen=True, slots=True)
class Example:
    """A past dialogue and the turn in it that answers the present one.

    `reply` is the index in `dialogue.utterances` of the system turn to imitate; what precedes it is the context that
    resembles ours. `score` orders examples of one selector (higher is better); `reason` says why it was chosen.
    """

    dialogue: Dialogue
    reply: int
    score: float
    reason: str = ""

    @property
    def reply_text(self) -> str:
        """The system turn to imitate."""
        return self.dialogue.utterances[self.reply].text


@runtime_checkable
class Selector(Protocol):
    """Chooses examples for a conversation so far."""

    def select(self, context: Dialogue, n: int = 5) -> Sequence[Example]:
        """At most `n` examples, best first, deterministic for the selector's seed and the context."""
        ...
