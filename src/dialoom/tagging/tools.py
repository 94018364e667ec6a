"""Tags of tool rounds: what was called, and how it came out."""

from __future__ import annotations

from dialoom.dialogue import Utterance
from dialoom.encoders.words import words

OUTCOME_WORDS = 5


def tool_tags(utterance: Utterance) -> tuple[str, ...]:
    """One tag of a tool round: `call NAME`, or `NAME: OUTCOME` with the first words of its outcome.

    Reads the annotations `tool`, `kind` and `outcome` of a tool round; without them (a plain transcript) the first
    words of its text stand for both. Values in the outcome become typed placeholders, so that tags stay few.
    """
    tool = str(utterance.annotations.get("tool", "")).strip().lower()
    if not tool:
        return (_short(utterance.text) or "tool",)
    if utterance.annotations.get("kind") == "call":
        return (f"call {tool}",)
    return (f"{tool}: {_short(str(utterance.annotations.get('outcome', ''))) or 'returned'}",)


def _short(text: str) -> str:
    return " ".join(words(text)[:OUTCOME_WORDS])
