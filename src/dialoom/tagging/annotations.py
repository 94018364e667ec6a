"""Tags that the transcripts carry already: dialogue acts, intents, tool calls and their outcomes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.tagging.tools import tool_tags

UNTAGGED = "other"
"""The tag of an utterance about which nothing is known."""

ACT = ("domain", "act", "slot")
"""What of a dialogue act makes its tag; values are left out, as they would make every booking a tag of its own."""


class AnnotationTagger:
    """Tags from `Utterance.annotations` (DFA-RAG sec. 3.2.1 without a model).

    `keys` are read in order and hold lists of names, or of acts with `domain`, `act` and `slot`. Names become
    lower-case words: `Restaurant-Inform` is `restaurant inform`. An utterance without any is tagged `other`, so that
    every round has a symbol; a tool round is tagged by its name and outcome. `actions` are never read.
    """

    def __init__(self, keys: Sequence[str] = ("acts", "intents")) -> None:
        self.keys = tuple(keys)

    def tag(self, dialogue: Dialogue) -> Dialogue:
        """The dialogue with tags from its annotations."""
        return replace(dialogue, utterances=tuple(self._tagged(utterance) for utterance in dialogue.utterances))

    def tag_all(self, dialogues: Iterable[Dialogue]) -> Iterator[Dialogue]:
        """`tag` for a stream."""
        return map(self.tag, dialogues)

    def _tagged(self, utterance: Utterance) -> Utterance:
        if utterance.role is Role.TOOL:
            return utterance.tagged(tool_tags(utterance))
        names = (name for key in self.keys for name in _names(utterance.annotations.get(key)))
        return utterance.tagged(tuple(dict.fromkeys(filter(None, map(_words, names)))) or (UNTAGGED,))


def _names(value: Any) -> list[str]:
    match value:
        case None:
            return []
        case str():
            return [value]
        case list() | tuple():
            return [name for each in value for name in _names(each)]
        case Mapping():
            return [" ".join(str(value[key]) for key in ACT if value.get(key))]
        case _:
            return [str(value)]


def _words(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return " ".join(re.findall(r"[^\W_]+", spaced)).lower()
