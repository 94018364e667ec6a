"""The corpus port: a transcript format is a reader that streams dialogues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from dialoom.dialogue import Dialogue


@dataclass(frozen=True, slots=True)
class Document:
    """One file to read: where it is said to be (`corpus.zip!inner/path.json` inside an archive), and how to open it."""

    name: str
    path: Path
    member: str | None = None

    def open(self) -> BinaryIO:
        """A fresh binary stream, decompressed; the caller closes it."""
        raise NotImplementedError("set by the corpus lane")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person may say about their transcripts; formats ignore what does not concern them."""

    columns: Mapping[str, str] = field(default_factory=dict)
    tools: bool = True


@runtime_checkable
class Reader(Protocol):
    """Reads one format."""

    name: str

    def sniff(self, document: Document, head: bytes) -> bool:
        """Whether the document looks like this format; `head` is its first 64 KiB."""
        ...

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | Exception]:
        """Dialogues as they come; an `InvalidRecord` is yielded, not raised, so that a caller may skip it."""
        ...
