"""What is known about each user across sessions: facts taken from turns, confirmed, corrected and forgotten."""

from dialoom.knowledge.memory.extraction import ENGLISH_RULES, FactRule, Remark, read_turn
from dialoom.knowledge.memory.facts import Fact, Memory

__all__ = ["ENGLISH_RULES", "Fact", "FactRule", "Memory", "Remark", "read_turn"]
