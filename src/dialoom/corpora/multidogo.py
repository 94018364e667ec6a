"""MultiDoGO (Peskov et al. 2019): tab-separated turns of customers, with intents and slot labels."""

from __future__ import annotations

from collections.abc import Iterator

from dialoom.corpora.annotations import present
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.documents import head as head_of
from dialoom.corpora.records import Record
from dialoom.corpora.roles import role_of
from dialoom.corpora.rows import csv_rows, gathered, header_of
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord

_COLUMNS = {"conversationId", "turnNumber", "utteranceId", "utterance"}
_PERSONAL = {"name": "name", "email_address": "email", "phone_number": "phone", "address": "address", "ssn": "ssn",
             "card_number": "card", "account_number": "account", "target_account_number": "account",
             "booking_confirmation_number": "order"}  # fmt: skip


class MultiDogoReader:
    """The annotated splits hold only what customers say; the unannotated files also tell `authorRole`.

    Intents and slots are annotations; a cell of several intents is split. Where a cell has as many slot labels as the
    text has words, runs of one label are a value; else the labels are kept as `slot_labels` (416 cells of six files
    do not agree). The id is the conversation's; metadata: split and domain, the file and folder names.
    """

    name = "multidogo"
    description = "MultiDoGO: tab-separated turns with conversationId, utteranceId, intent, slot-labels"

    def sniff(self, head: bytes) -> bool:
        """The columns of either kind of file."""
        header = header_of(head)
        return header.delimiter == "\t" and set(header.columns) >= _COLUMNS

    def read(self, document: Document, _options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Conversations, turns by number."""
        header = header_of(head_of(document))
        missing = sorted(_COLUMNS - set(header.columns))
        if missing:
            yield InvalidRecord(document.name, f"expected MultiDoGO's columns; missing: {', '.join(missing)}.")
            return
        metadata = present(split=document.label.rpartition("/")[2], domain=document.folder)
        for group in gathered(lambda: csv_rows(document, header), lambda row: row.identity("conversationId")):
            if isinstance(group, InvalidRecord):
                yield group
                continue
            name, rows = group
            try:
                turns = tuple(_utterance(row) for row in sorted(rows, key=_turn))
            except InvalidRecord as problem:
                yield problem
                continue
            yield Dialogue(name, turns, metadata)


def _turn(row: Record) -> tuple[float, float]:
    """Turn number, then sentence number where a file is split by sentences."""
    try:
        return float(row.value["turnNumber"]), float(row.value.get("sentenceNumber") or 0)
    except ValueError:
        raise row.invalid(f"expected a number, found '{row.value['turnNumber'][:40]}'.", "turnNumber") from None


def _utterance(row: Record) -> Utterance:
    author = row.value.get("authorRole")
    role = Role.USER if author is None else role_of(author)
    if role is None:
        raise row.invalid(f"expected customer or agent, found '{author}'.", "authorRole")
    text = row.value["utterance"].strip()
    labels = (row.value.get("slot-labels") or "").split()
    intents = [intent for intent in (row.value.get("intent") or "").split("<div>") if intent]
    agree = len(labels) == len(text.split())
    slots = _slots(text.split(), labels) if agree else {}
    personal: dict[str, list[str]] = {}
    for label, values in slots.items():
        if label in _PERSONAL:
            personal.setdefault(_PERSONAL[label], []).extend(values)
    unaligned = [] if agree else labels
    return Utterance(
        role, text, annotations=present(intents=intents, slots=slots, slot_labels=unaligned, personal=personal)
    )


def _slots(words: list[str], labels: list[str]) -> dict[str, list[str]]:
    slots: dict[str, list[str]] = {}
    before = "O"
    for word, label in zip(words, labels, strict=True):
        if label != "O":
            values = slots.setdefault(label, [])
            if label == before:
                values[-1] += f" {word}"
            else:
                values.append(word)
        before = label
    return slots
