"""The bundled example: transcripts of a made-up outdoor shop's service desk, and two conversations to hold with it.

All of it was written for Dialoom. Names, addresses, numbers and the shop are invented; e-mail addresses are of
reserved domains and telephone numbers of the range kept for fiction.
"""

from __future__ import annotations

import json
from pathlib import Path

from dialoom.corpora import open_corpus
from dialoom.dialogue import Dialogue

TRANSCRIPTS = Path(__file__).with_name("transcripts.jsonl")
CONVERSATIONS = Path(__file__).with_name("conversation.json")


def transcripts() -> tuple[Dialogue, ...]:
    """The bundled dialogues. `metadata["workflow"]` and `action` are labels for evaluation, never read in learning."""
    return tuple(open_corpus(TRANSCRIPTS, "dialoom"))


def conversations() -> dict[str, tuple[str, ...]]:
    """What a scripted user says, line by line, under the title of each conversation."""
    loaded = json.loads(CONVERSATIONS.read_text(encoding="utf-8"))
    return {title: tuple(lines) for title, lines in loaded.items()}
