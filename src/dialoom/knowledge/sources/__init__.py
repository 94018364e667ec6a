"""Where evidence comes from: indexed passages, per-user memory, and functions or servers that are called."""

from dialoom.knowledge.sources.calls import CallSource, HttpCall
from dialoom.knowledge.sources.documents import folder_passages
from dialoom.knowledge.sources.indexed import IndexedSource
from dialoom.knowledge.sources.records import dialogue_passages, record_passages, table_passages
from dialoom.knowledge.sources.remembered import MemorySource

__all__ = [
    "CallSource",
    "HttpCall",
    "IndexedSource",
    "MemorySource",
    "dialogue_passages",
    "folder_passages",
    "record_passages",
    "table_passages",
]
