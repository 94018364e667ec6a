"""Passages that can be searched: stored in SQLite, indexed by BM25, by vectors, or by both."""

from dialoom.knowledge.indexes.index import Hit, PassageIndex
from dialoom.knowledge.indexes.passages import Changes

__all__ = ["Changes", "Hit", "PassageIndex"]
