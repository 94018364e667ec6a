"""Which words of a user mean what: short lists of words learned from annotated turns, for a person to read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

LEAST = 3
"""A phrase enters the list of a meaning for at least so many more turns with the meaning than without it."""

_WORD = re.compile(r"[a-z0-9']+")


@dataclass(frozen=True, slots=True)
class Cues:
    """`phrases`: meaning -> words, or pairs of words, each of which is enough to say that a turn has the meaning."""

    phrases: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def heard(self, text: str) -> frozenset[str]:
        """The meanings of what a user said."""
        said = _grams(text)
        return frozenset(meaning for meaning, phrases in self.phrases.items() if not said.isdisjoint(phrases))

    def __str__(self) -> str:
        return "; ".join(f"{meaning}: {', '.join(phrases) or 'nothing'}" for meaning, phrases in self.phrases.items())


def learn_cues(turns: Iterable[tuple[str, frozenset[str]]], meanings: Iterable[str]) -> Cues:
    """Learn the phrases of each meaning from `turns`: what was said, and all it means.

    Greedy: the phrase that is right most often beyond its errors, then the one that is so in the turns left, and so on.
    """
    said = [(_grams(text), meant) for text, meant in turns]
    return Cues({meaning: _phrases([(grams, meaning in meant) for grams, meant in said]) for meaning in meanings})


def _phrases(turns: Sequence[tuple[frozenset[str], bool]]) -> tuple[str, ...]:
    found: list[str] = []
    while True:
        gains: Counter[str] = Counter()
        for grams, meant in turns:
            gains.update(dict.fromkeys(grams, 1 if meant else -1))
        best = min(gains, key=lambda phrase: (-gains[phrase], len(phrase), phrase), default="")
        if gains[best] < LEAST:
            return tuple(found)
        found.append(best)
        turns = [(grams, meant) for grams, meant in turns if best not in grams]


def _grams(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    return frozenset(words) | {f"{first} {second}" for first, second in pairwise(words)}
