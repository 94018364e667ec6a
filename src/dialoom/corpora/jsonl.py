"""Dialoom's own format: one dialogue a line, the values of `dialoom.dialogue` as they are."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import BinaryIO, cast

from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_lines, parsed
from dialoom.dialogue import EMPTY, Dialogue, Role, Utterance, as_json
from dialoom.errors import InvalidRecord
from dialoom.files import replacing

_ROLES = {role.value: role for role in Role}


class JsonlReader:
    """{"id", "utterances": [{"role", "text", "tags", "action", "annotations"}], "metadata"} on each line."""

    name = "dialoom"
    description = "Dialoom JSONL: one dialogue a line (id, utterances with role and text, metadata)"

    def sniff(self, head: bytes) -> bool:
        """A line that starts an object with `utterances` that have a `role`."""
        return json_head(head, "id", "utterances", "role", "text", starts="{")

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Dialogues as they were written."""
        for found in parsed(json_lines(document), dialogue_of):
            if isinstance(found, Dialogue) and not options.tools:
                yield Dialogue(found.id, tuple(u for u in found.utterances if u.role is not Role.TOOL), found.metadata)
            else:
                yield found


def dialogue_of(record: Record) -> Dialogue:
    """A dialogue from its JSON form. Raises `InvalidRecord`."""
    utterances = tuple(_utterance(turn) for turn in record.each("utterances"))
    return Dialogue(record.identity("id"), utterances, record.get("metadata", dict, EMPTY))


def _utterance(turn: Record) -> Utterance:
    role = turn.text("role")
    if role not in _ROLES:
        raise turn.invalid(f"expected user, system or tool, found '{role}'.", "role")
    tags = turn.get("tags", list, [])
    if not all(isinstance(tag, str) for tag in tags):
        raise turn.invalid("expected a list of texts.", "tags")
    action = turn.get("action", str)
    return Utterance(_ROLES[role], turn.text("text"), tuple(tags), action, turn.get("annotations", dict, EMPTY))


def write_jsonl(path: str | os.PathLike[str], dialogues: Iterable[Dialogue]) -> int:
    """Write dialogues one a line, compressed when `path` ends in .gz; returns how many.

    The file appears whole or not at all, and equal dialogues give equal bytes.
    """
    count = 0
    with ExitStack() as stack:
        file: BinaryIO = stack.enter_context(replacing(os.fspath(path)))
        if os.fspath(path).endswith(".gz"):
            packed = gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
            file = cast(BinaryIO, stack.enter_context(packed))
        text = io.TextIOWrapper(file, encoding="utf-8", newline="\n", write_through=True)
        for dialogue in dialogues:
            text.write(json.dumps(as_json(dialogue), ensure_ascii=False) + "\n")
            count += 1
        text.detach()
    return count
