"""A policy learned from dialogues: the automaton says where a turn stands and what it owes, a past turn words it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialoom.automata import Navigator, Position, Round, TagSequence, learn_paper
from dialoom.encoders.lsa import LSAEncoder
from dialoom.evaluation.multiwoz.benchmark import Benchmark
from dialoom.evaluation.multiwoz.dialogues import WozDialogues
from dialoom.evaluation.multiwoz.obligations import Evidence, Key, Observation, gather
from dialoom.evaluation.multiwoz.predictions import Turn
from dialoom.evaluation.multiwoz.tracker import SLOTS, Facts, Progress, Tracker, facts

TAU = 5
"""A state splits while more training turns than this stand at it."""

NEAREST = 10
"""Turns whose wording is compared for the most usual one."""

Duties = tuple[frozenset[str], frozenset[str]]
"""Slots a response has to tell, and slots it must not."""

Judge = Callable[[Facts, Progress, Sequence[int]], Duties]
"""Duties of a turn from what is seen of it, its progress and its path in the automaton."""


@dataclass(frozen=True, slots=True)
class Said:
    """One training turn."""

    dialogue: str
    user: str
    response: str
    slots: frozenset[str]
    progress: Progress


def observed(dialogues: WozDialogues, benchmark: Benchmark) -> list[Said]:
    """Training turns with the progress before each, from the gold responses."""
    found = []
    for name, exchanges in sorted(dialogues.items()):
        tracker = Tracker()
        turns = facts([each.user for each in exchanges], benchmark.states[name], benchmark)
        for exchange, turn in zip(exchanges, turns, strict=True):
            progress = tracker.observe(turn)
            slots = benchmark.spelling.mentioned(exchange.response)
            tracker.told(slots)
            found.append(Said(name, exchange.user, exchange.response, slots, progress))
    return found


def rounds(tags: Iterable[str]) -> tuple[Round, ...]:
    """A turn as the automaton walks it: one round a tag, so that the telling facets come first in every path."""
    return tuple(Round("user", (tag,)) for tag in tags)


class Policy:
    """Learned from training turns; answers other dialogues with training responses, unchanged."""

    def __init__(self, said: Sequence[Said], benchmark: Benchmark) -> None:
        self.said = said
        self._benchmark = benchmark
        self.automaton = learn_paper(_sequences(said), tau=TAU, threshold=1.0)
        self._navigator = Navigator(self.automaton)
        self._paths = {each.progress.tags: self.path(each.progress.tags) for each in said}
        self.encoder = LSAEncoder.fit([each.user for each in said] + [each.response for each in said])
        self._asked = self.encoder.encode([each.user for each in said])
        self._worded = self.encoder.encode([each.response for each in said])
        members: dict[int, list[int]] = defaultdict(list)
        for number, each in enumerate(said):
            for state in self._paths[each.progress.tags]:
                members[state].append(number)
        self._members = {state: np.asarray(numbers) for state, numbers in members.items()}
        self._owner = np.asarray([each.dialogue for each in said])
        self._bits = np.asarray([_bits(each.slots) for each in said])

    def path(self, tags: tuple[str, ...]) -> tuple[int, ...]:
        """The states a turn with this progress passes through, from the start to where it stands."""
        position = Position()
        for spoken in rounds(tags):
            position = self._navigator.advance(position, spoken)
        return (0, *(step.state for step in position.path))

    def evidence(self) -> dict[Key, Evidence]:
        """What the training turns say about obligations."""
        return gather(self._observations())

    def _observations(self) -> Iterable[Observation]:
        later: dict[tuple[str, str], frozenset[str]] = {}
        for each in reversed(self.said):
            place = each.dialogue, each.progress.domain
            after = later[place] = later.get(place, frozenset()) | each.slots
            yield Observation(
                self._paths[each.progress.tags],
                {slot: (each.progress.slots[slot], slot in each.slots, slot in after) for slot in SLOTS},
            )

    def respond(self, name: str, users: Sequence[str], judge: Judge) -> list[Turn]:
        """Answer a dialogue given its user turns and the benchmark's states. Its own turns are never used."""
        tracker = Tracker()
        vectors = self.encoder.encode(list(users))
        turns = []
        for vector, turn in zip(vectors, facts(users, self._benchmark.states[name], self._benchmark), strict=True):
            progress = tracker.observe(turn)
            path = self.path(progress.tags)
            chosen = self.said[self._choose(path, judge(turn, progress, path), vector, name)]
            tracker.told(chosen.slots)
            turns.append(Turn(chosen.response))
        return turns

    def _choose(self, path: Sequence[int], duties: Duties, vector: NDArray[np.float32], name: str) -> int:
        """A turn of the deepest state with one that does its duties; where no state has any, of the deepest."""
        owed, forbidden = map(_bits, duties)
        others = [kept for state in reversed(path) if len(kept := self._others(state, name))]
        for members in others:
            bits = self._bits[members]
            dutiful = members[(bits & owed == owed) & (bits & forbidden == 0)]
            if len(dutiful):
                return self._central(dutiful, vector)
        return self._central(others[0], vector)

    def _others(self, state: int, name: str) -> NDArray[np.int64]:
        members = self._members.get(state, _NOBODY)
        others: NDArray[np.int64] = members[self._owner[members] != name]
        return others

    def _central(self, members: NDArray[np.int64], vector: NDArray[np.float32]) -> int:
        """Of the members nearest to the user's words, the one whose wording is most like the others'."""
        near = members[np.argsort(-(self._asked[members] @ vector), kind="stable")[:NEAREST]]
        worded = self._worded[near]
        return int(near[int((worded @ worded.sum(axis=0)).argmax())])


_NOBODY = np.zeros(0, dtype=np.int64)


def _bits(slots: frozenset[str]) -> int:
    return sum(1 << place for place, slot in enumerate(SLOTS) if slot in slots)


def _sequences(said: Sequence[Said]) -> Iterable[TagSequence]:
    for number, each in enumerate(said):
        reply = Round("system", tuple(sorted(each.slots)) or ("nothing",))
        yield TagSequence(f"{each.dialogue}#{number:05}", (*rounds(each.progress.tags), reply))
