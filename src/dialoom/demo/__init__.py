"""The bundled example: transcripts of a made-up outdoor shop's service desk, and two conversations to hold with it.

All of it was written for Dialoom. Names, addresses, numbers and the shop are invented; e-mail addresses are of
reserved domains and telephone numbers of the range kept for fiction.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dialoom.dialogue import Dialogue, Role, Utterance

TRANSCRIPTS = Path(__file__).with_name("transcripts.jsonl")
CONVERSATIONS = Path(__file__).with_name("conversation.json")


def transcripts() -> tuple[Dialogue, ...]:
    """The bundled dialogues. `metadata["workflow"]` and `action` are labels for evaluation, never read in learning."""
    lines = TRANSCRIPTS.read_text(encoding="utf-8").splitlines()
    return tuple(_dialogue(json.loads(line)) for line in lines)


def conversations() -> dict[str, tuple[str, ...]]:
    """What a scripted user says, line by line, under the title of each conversation."""
    loaded = json.loads(CONVERSATIONS.read_text(encoding="utf-8"))
    return {title: tuple(lines) for title, lines in loaded.items()}


def _dialogue(record: dict[str, Any]) -> Dialogue:
    utterances = tuple(
        Utterance(Role(row["role"]), row["text"], action=row.get("action"), annotations=row.get("annotations", {}))
        for row in record["utterances"]
    )
    return Dialogue(record["id"], utterances, record["metadata"])
