"""Conformance of raw transcripts to a learned model: prepared and tagged as in learning, then replayed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dialoom.agent.model import Model
from dialoom.agent.sequences import to_sequence, without_tools
from dialoom.automata.conformance import Conformance, conform
from dialoom.automata.history import primary
from dialoom.automata.predictive_router import PredictiveRouter
from dialoom.automata.symbols import TagSequence
from dialoom.corpora.redaction import redact
from dialoom.dialogue import Dialogue


def conform_model(model: Model, dialogues: Iterable[Dialogue], *, top: int = 10) -> Conformance:
    """How much of `dialogues` the automaton of `model` explains; a stream, one dialogue in memory at a time."""
    settings = model.settings
    seen = dialogues if settings.tools else map(without_tools, dialogues)
    hidden = map(redact, seen) if settings.redact else seen
    tagged = model.tagger.tag_all(hidden)
    return conform(model.automaton, (_read(model, to_sequence(dialogue)) for dialogue in tagged), top=top)


def _read(model: Model, sequence: TagSequence) -> TagSequence:
    """The sequence as the automaton reads it: predictive states move by the first tag of each round alone."""
    if not isinstance(model.router, PredictiveRouter):
        return sequence
    return replace(sequence, rounds=tuple(said._replace(tags=(primary(said),)) for said in sequence.rounds))
