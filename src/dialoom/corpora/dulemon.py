"""DuLeMon (Xu et al. 2022): Chinese chit-chat with the personas of both sides, one dialogue a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialoom.corpora.annotations import present
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_lines, parsed
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord

_PERSONAS = ("bot_persona", "user_said_persona", "user_no_said_persona", "p1_persona", "p2_persona")
_TURN = re.compile(r"(?P<who>[^:：\s]{1,8})\s*[:：]\s*(?P<text>[^\t]*)(?:\t(?P<sources>.*))?", re.DOTALL)


class DulemonReader:
    """Turns `Usr: text` and `Bot: text`; the persona marks after a tab are `annotations["sources"]`.

    In the "self" part, where neither side is a bot, the second speaker is the system. There are no ids: a dialogue is
    `FILE#N`. Metadata: the persona lists as they are.
    """

    name = "dulemon"
    description = "DuLeMon: JSON lines with conversation turns 'Usr: ...' / 'Bot: ...' and persona lists"

    def sniff(self, head: bytes) -> bool:
        """`conversation` with a persona list of either part."""
        return any(json_head(head, "conversation", key) for key in _PERSONAS)

    def read(self, document: Document, _options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Dialogues with an id made from their line."""

        def parse(record: Record) -> Dialogue:
            turns: list[Utterance] = []
            speakers: list[str] = []
            for turn in record.each("conversation"):
                match = _TURN.fullmatch(turn.value) if isinstance(turn.value, str) else None
                if match is None:
                    raise turn.invalid("expected 'Usr: text' or 'Bot: text'.")
                if match["who"] not in speakers:
                    speakers.append(match["who"])
                sources = re.split(r"[,\s]+", match["sources"].strip()) if match["sources"] else []
                role = Role.SYSTEM if _is_system(match["who"], speakers) else Role.USER
                turns.append(Utterance(role, match["text"].strip(), annotations=present(sources=sources)))
            metadata = present(**{key: record.get(key, list) for key in _PERSONAS})
            return Dialogue(f"{document.label}#{record.place.removeprefix('line ')}", tuple(turns), metadata)

        yield from parsed(json_lines(document), parse)


def _is_system(who: str, speakers: list[str]) -> bool:
    known = {"bot": True, "usr": False, "user": False}
    return known.get(who.lower(), speakers.index(who) == 1)
