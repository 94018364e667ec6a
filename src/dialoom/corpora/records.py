"""Records out of a stream: JSON lists, objects and lines, one at a time, with errors that name place and field."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dialoom.corpora.base import Document
from dialoom.dialogue import Dialogue
from dialoom.errors import InvalidFile, InvalidRecord

CHUNK = 1024 * 1024
MAX_RECORD = 64 * 1024 * 1024
"""Characters of one dialogue; a larger one is not a transcript."""
EXCERPT = 200
_DECODER = json.JSONDecoder()
_BLANK = " \t\r\n\ufeff"
_ENDS = tuple(",]} \t\r\n")
_KINDS = {dict: "an object", list: "a list", str: "text", int: "a whole number", bool: "true or false"}
BROKEN_STREAM = (OSError, EOFError, zlib.error, zipfile.BadZipFile, UnicodeDecodeError)
"""What a damaged file raises while it is read."""


@dataclass(frozen=True, slots=True)
class Record:
    """One value of a document with its place, so that every complaint can say where."""

    file: str
    place: str
    value: Any
    at: str = ""

    def invalid(self, problem: str, field: str = "", *, hint: str = "") -> InvalidRecord:
        """An `InvalidRecord` about `field` of this record."""
        where = ".".join(part for part in (self.at, field) if part)
        raw = json.dumps(self.value, ensure_ascii=False, default=str)[:EXCERPT]
        return InvalidRecord(self.file, problem, place=self.place, field=where, raw=raw, hint=hint)

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """The field `key`, of type `kind`; `default` when it is absent or null."""
        value = self.object().get(key)
        if value is None:
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.invalid(f"expected {_KINDS[kind]}, found {json.dumps(value, default=str)[:60]}.", key)
        return value

    def need(self, key: str, kind: type) -> Any:
        """The field `key`, of type `kind`, which must be there."""
        value = self.get(key, kind)
        if value is None:
            raise self.invalid(f"expected {_KINDS[kind]}, found nothing.", key)
        return value

    def text(self, key: str) -> str:
        """A field that must be text."""
        return str(self.need(key, str))

    def identity(self, key: str) -> str:
        """A field that identifies: text or a whole number, as text."""
        value = self.object().get(key)
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise self.invalid(f"expected an id (text or a whole number), found {json.dumps(value)[:60]}.", key)
        return str(value)

    def each(self, key: str) -> Iterator[Record]:
        """The elements of the list `key`, which must be there."""
        for index, value in enumerate(self.need(key, list)):
            yield Record(self.file, self.place, value, f"{self.at}.{key}[{index}]" if self.at else f"{key}[{index}]")

    def object(self) -> Mapping[str, Any]:
        """The value, which must be an object."""
        if not isinstance(self.value, dict):
            raise self.invalid(f"expected an object, found {json.dumps(self.value, default=str)[:60]}.")
        return self.value


def json_head(head: bytes, *keys: str, starts: str = "{[") -> bool:
    """Whether the beginning of a file is JSON with all these keys."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1].decode("latin-1")
    return bool(start) and start in starts and all(f'"{key}"'.encode() in head for key in keys)


def parsed(
    records: Iterator[Record | InvalidRecord], parse: Callable[[Record], Dialogue]
) -> Iterator[Dialogue | InvalidRecord]:
    """`parse` over records; what it raises as `InvalidRecord` is yielded and the next record is read."""
    for record in records:
        if isinstance(record, InvalidRecord):
            yield record
            continue
        try:
            yield parse(record)
        except InvalidRecord as problem:
            yield problem


def json_lines(document: Document) -> Iterator[Record | InvalidRecord]:
    """One JSON value a line; blank lines are passed over and a broken line is an `InvalidRecord`."""
    try:
        with document.open() as stream:
            for number, line in enumerate(iter(lambda: stream.readline(MAX_RECORD + 1), b""), 1):
                if len(line) > MAX_RECORD:
                    raise InvalidFile(document.name, f"a line of more than {MAX_RECORD} bytes.", place=f"line {number}")
                if line.strip():
                    yield _line(document, number, line)
    except BROKEN_STREAM as error:
        yield InvalidRecord(document.name, f"cannot be read further ({error}).")


def _line(document: Document, number: int, line: bytes) -> Record | InvalidRecord:
    place = f"line {number}"
    try:
        return Record(document.name, place, json.loads(line.decode("utf-8-sig")))
    except (ValueError, RecursionError) as error:
        raw = line[:EXCERPT].decode("utf-8", "replace").rstrip()
        return InvalidRecord(document.name, f"expected one JSON value a line ({error}).", place=place, raw=raw)


def json_items(document: Document) -> Iterator[Record | InvalidRecord]:
    """The elements of a JSON list, or the members of a JSON object, without holding the whole file.

    Places are `item N` (from 1) for a list and `key 'K'` for an object. Broken JSON is one `InvalidRecord`, after
    which nothing more of the file can be read.
    """
    try:
        with document.open() as stream, io.TextIOWrapper(stream, encoding="utf-8-sig") as text:
            yield from _Items(document.name, text).items()
    except BROKEN_STREAM as error:
        yield InvalidRecord(document.name, f"cannot be read further ({error}).")


class _Items:
    """A pull parser of one level: it keeps a window of text and asks the JSON decoder for one value at a time."""

    def __init__(self, name: str, text: io.TextIOWrapper) -> None:
        self._name, self._text = name, text
        self._window, self._at, self._ended = "", 0, False

    def items(self) -> Iterator[Record | InvalidRecord]:
        opening = self._next()
        if opening not in "[{" or not opening:
            yield InvalidRecord(self._name, "expected a JSON list or object.", raw=self._excerpt())
            return
        closing = "]" if opening == "[" else "}"
        self._at += 1
        count, place = 0, "the beginning"
        try:
            while self._next() != closing:
                if count:
                    self._expect(",", place)
                key = None
                if opening == "{":
                    key = self._value(f"the key after {place}")
                    self._expect(":", f"key {key!r}")
                count += 1
                place = f"item {count}" if key is None else f"key '{key}'"
                yield Record(self._name, place, self._value(place))
        except InvalidRecord as problem:
            yield problem

    def _next(self) -> str:
        """The next character that is not blank, left in place; "" at the end."""
        while True:
            while self._at < len(self._window) and self._window[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._window):
                return self._window[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Reads on: as much again as the window holds, so that a long value costs linear time."""
        if self._ended or len(self._window) - self._at > MAX_RECORD:
            return False
        piece = self._text.read(max(CHUNK, len(self._window) - self._at))
        self._ended = not piece
        self._window, self._at = self._window[self._at :] + piece, 0
        return bool(piece)

    def _expect(self, mark: str, place: str) -> None:
        if self._next() != mark:
            problem = f"expected '{mark}' after it; the rest of the file is not read."
            raise InvalidRecord(self._name, problem, place=place, raw=self._excerpt())
        self._at += 1

    def _value(self, place: str) -> Any:
        self._next()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._window, self._at)
            except RecursionError:
                raise InvalidRecord(self._name, "nested too deeply.", place=place, raw=self._excerpt()) from None
            except ValueError as error:
                if self._more():
                    continue
                problem = f"not JSON ({error}); the rest of the file is not read."
                raise InvalidRecord(self._name, problem, place=place, raw=self._excerpt()) from error
            if isinstance(value, int | float) and self._window[end : end + 1] not in _ENDS and self._more():
                continue  # a number may go on in the next chunk
            self._at = end
            return value

    def _excerpt(self) -> str:
        return self._window[self._at : self._at + EXCERPT]
