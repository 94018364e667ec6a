"""KBP (Wang et al. 2023): Chinese exchanges that name the persona and knowledge sentences each reply is grounded in."""

from __future__ import annotations

from collections.abc import Iterator

from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_items, parsed
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord


class KbpReader:
    """Exchanges {U, S, P-K}; the sources used are `annotations["P-K"]` of the system turn, as the file has them.

    There are no ids: a dialogue is `FILE#N`, N counting from 1. Metadata: persona and persona_kg as they are.
    """

    name = "kbp"
    description = "KBP: a list of dialogues with persona, persona_kg and exchanges {U, S, P-K}"

    def sniff(self, head: bytes) -> bool:
        """Dialogues with `persona_kg`."""
        return json_head(head, "persona_kg", "conversation")

    def read(self, document: Document, _options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Dialogues with an id made from their position."""

        def parse(record: Record) -> Dialogue:
            turns: list[Utterance] = []
            for exchange in record.each("conversation"):
                turns.append(Utterance(Role.USER, exchange.text("U")))
                sources = {"P-K": exchange.need("P-K", list)}
                turns.append(Utterance(Role.SYSTEM, exchange.text("S"), annotations=sources))
            metadata = {key: record.need(key, dict) for key in ("persona", "persona_kg")}
            return Dialogue(f"{document.label}#{record.place.removeprefix('item ')}", tuple(turns), metadata)

        yield from parsed(json_items(document), parse)
