"""What automata see: rounds of symbols. No text and no model ever enters this package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Round(NamedTuple):
    """One utterance as symbols: who spoke, its tag set, and further symbols (`words`) that predictors may use.

    Tags of different roles are different symbols even when spelled alike (DFA-RAG sec. 3.2.2).
    """

    role: str
    tags: tuple[str, ...]
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TagSequence:
    """One dialogue as symbols."""

    id: str
    rounds: tuple[Round, ...]
