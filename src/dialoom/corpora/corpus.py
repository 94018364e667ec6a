"""Opening a corpus: documents, readers, counts and rejects joined into one stream of dialogues."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Literal

from dialoom.corpora.base import Document, Reader, ReadOptions
from dialoom.corpora.documents import documents, head
from dialoom.corpora.formats import FORMATS, reader_named
from dialoom.corpora.records import BROKEN_STREAM
from dialoom.dialogue import Dialogue
from dialoom.errors import InvalidFile, InvalidRecord, UsageError
from dialoom.files import replacing

_TABLE = re.compile(r"\.(?:csv|tsv)(?:\.gz)?$", re.IGNORECASE).search
OnError = Literal["raise", "skip"]


@dataclass(slots=True)
class Counts:
    """What became of everything that was seen; final once the corpus is exhausted.

    `read` dialogues were given out; `skipped` records could not be read; `empty` dialogues had no utterance with text.
    `blank` utterances had no text and were left out of their dialogues. `ignored` names the files in a folder or
    archive that are in no known format (documentation, schemas, pictures).
    """

    files: int = 0
    read: int = 0
    utterances: int = 0
    skipped: int = 0
    empty: int = 0
    blank: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    ignored: list[str] = field(default_factory=list)


class Corpus(Iterator[Dialogue]):
    """A stream of dialogues with `counts`. Closing it early is allowed; the file of rejects is then not written."""

    def __init__(
        self,
        paths: list[str],
        reader: Reader | None,
        options: ReadOptions,
        on_error: OnError,
        rejects: str | os.PathLike[str] | None,
    ) -> None:
        self.counts = Counts()
        self._paths, self._reader, self._options = paths, reader, options
        self._on_error, self._rejects = on_error, rejects
        self._ids: set[str] = set()
        self._rejected: BinaryIO | None = None
        self._stream = self._dialogues()

    def __next__(self) -> Dialogue:
        return next(self._stream)

    def close(self) -> None:
        """Stop reading and close every file."""
        self._stream.close()

    def _dialogues(self) -> Generator[Dialogue, None, None]:
        with ExitStack() as stack:
            if self._rejects is not None:
                self._rejected = stack.enter_context(replacing(os.fspath(self._rejects)))
            for document in stack.enter_context(closing(documents(self._paths))):
                reader = self._reader_of(document)
                if reader is None:
                    continue
                self.counts.files += 1
                self.counts.formats[reader.name] = self.counts.formats.get(reader.name, 0) + 1
                with closing(_read(reader, document, self._options)) as records:
                    for found in records:
                        dialogue = self._accepted(document, found)
                        if dialogue is not None:
                            yield dialogue
            if not self.counts.files:
                raise InvalidFile(", ".join(self._paths), "no transcript in a known format.", hint=_known())

    def _reader_of(self, document: Document) -> Reader | None:
        """The reader for a document; None (counted) for a file of a folder or archive that is no transcript.

        A table whose columns a person has mapped need not be recognised.
        """
        alone = document.member is None and str(document.path) in self._paths
        if self._reader is not None and alone:
            return self._reader
        try:
            start = head(document)
        except InvalidFile as problem:
            self._reject(InvalidRecord(problem.path, problem.problem))
            return None
        for reader in [self._reader] if self._reader else FORMATS.values():
            if reader.sniff(start):
                return reader
        if self._options.columns and _TABLE(document.name):
            return self._reader or FORMATS["csv"]
        if alone:
            raise InvalidFile(document.name, "in no format that can be told by looking.", hint=_known())
        self.counts.ignored.append(document.name)
        return None

    def _accepted(self, document: Document, found: Dialogue | InvalidRecord) -> Dialogue | None:
        if isinstance(found, InvalidRecord):
            self._reject(found)
            return None
        if found.id in self._ids:
            hint = "Ids are unique in a corpus: read one copy, or give each dialogue its own id."
            problem = f"the dialogue id '{found.id}' was already read."
            self._reject(InvalidRecord(document.name, problem, place=f"dialogue {found.id}", field="id", hint=hint))
            return None
        self._ids.add(found.id)
        spoken = tuple(u for u in found.utterances if u.text.strip())
        self.counts.blank += len(found.utterances) - len(spoken)
        if not spoken:
            self.counts.empty += 1
            self._note(InvalidRecord(document.name, "no utterance with text.", place=f"dialogue {found.id}"))
            return None
        dialogue = found if len(spoken) == len(found.utterances) else replace(found, utterances=spoken)
        if self._options.joined:
            dialogue = dialogue.joined()
        self.counts.read += 1
        self.counts.utterances += len(dialogue)
        return dialogue

    def _reject(self, problem: InvalidRecord) -> None:
        if self._on_error == "raise":
            raise problem.with_traceback(None)  # its frames would keep the reader's files open
        self.counts.skipped += 1
        self._note(problem)

    def _note(self, problem: InvalidRecord) -> None:
        """One line in the file of rejects: file, place, field, problem and an excerpt of what was found."""
        if self._rejected is not None:
            line = {key: getattr(problem, key) for key in ("path", "place", "field", "problem", "raw")}
            line["file"] = line.pop("path")
            self._rejected.write(json.dumps(line, ensure_ascii=False, sort_keys=True).encode() + b"\n")


def open_corpus(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    format: str | Reader = "auto",  # noqa: A002 (the word that `--format` uses)
    options: ReadOptions | None = None,
    *,
    on_error: OnError = "raise",
    rejects: str | os.PathLike[str] | None = None,
) -> Corpus:
    """The dialogues of files, folders, globs and archives, one at a time, in order of file name.

    `format` is a name of `FORMATS`, "auto" to tell each file's format by its content, or a reader of your own. The
    first record that cannot be read raises `InvalidRecord`; with `on_error="skip"` it is counted and, where `rejects`
    names a file, written there as a JSON line {file, place, field, problem, raw}. Raises `UnknownName` for an unknown
    format and `InvalidFile` for a path that holds nothing to read.
    """
    if on_error not in ("raise", "skip"):
        raise UsageError(f"on_error is '{on_error}'.", hint="Valid: raise, skip.")
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    reader = format if isinstance(format, Reader) else None if format == "auto" else reader_named(format)
    return Corpus([os.path.normpath(p) for p in listed], reader, options or ReadOptions(), on_error, rejects)


def _read(reader: Reader, document: Document, options: ReadOptions) -> Generator[Dialogue | InvalidRecord, None, None]:
    """What a reader gives, a damaged file turned into an `InvalidRecord`."""
    try:
        yield from reader.read(document, options)
    except InvalidRecord as problem:
        yield problem
    except InvalidFile as problem:
        yield InvalidRecord(problem.path, problem.problem, place=problem.place, hint=problem.hint)
    except BROKEN_STREAM as error:
        yield InvalidRecord(document.name, f"cannot be read further ({error}).")


def _known() -> str:
    return f"Say which format it is: {', '.join(FORMATS)}."
