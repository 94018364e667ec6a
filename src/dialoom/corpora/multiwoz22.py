"""MultiWOZ 2.2 (Zang et al. 2020): the frames of SGD, with turn ids and acts in a file of their own."""

from __future__ import annotations

from collections.abc import Iterator

from dialoom.corpora.annotations import present
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.multiwoz import acts_beside, woz_acts
from dialoom.corpora.records import Record, json_items, parsed
from dialoom.corpora.sgd import framed, framed_turn
from dialoom.dialogue import Dialogue, Utterance
from dialoom.errors import InvalidRecord


class MultiWoz22Reader:
    """Turns with slots and active intents; acts from `dialog_acts.json` beside the file or one folder up.

    The original 2.2 layout keeps acts in one file for all splits; where it is absent, acts are absent.
    """

    name = "multiwoz22"
    description = "MultiWOZ 2.2: SPLIT/dialogues_NNN.json with frames and turn ids"

    def sniff(self, head: bytes) -> bool:
        """Frames and `turn_id`."""
        return framed(head) and b'"turn_id"' in head

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Dialogues of one file of a split."""
        acts = acts_beside(document, "dialog_acts.json", "../dialog_acts.json")

        def parse(record: Record) -> Dialogue:
            name = record.identity("dialogue_id")
            said = acts.get(name.removesuffix(".json"), {})
            turns: list[Utterance] = []
            for turn in record.each("turns"):
                labelled = said.get(turn.identity("turn_id"), {})
                turns += framed_turn(turn, options, woz_acts(labelled.get("dialog_act")))
            metadata = present(split=document.folder, services=record.get("services", list))
            return Dialogue(name.removesuffix(".json"), tuple(turns), metadata)

        yield from parsed(json_items(document), parse)
