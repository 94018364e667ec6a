"""Past turns and which of them words an answer: near to what the user said, and usual among its like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialoom.encoders.lsa import LSAEncoder
from dialoom.evaluation.multiwoz.benchmark import Benchmark, State
from dialoom.evaluation.multiwoz.cues import Cues
from dialoom.evaluation.multiwoz.dialogues import WozDialogues
from dialoom.evaluation.multiwoz.predictions import Predictions
from dialoom.evaluation.multiwoz.tracker import SLOTS, Facts, Progress, Tracker, facts

NEAREST = 10
"""Turns whose wording is compared for the most usual one."""


@dataclass(frozen=True, slots=True)
class Said:
    """One training turn: what the human system said, and the slots it told in it, and in it or `later` on."""

    dialogue: str
    user: str
    response: str
    slots: frozenset[str]
    later: frozenset[str]
    progress: Progress


@dataclass(frozen=True, slots=True)
class Heard:
    """One user's turn: what is known of it, and its words as a vector of unit length."""

    facts: Facts
    vector: NDArray[np.float32]


def observed(dialogues: WozDialogues, answers: Predictions, benchmark: Benchmark, cues: Cues) -> list[Said]:
    """Training turns with the progress before each, had `answers` been given: the human's own, or a policy's."""
    mentioned = benchmark.spelling.mentioned
    found: list[Said] = []
    for name, exchanges in sorted(dialogues.items()):
        tracker = Tracker()
        progresses = []
        turns = facts([each.user for each in exchanges], benchmark.states[name], benchmark, cues)
        for turn, answer in zip(turns, answers[name], strict=True):
            progresses.append(tracker.observe(turn))
            tracker.told(mentioned(answer.response))
        later: dict[str, frozenset[str]] = {}
        backwards = []
        for exchange, progress in zip(reversed(exchanges), reversed(progresses), strict=True):
            slots = mentioned(exchange.response)
            after = later[progress.domain] = later.get(progress.domain, frozenset()) | slots
            backwards.append(Said(name, exchange.user, exchange.response, slots, after, progress))
        found += reversed(backwards)
    return found


class Wording:
    """The turns of human systems, and the words of users as vectors."""

    def __init__(self, said: Sequence[Said]) -> None:
        self.said = said
        self._encoder = LSAEncoder.fit([each.user for each in said] + [each.response for each in said])
        self._asked = self._encoder.encode([each.user for each in said])
        self._worded = self._encoder.encode([each.response for each in said])
        self._owner = np.asarray([each.dialogue for each in said])
        self._bits = np.asarray([_bits(each.slots) for each in said])

    def hear(self, users: Sequence[str], states: Sequence[State], benchmark: Benchmark, cues: Cues) -> list[Heard]:
        """The turns of one dialogue as a policy hears them."""
        turns = facts(users, states, benchmark, cues)
        return [Heard(turn, vector) for turn, vector in zip(turns, self._encoder.encode(list(users)), strict=True)]

    def others(self, members: NDArray[np.int64], dialogue: str) -> NDArray[np.int64]:
        """The members that are not of `dialogue`."""
        kept: NDArray[np.int64] = members[self._owner[members] != dialogue]
        return kept

    def dutiful(self, members: NDArray[np.int64], owed: frozenset[str], forbidden: frozenset[str]) -> NDArray[np.int64]:
        """The members that tell all slots `owed` and none that is `forbidden`."""
        bits, must, never = self._bits[members], _bits(owed), _bits(forbidden)
        kept: NDArray[np.int64] = members[(bits & must == must) & (bits & never == 0)]
        return kept

    def central(self, members: NDArray[np.int64], vector: NDArray[np.float32]) -> Said:
        """Of the members nearest to the user's words, the one whose wording is most like the others'."""
        near = members[np.argsort(-(self._asked[members] @ vector), kind="stable")[:NEAREST]]
        worded = self._worded[near]
        return self.said[int(near[int((worded @ worded.sum(axis=0)).argmax())])]


def _bits(slots: frozenset[str]) -> int:
    return sum(1 << place for place, slot in enumerate(SLOTS) if slot in slots)
