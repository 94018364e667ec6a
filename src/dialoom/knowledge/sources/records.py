"""Records, database rows and past dialogues as passages."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from dialoom.dialogue import Dialogue, Role
from dialoom.errors import InvalidFile, InvalidRecord, UnknownName, UsageError
from dialoom.files import read_text
from dialoom.knowledge.base import Passage


def record_passages(
    path: Path | str,
    *,
    key: str,
    text: Sequence[str] = (),
    parents: str = "",
    owner: str = "",
) -> Iterator[Passage]:
    """Each record of a .jsonl or .csv file as one passage.

    `key`, `parents` and `owner` name the fields that hold a record's id, the ids it hangs from (a list, or joined by
    `;`) and the user it belongs to; empty means none, and everyone. The text is the fields in `text`, or all others, as
    `field: value` lines; one field alone stands without its name. Every field is kept in `metadata`. Raises
    `InvalidRecord` naming the line, also where a named field is missing: a misspelt owner must not make what is one
    user's everyone's.
    """
    source = Path(path)
    for line, record in _records(source):
        place = f"line {line}"
        missing = [field for field in (key, *text, *filter(None, (parents, owner))) if field not in record]
        if missing:
            fields = ", ".join(sorted(record))
            raise InvalidRecord(source, f"the field '{missing[0]}' is missing; it has {fields}.", place=place)
        yield _passage(record, key, text, parents, owner, f"{source.name}:{line}")


def table_passages(
    connection: sqlite3.Connection,
    query: str,
    *,
    key: str,
    text: Sequence[str] = (),
    parents: str = "",
    owner: str = "",
) -> Iterator[Passage]:
    """Each row of a SQL query as one passage; the columns are used as `record_passages` uses fields.

    Any DB-API connection with `execute` will do; `query` is the application's own, never a user's. Raises
    `UsageError` when the database refuses it, `UnknownName` for a column it does not give.
    """
    try:
        cursor = connection.execute(query)
        names = [column[0] for column in cursor.description or ()]
    except Exception as error:  # every database's driver has its own errors
        raise UsageError(f"The database refused the query: {error}.", hint="Mend the SQL of this source.") from error
    for field in (key, *text, *filter(None, (parents, owner))):
        if field not in names:
            raise UnknownName("column", field, names)
    for number, row in enumerate(cursor, start=1):
        yield _passage(dict(zip(names, row, strict=True)), key, text, parents, owner, f"row {number}")


def dialogue_passages(dialogues: Iterable[Dialogue]) -> Iterator[Passage]:
    """Each system turn of past dialogues, with the user turn it answers, as one passage.

    The id is `dialogue#turn`; `metadata` holds both texts apart.
    """
    for dialogue in dialogues:
        for number, utterance in enumerate(dialogue.utterances):
            if utterance.role is Role.SYSTEM:
                yield turn_passage(dialogue, number)


def turn_passage(dialogue: Dialogue, number: int) -> Passage:
    """The system turn at index `number` of a past dialogue, after the user turn it answers."""
    said = dialogue.utterances[number].text
    before = reversed(dialogue.utterances[:number])
    asked = next((utterance.text for utterance in before if utterance.role is Role.USER), "")
    text = f"{asked}\n{said}" if asked else said
    return Passage(f"{dialogue.id}#{number}", text, origin=dialogue.id, metadata={"user": asked, "system": said})


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        reader = csv.DictReader(read_text(path).splitlines(keepends=True))
        for row in reader:
            if None in row or None in row.values():
                raise InvalidRecord(
                    path, "its number of values is not that of the header.", place=f"line {reader.line_num}"
                )
            yield reader.line_num, row
    elif suffix in {".jsonl", ".ndjson"}:
        for number, line in enumerate(read_text(path).split("\n"), start=1):
            if line.strip():
                try:
                    record = json.loads(line)
                except ValueError as error:
                    raise InvalidRecord(path, f"not JSON ({error}).", place=f"line {number}") from error
                if not isinstance(record, dict):
                    raise InvalidRecord(path, "not a JSON object.", place=f"line {number}")
                yield number, record
    else:
        raise InvalidFile(path, f"records are read from .jsonl and .csv, not from '{suffix}'.")


def _passage(
    record: Mapping[str, Any], id_: str, text: Sequence[str], parents: str, owner: str, origin: str
) -> Passage:
    linked = record.get(parents) or () if parents else ()
    if isinstance(linked, str):
        linked = [part.strip() for part in linked.split(";") if part.strip()]
    shown = text or [field for field in record if field not in {id_, parents, owner}]
    lines = (
        [_plain(record[shown[0]])]
        if len(shown) == 1
        else [f"{f}: {_plain(record[f])}" for f in shown if record[f] not in (None, "")]
    )
    return Passage(
        id=_plain(record[id_]),
        text="\n".join(lines),
        parents=tuple(_plain(parent) for parent in linked),
        owner=_plain(record.get(owner) or "") if owner else "",
        origin=origin,
        metadata={field: _plain(value) for field, value in record.items()},
    )


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
