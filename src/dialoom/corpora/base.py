"""The corpus port: a transcript format is a reader that streams dialogues."""

from __future__ import annotations

import gzip
import io
import posixpath
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol, cast, runtime_checkable

from dialoom.dialogue import Dialogue
from dialoom.errors import InvalidFile, InvalidRecord

MAX_EXPANSION = 250
"""How many times larger than itself a compressed file may become. Real transcripts compress 5 to 40 times."""
MIN_EXPANDED = 64 * 1024 * 1024
"""Expanded sizes up to this many bytes are read whatever the ratio."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file to read: a plain file, a `.gz`, or a member of a `.zip`, opened in place.

    `name` says where it is (`corpus.zip!inner/path.json` inside an archive). `label` is its path below the folder,
    glob or archive that was asked for, without suffixes: the same wherever the corpus lies, so that ids can be made
    from it. `archive` is the open archive while a walk is inside it.
    """

    name: str
    path: Path
    member: str | None = None
    label: str = ""
    archive: zipfile.ZipFile | None = field(default=None, repr=False, compare=False)

    @property
    def folder(self) -> str:
        """The name of the folder that holds the file, in the archive or on disk ("" at the top of an archive)."""
        inside = PurePosixPath(self.member) if self.member else PurePosixPath(self.path.absolute().as_posix())
        return inside.parent.name

    def open(self) -> BinaryIO:
        """A fresh binary stream, decompressed; the caller closes it.

        Raises `InvalidFile` when the file cannot be opened; while it is read, when it expands beyond `MAX_EXPANSION`.
        """
        try:
            raw, size = self._raw()
        except (OSError, zipfile.BadZipFile, KeyError, RuntimeError, NotImplementedError) as error:
            raise InvalidFile(self.name, f"cannot be opened ({error}).") from error
        if (self.member or self.path.name).lower().endswith(".gz"):
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=raw))
        elif self.member is None:
            return raw
        else:
            stream = raw
        limit = max(MIN_EXPANDED, MAX_EXPANSION * size)
        return cast(BinaryIO, io.BufferedReader(_Limited(stream, raw, self.name, limit)))

    def beside(self, *names: str) -> Document | None:
        """The first of these files that lies in the same folder, such as a file of annotations; None when absent."""
        for name in names:
            if self.member is None:
                if (self.path.parent / name).is_file():
                    return Document(str(self.path.parent / name), self.path.parent / name)
                continue
            member = posixpath.normpath(str(PurePosixPath(self.member).parent / name))
            if self.archive is not None and member in self.archive.NameToInfo:
                return Document(f"{self.path}!{member}", self.path, member, archive=self.archive)
        return None

    def _raw(self) -> tuple[BinaryIO, int]:
        """The stored stream and its compressed size in bytes."""
        if self.member is None:
            return self.path.open("rb"), self.path.stat().st_size
        if self.archive is None:
            raise InvalidFile(self.name, "its archive is closed.", hint="Read documents while walking over them.")
        info = self.archive.getinfo(self.member)
        return cast(BinaryIO, self.archive.open(info)), info.compress_size


class _Limited(io.RawIOBase):
    """A stream that refuses to give more than `limit` bytes: an archive may claim anything."""

    def __init__(self, stream: BinaryIO, raw: BinaryIO, name: str, limit: int) -> None:
        self._stream, self._raw, self._name, self._limit, self._given = stream, raw, name, limit, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._stream.read(len(view))
        view[: len(data)] = data
        self._given += len(data)
        if self._given > self._limit:
            raise InvalidFile(self._name, f"expands to more than {self._limit} bytes, {MAX_EXPANSION} times its size.")
        return len(data)

    def close(self) -> None:
        self._stream.close()
        self._raw.close()
        super().close()


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a person may say about their transcripts; formats ignore what does not concern them.

    `columns` maps what a table must tell (conversation, role, text, timestamp, tags, action) to its column names, and
    `roles` maps a speaker as written to user, system or tool. `tools` keeps tool calls and results as utterances.
    `joined` joins consecutive utterances of one speaker into one round.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    tools: bool = True
    joined: bool = False


@runtime_checkable
class Reader(Protocol):
    """Reads one format. `name` is what `--format` takes, `description` one line for people."""

    name: str
    description: str

    def sniff(self, head: bytes) -> bool:
        """Whether a document that starts like this is in the format; `head` is its first 64 KiB, decompressed."""
        ...

    def read(self, document: Document, options: ReadOptions, /) -> Iterator[Dialogue | InvalidRecord]:
        """Dialogues as they come; an `InvalidRecord` is yielded, not raised, so that a caller may skip it.

        Utterances may be blank and dialogues empty: the caller counts and leaves them out. Annotations and metadata
        hold JSON values only; `acts`, `intents`, `slots`, `personal` and tool rounds have the shapes of
        `dialoom.corpora.annotations`.
        """
        ...
