"""Conformance of raw transcripts to a learned model: prepared and tagged as in learning, then replayed."""

from __future__ import annotations

from collections.abc import Iterable

from dialoom.agent.model import Model
from dialoom.agent.sequences import to_sequence, without_tools
from dialoom.automata.conformance import Conformance, conform
from dialoom.corpora.redaction import redact
from dialoom.dialogue import Dialogue


def conform_model(model: Model, dialogues: Iterable[Dialogue], *, top: int = 10) -> Conformance:
    """How much of `dialogues` the automaton of `model` explains; a stream, one dialogue in memory at a time."""
    settings = model.settings
    seen = dialogues if settings.tools else map(without_tools, dialogues)
    hidden = map(redact, seen) if settings.redact else seen
    tagged = model.tagger.tag_all(hidden)
    return conform(model.automaton, map(to_sequence, tagged), top=top)
