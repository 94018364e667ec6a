"""Folders of text, Markdown, HTML, PDF and Word files as passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, MissingExtra, UsageError
from dialoom.files import MAX_BYTES, read_text
from dialoom.knowledge.base import Passage

_SPACE = re.compile(r"\s+")
_BLOCK_NAMES = (
    "address article aside blockquote br body caption dd details div dl dt fieldset figcaption figure footer form h1 "
    "h2 h3 h4 h5 h6 header hr legend li main nav ol option p pre section summary table title tr ul"
)
_BLOCKS = _BLOCK_NAMES.split()
SUFFIXES = (".txt", ".md", ".markdown", ".html", ".htm", ".pdf", ".docx")


def folder_passages(folder: Path | str, *, size: int = 800, suffixes: Sequence[str] = SUFFIXES) -> Iterator[Passage]:
    """Every document under `folder`, in chunks of at most `size` characters that end where sentences or sections do.

    An id is `relative/path#number`; `origin` is the relative path; `start` and `end` are characters of the document's
    plain text. Markdown chunks carry the headings above them in `metadata["title"]`. Hidden files are skipped.
    Raises `UsageError` for a folder that is not there, `InvalidFile` for a document that cannot be read,
    `MissingExtra` without the extra `documents`.
    """
    root = Path(folder)
    if not root.is_dir():
        raise UsageError(f"There is no folder {root}.", hint="Give the folder that holds the documents.")
    if size < 1:
        raise UsageError(f"A chunk of {size} characters holds nothing.", hint="Use a size of 1 or more.")
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        hidden = any(part.startswith(".") for part in relative.parts)
        if path.is_file() and path.suffix.lower() in suffixes and not hidden:
            yield from _chunks(relative.as_posix(), path, size)


def _chunks(name: str, path: Path, size: int) -> Iterator[Passage]:
    text = _READERS[path.suffix.lower()](path)
    markdown = path.suffix.lower() in {".md", ".markdown"}
    pieces = list(_splitter(markdown, size).chunk_indices(text))
    titles = _titles(text) if markdown else []
    for number, (start, piece) in enumerate(pieces):
        above = _title_at(titles, start) if titles else path.stem.replace("_", " ").replace("-", " ")
        metadata = {"title": above} if above else {}
        yield Passage(f"{name}#{number}", piece, origin=name, start=start, end=start + len(piece), metadata=metadata)


def _splitter(markdown: bool, size: int) -> Any:
    try:
        from semantic_text_splitter import MarkdownSplitter, TextSplitter
    except ImportError:
        raise MissingExtra("Splitting documents", "documents") from None
    return MarkdownSplitter(size) if markdown else TextSplitter(size)


def _titles(text: str) -> list[tuple[int, int, str]]:
    """(offset, level, heading) of every Markdown heading."""
    found = []
    offset = 0
    for line in text.splitlines(keepends=True):
        marks = len(line) - len(line.lstrip("#"))
        if 1 <= marks <= 6 and line[marks : marks + 1] == " ":
            found.append((offset, marks, line[marks:].strip()))
        offset += len(line)
    return found


def _title_at(titles: Sequence[tuple[int, int, str]], start: int) -> str:
    open_: list[tuple[int, str]] = []
    for offset, level, heading in titles:
        if offset > start:
            break
        open_ = [(above, title) for above, title in open_ if above < level]
        open_.append((level, heading))
    return " / ".join(title for _, title in open_)


def _read_html(path: Path) -> str:
    try:
        from bs4 import BeautifulSoup
        from bs4.element import NavigableString
    except ImportError:
        raise MissingExtra("Reading HTML", "documents") from None
    soup = BeautifulSoup(read_text(path), "html.parser")
    for unread in soup(["script", "style", "noscript", "template"]):
        unread.decompose()
    for text in soup.find_all(string=True):
        if type(text) is NavigableString and text.find_parent("pre") is None:
            text.replace_with(" ".join(_SPACE.split(text)))
    for block in soup(_BLOCKS):  # what may stand inside a sentence leaves it on one line
        block.insert_before("\n")
        block.append("\n")
    for cell in soup(["td", "th"]):
        cell.append("\t")
    lines = (line.strip() for line in soup.get_text().splitlines())
    return "\n".join(line for line in lines if line)


def _read_pdf(path: Path) -> str:
    try:
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError:
        raise MissingExtra("Reading PDF", "documents") from None
    _bounded(path)
    try:
        return "\n\n".join(page.extract_text() for page in PdfReader(path).pages)
    except (PyPdfError, DependencyError, ValueError, KeyError, OSError) as error:
        raise InvalidFile(path, f"not a readable PDF ({error}).") from error


def _read_docx(path: Path) -> str:
    try:
        from docx import Document
        from docx.opc.exceptions import PackageNotFoundError
    except ImportError:
        raise MissingExtra("Reading Word documents", "documents") from None
    _bounded(path)
    try:
        document = Document(str(path))
    except (PackageNotFoundError, KeyError, ValueError, OSError) as error:
        raise InvalidFile(path, "not a readable Word document.") from error
    lines = [paragraph.text for paragraph in document.paragraphs]
    lines += ["\t".join(cell.text for cell in row.cells) for table in document.tables for row in table.rows]
    return "\n".join(line for line in lines if line.strip())


def _bounded(path: Path) -> None:
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise InvalidFile(path, f"{size} bytes, and at most {MAX_BYTES} are read.")


_READERS: Mapping[str, Callable[[Path], str]] = {
    ".txt": read_text,
    ".md": read_text,
    ".markdown": read_text,
    ".html": _read_html,
    ".htm": _read_html,
    ".pdf": _read_pdf,
    ".docx": _read_docx,
}
