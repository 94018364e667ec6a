"""From what a person names (files, folders, globs, archives) to the documents in it, in order of name."""

from __future__ import annotations

import glob
import os
import re
import zipfile
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path, PurePosixPath

from dialoom.corpora.base import Document
from dialoom.corpora.records import BROKEN_STREAM
from dialoom.errors import InvalidFile

MAX_MEMBERS = 1_000_000
HEAD = 64 * 1024
_SUFFIXES = re.compile(r"(\.(jsonl?|ndjson|csv|tsv|txt|parquet|gz))+$", re.IGNORECASE)


def documents(paths: Iterable[str | os.PathLike[str]]) -> Generator[Document, None, None]:
    """Every file under `paths`, sorted by name whatever the order of `paths`, archives read in place.

    Hidden files and `__MACOSX` entries are passed over. Raises `InvalidFile` for a path that does not exist, a glob
    that matches nothing and an archive that cannot be opened.
    """
    found = {file: root for path in paths for file, root in _files(os.fspath(path))}
    for file in sorted(found, key=lambda path: path.as_posix()):
        if zipfile.is_zipfile(file):
            yield from _members(file)
        else:
            yield Document(str(file), file, label=_label(file.relative_to(found[file]).as_posix()))


def head(document: Document) -> bytes:
    """The first 64 KiB of a document, decompressed. Raises `InvalidFile` when it cannot be read."""
    with document.open() as stream:
        try:
            return stream.read(HEAD)
        except BROKEN_STREAM as error:
            raise InvalidFile(document.name, f"cannot be read ({error}).") from error


def _files(path: str) -> Iterator[tuple[Path, Path]]:
    """Files named by one path, each with the root that its label is relative to."""
    start = Path(path)
    if start.is_file():
        yield start, start.parent
    elif start.is_dir():
        for folder, folders, names in os.walk(start):
            folders[:] = [name for name in folders if not name.startswith(".")]
            yield from ((Path(folder, name), start) for name in names if not name.startswith("."))
    elif glob.has_magic(path):
        matches = [Path(match) for match in glob.glob(path, recursive=True)]
        if not matches:
            raise InvalidFile(path, "matches no file.")
        fixed = Path(path).parts
        plain = next(index for index, part in enumerate(fixed) if glob.has_magic(part))
        root = Path(*fixed[:plain]) if plain else Path()
        yield from ((match, root) for match in matches if match.is_file())
    else:
        raise InvalidFile(path, "does not exist.", hint="Name a file, a folder, a .zip, a .gz or a glob.")


def _members(path: Path) -> Iterator[Document]:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise InvalidFile(path, f"not a readable .zip archive ({error}).") from error
    with archive:
        names = sorted(name for name in archive.namelist() if not name.endswith("/"))
        if len(names) > MAX_MEMBERS:
            raise InvalidFile(path, f"holds {len(names)} files, and at most {MAX_MEMBERS} are read.")
        for name in names:
            parts = PurePosixPath(name).parts
            if not any(part.startswith(".") or part == "__MACOSX" for part in parts):
                yield Document(f"{path}!{name}", path, name, _label(name), archive)


def _label(name: str) -> str:
    return _SUFFIXES.sub("", name)
