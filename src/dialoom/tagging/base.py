"""The tagger port: utterances to tags (DFA-RAG sec. 3.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, runtime_checkable

from dialoom.dialogue import Dialogue


@runtime_checkable
class Tagger(Protocol):
    """Names what each utterance is about. The same tagger tags training dialogues and live turns."""

    def tag(self, dialogue: Dialogue) -> Dialogue:
        """The dialogue with `tags` on every utterance: lower-case readable words, most telling first.

        Utterances, their order and their texts are unchanged. The tags of an utterance depend only on it and on
        what precedes it, so that tagging a live turn and tagging its transcript later agree.
        """
        ...

    def tag_all(self, dialogues: Iterable[Dialogue]) -> Iterator[Dialogue]:
        """`tag` for a stream, in order; adapters may batch or run calls concurrently."""
        ...
