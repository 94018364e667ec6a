"""What a message wants: intents found by phrases, by patterns, or by likeness to examples."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dialoom.encoders.base import Encoder, Vectors
from dialoom.encoders.lsa import LSAEncoder
from dialoom.flows import words
from dialoom.flows.flow import Intent
from dialoom.flows.words import Span

TOLERANCE = 88.0
MIN_EXAMPLES = 4
"""Fewer sentences teach an encoder nothing."""


class Recognised(NamedTuple):
    """An intent and where it shows; the whole message (0 to its length) when it was likeness that told."""

    intent: str
    start: int
    end: int


@dataclass
class Likeness:
    """Examples of the intents as vectors, for messages that no phrase recognises.

    With a `vocabulary`, a message is compared only if at least half of its words are in it: to an encoder that knows
    few words, one that they share would be the whole message.
    """

    encoder: Encoder
    vocabulary: frozenset[str] | None = None

    def __post_init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[list[str], Vectors]] = {}

    def nearest(self, text: str, intents: Mapping[str, Intent]) -> Recognised | None:
        """The intent of the most similar example, if similar enough."""
        pairs = [(name, example) for name, intent in intents.items() for example in intent.examples]
        if not pairs or not self._knows(text):
            return None
        examples = tuple(example for _, example in pairs)
        if examples not in self._known:
            self._known = {examples: ([name for name, _ in pairs], self.encoder.encode(examples))}
        names, vectors = self._known[examples]
        scores = vectors @ self.encoder.encode([text])[0]
        best = int(scores.argmax())
        return Recognised(names[best], 0, len(text)) if scores[best] >= intents[names[best]].threshold else None

    def _knows(self, text: str) -> bool:
        spoken = [word for word, _, _ in words.tokens(text)]
        return self.vocabulary is None or 2 * sum(word in self.vocabulary for word in spoken) >= max(1, len(spoken))


def likeness_of(intents: Mapping[str, Intent]) -> Likeness | None:
    """Likeness by the embedded encoder, fitted on the examples themselves; None where there are too few.

    An encoder learned from a whole corpus knows more words.
    """
    examples = [example for intent in intents.values() for example in intent.examples]
    if len(set(examples)) < MIN_EXAMPLES:
        return None
    vocabulary = frozenset(word for example in examples for word, _, _ in words.tokens(example))
    return Likeness(LSAEncoder.fit(examples), vocabulary)


def find_intents(text: str, intents: Mapping[str, Intent], likeness: Likeness | None = None) -> list[Recognised]:
    """The intents of a message in the order of the text, each place with its most specific intent."""
    found: list[tuple[float, Recognised]] = []
    for name, intent in intents.items():
        found += [
            (item.score, Recognised(name, item.start, item.end))
            for item in words.find(intent.words, text, TOLERANCE)
            if not words.negated(text, item.start)
        ]
        found += [
            (100.0, Recognised(name, match.start(), match.end()))
            for pattern in intent.patterns
            for match in re.finditer(pattern, text[: words.MAX_TEXT], re.IGNORECASE)
        ]
    if not found and likeness is not None and (near := likeness.nearest(text, intents)):
        return [near]
    found.sort(key=lambda entry: (-(entry[1].end - entry[1].start), -entry[0], entry[1].start))
    kept: list[Recognised] = []
    for _, item in found:
        if not any(words.overlap((item.start, item.end), (other.start, other.end)) for other in kept):
            kept.append(item)
    return sorted(kept, key=lambda item: item.start)


def segments(
    text: str, found: Sequence[Recognised], joiners: Sequence[str], beside: Sequence[str] = ()
) -> list[tuple[Recognised, Span]]:
    """Two requests in one message: each intent with its part of the text.

    The text is cut between stops and joining words; clauses without an intent belong to the request before them.
    Only the first intent of a clause counts, but a clause is cut again at the last of the words `beside` between two
    different intents ("a pizza with a salad").
    """
    parts: list[tuple[Recognised, Span]] = []
    for start, end in words.clauses(text, joiners):
        inside = [item for item in found if start <= item.start < end]
        if inside:
            parts += _cut(text, inside, (start, end), beside)
        elif parts:
            parts[-1] = (parts[-1][0], (parts[-1][1][0], end))
    return parts


def _cut(text: str, inside: Sequence[Recognised], span: Span, beside: Sequence[str]) -> list[tuple[Recognised, Span]]:
    parts = [(inside[0], span)]
    for item in inside[1:]:
        before, (start, end) = parts[-1]
        joined = words.clauses(text[before.start : item.end], beside)
        if item.intent != before.intent and len(joined) > 1:
            at = before.start + joined[-1][0]
            parts[-1:] = [(before, (start, at)), (item, (at, end))]
    return parts
