"""Tagged dialogues as the symbols automata see: the one place where text becomes symbols."""

from __future__ import annotations

import re

from dialoom.automata.symbols import Round, TagSequence
from dialoom.dialogue import Dialogue, Utterance

WORD = re.compile(r"<\w+>|[^\W_]+(?:'[^\W_]+)*")


def sequence(dialogue: Dialogue) -> TagSequence:
    """One round per utterance, in order, so that a round's number is the utterance's index."""
    return TagSequence(dialogue.id, tuple(round_of(utterance) for utterance in dialogue.utterances))


def round_of(utterance: Utterance) -> Round:
    """An utterance as symbols: its role, its tags and its distinct lower-case words in order of appearance."""
    words = dict.fromkeys(match.group() for match in WORD.finditer(utterance.text.casefold()))
    return Round(utterance.role.value, utterance.tags, tuple(words))
