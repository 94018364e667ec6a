"""Transcripts in tables: CSV and Parquet, one utterance a row, columns recognised by name or mapped by a person."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO

from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.documents import head as head_of
from dialoom.corpora.records import Record
from dialoom.corpora.roles import ROLES, role_of
from dialoom.corpora.rows import csv_rows, gathered, header_of
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidFile, InvalidRecord, MissingExtra, UnknownName

NAMES: Mapping[str, tuple[str, ...]] = {
    "conversation": ("conversation", "conversation_id", "dialogue_id", "dialog_id", "session_id", "chat_id",
                     "thread_id", "ticket_id", "case_id", "call_id", "dialogue", "session"),
    "role": ("role", "speaker", "sender", "author_role", "sender_type", "speaker_role", "direction", "author", "from",
             "participant", "inbound"),
    "text": ("text", "utterance", "message", "content", "body", "message_text"),
    "timestamp": ("timestamp", "created_on", "created_at", "time", "date", "datetime", "sent_at", "send_time"),
    "tags": ("tags", "tag"),
    "action": ("action", "action_label"),
}  # fmt: skip
"""Column names recognised without a mapping, compared in lower case with spaces, dashes and camel case as `_`."""
KORE = {"sender_id", "other_party_id", "direction", "message"}
"""The columns by which a Kore.ai message export is recognised: its conversations are told by the user's id."""
_TIMES = ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y, %I:%M:%S %p", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %H:%M", "%d %b %Y %H:%M:%S")
_INBOUND = {**ROLES, "true": Role.USER, "false": Role.SYSTEM}


class CsvReader:
    """One utterance a row; rows of a conversation may lie anywhere in the file and are put in order of time.

    Needed: conversation, role and text; timestamp, tags (JSON list or separated by | or ;) and action are optional.
    """

    name = "csv"
    description = "CSV/TSV, one utterance a row: conversation, role, text, optional timestamp, tags, action"

    def sniff(self, head: bytes) -> bool:
        """A header in which the needed columns are recognised."""
        return b"\x00" not in head and _recognised(header_of(head).columns)

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Conversations, each as soon as its last row was read."""
        header = header_of(head_of(document))
        yield from _read(document, header.columns, lambda: csv_rows(document, header), options)


class ParquetReader:
    """The same table in Parquet; needs the extra `parquet`."""

    name = "parquet"
    description = "Parquet, one utterance a row (the columns of csv)"

    def sniff(self, head: bytes) -> bool:
        """Parquet's first four bytes."""
        return head.startswith(b"PAR1")

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Conversations, each as soon as its last row was read. Raises `MissingExtra` without pyarrow."""
        try:
            from pyarrow import ArrowInvalid, parquet
        except ImportError as error:
            raise MissingExtra("Reading Parquet transcripts", "parquet") from error

        def rows() -> Iterator[Record]:
            number = 0
            with document.open() as stream:
                for batch in parquet.ParquetFile(_seekable(stream)).iter_batches(batch_size=4096):
                    for value in batch.to_pylist():
                        number += 1
                        yield Record(document.name, f"row {number}", value)

        try:
            with document.open() as stream:
                columns = tuple(parquet.ParquetFile(_seekable(stream)).schema_arrow.names)
            yield from _read(document, columns, rows, options)
        except ArrowInvalid as error:
            raise InvalidFile(document.name, f"not a Parquet file ({error}).") from error


def _seekable(stream: BinaryIO) -> BinaryIO:
    """Parquet is read from its end; a member of an archive is therefore held in memory."""
    return stream if stream.seekable() else io.BytesIO(stream.read())


def columns_of(columns: tuple[str, ...], given: Mapping[str, str]) -> dict[str, str]:
    """Which column tells what: as a person said, else as recognised. Raises `UnknownName` for a wrong mapping."""
    for wanted, column in given.items():
        if wanted not in NAMES:
            raise UnknownName("column meaning", wanted, NAMES)
        if column and column not in columns:
            raise UnknownName("column", column, columns)
    plain = {_plain(column): column for column in reversed(columns)}
    found = {want: plain[name] for want, names in NAMES.items() for name in reversed(names) if name in plain}
    return {want: column for want, column in {**found, **given}.items() if column}


def _recognised(columns: tuple[str, ...]) -> bool:
    found = columns_of(columns, {})
    return {"role", "text"} <= found.keys() and ("conversation" in found or {_plain(c) for c in columns} >= KORE)


def _plain(column: str) -> str:
    spaced = "".join(f"_{c}" if c.isupper() and i and column[i - 1].islower() else c for i, c in enumerate(column))
    return "_".join(spaced.lower().replace("-", " ").replace("_", " ").split())


def _read(
    document: Document,
    columns: tuple[str, ...],
    rows: Callable[[], Iterator[Record | InvalidRecord]],
    options: ReadOptions,
) -> Iterator[Dialogue | InvalidRecord]:
    found = columns_of(columns, options.columns)
    kore = "conversation" not in found and {_plain(column) for column in columns} >= KORE
    missing = [want for want in ("conversation", "role", "text") if want not in found]
    if missing and not (kore and missing == ["conversation"]):
        listed = ", ".join(columns)
        raise InvalidFile(
            document.name,
            f"no column is recognised as {' or '.join(missing)}; the columns are: {listed}.",
            hint="Map them, for example conversation=ticket, role=who, text=line.",
        )
    key = _kore_user({_plain(column): column for column in columns}) if kore else _identity(found["conversation"])
    for group in gathered(rows, key):
        if isinstance(group, InvalidRecord):
            yield group
            continue
        try:
            yield _dialogue(*group, found, options)
        except InvalidRecord as problem:
            yield problem


def _identity(column: str) -> Callable[[Record], str]:
    return lambda row: row.identity(column)


def _kore_user(plain: Mapping[str, str]) -> Callable[[Record], str]:
    """Kore.ai exports name both parties: the user sends what comes in and receives what goes out."""

    def user(row: Record) -> str:
        role = _role(row, plain["direction"], {})
        return row.identity(plain["sender_id"] if role is Role.USER else plain["other_party_id"])

    return user


def _dialogue(name: str, rows: list[Record], found: Mapping[str, str], options: ReadOptions) -> Dialogue:
    if "timestamp" in found:
        rows = sorted(rows, key=lambda row: _time(row, found["timestamp"]))  # stable: equal times keep file order
    utterances = [_utterance(row, found, options) for row in rows]
    kept = (u for u in utterances if options.tools or u.role is not Role.TOOL)
    return Dialogue(name, tuple(kept))


def _utterance(row: Record, found: Mapping[str, str], options: ReadOptions) -> Utterance:
    text = row.get(found["text"], str, "").strip()
    action = str(row.value.get(found.get("action", "")) or "").strip()
    return Utterance(_role(row, found["role"], options.roles), text, _tags(row, found.get("tags")), action or None)


def _role(row: Record, column: str, given: Mapping[str, str]) -> Role:
    said = str(row.value.get(column))
    role = role_of(said, given) or (_INBOUND.get(said.strip().lower()) if _plain(column) == "inbound" else None)
    if role is None:
        hint = f"Say who speaks, for example roles={{'{said[:20]}': 'system'}}."
        raise row.invalid(f"expected a speaker such as user, agent or tool, found '{said[:40]}'.", column, hint=hint)
    return role


def _tags(row: Record, column: str | None) -> tuple[str, ...]:
    value: Any = row.value.get(column) if column else None
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise row.invalid(f"expected a JSON list ({error}).", str(column)) from None
    if isinstance(value, str):
        value = value.replace(";", "|").split("|")
    return tuple(str(tag).strip() for tag in value or () if str(tag).strip())


def _time(row: Record, column: str) -> float:
    """Seconds since 1970 (UTC where no zone is said); a number stands for itself."""
    value = row.value.get(column)
    if isinstance(value, datetime):
        return _seconds(value)
    text = str(value).strip()
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return _seconds(datetime.fromisoformat(text))
    except ValueError:
        pass
    for form in _TIMES:
        try:
            return _seconds(datetime.strptime(text, form))
        except ValueError:
            continue
    hint = "Map timestamp to nothing (timestamp=) to keep the order of the file."
    raise row.invalid(f"expected a time such as 2024-05-31T17:04:00, found '{text[:40]}'.", column, hint=hint)


def _seconds(time: datetime) -> float:
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
