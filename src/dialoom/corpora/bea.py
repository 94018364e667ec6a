"""BEA-2023 shared task (Tack et al. 2023): excerpts of the Teacher-Student Chatroom Corpus with the reply to give."""

from __future__ import annotations

from collections.abc import Iterator

from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_items, json_lines, parsed
from dialoom.corpora.roles import role_of
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord


class BeaReader:
    """{"id", "utterances": [{text, speaker}], "response": {text, speaker}}: the response is the last utterance.

    The teacher is the system and the student the user. `metadata["response"]` says whether a response is given (it is
    not in the test part). JSON lines or one list.
    """

    name = "bea"
    description = "BEA-2023 / TSCC JSON: teacher and student utterances with the teacher's response"

    def sniff(self, head: bytes) -> bool:
        """Utterances with a `speaker` that is a teacher or student."""
        return any(json_head(head, "utterances", "speaker", "text", who) for who in ("teacher", "student"))

    def read(self, document: Document, _options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Dialogues, the response joined to the end."""
        with document.open() as stream:
            listed = stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")

        def parse(record: Record) -> Dialogue:
            turns = [_utterance(turn) for turn in record.each("utterances")]
            response = record.get("response", dict)
            if response is not None:
                turns.append(_utterance(Record(record.file, record.place, response, "response")))
            return Dialogue(record.identity("id"), tuple(turns), {"response": response is not None})

        yield from parsed(json_items(document) if listed else json_lines(document), parse)


def _utterance(turn: Record) -> Utterance:
    speaker = turn.text("speaker")
    role = role_of(speaker)
    if role not in (Role.USER, Role.SYSTEM):
        raise turn.invalid(f"expected teacher or student, found '{speaker}'.", "speaker")
    return Utterance(role, turn.text("text").strip())
