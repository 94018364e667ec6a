"""A policy learned from dialogues: the automaton says where a turn stands and what it owes, a past turn words it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dialoom.automata import Navigator, Position, Round, TagSequence, learn_paper
from dialoom.evaluation.multiwoz.obligations import Duties, Evidence, Key, Observation, gather
from dialoom.evaluation.multiwoz.tracker import SLOTS, Facts, Progress, Tracker
from dialoom.evaluation.multiwoz.wording import Heard, Said, Wording

TAU = 5
"""A state splits while more training turns than this stand at it."""

Judge = Callable[[Facts, Progress, tuple[int, ...]], Duties]
"""Duties of a turn from what is seen of it, its progress and its path in the automaton."""


def rounds(tags: Iterable[str]) -> tuple[Round, ...]:
    """A turn as the automaton walks it: one round a tag, so that the telling facets come first in every path."""
    return tuple(Round("user", (tag,)) for tag in tags)


class Policy:
    """Answers dialogues with responses of others, unchanged.

    `replayed`: the training turns again, as they stood when a policy had answered before. They say what is owed there,
    and shape the automaton; the words are always of turns as they really went.
    """

    def __init__(self, wording: Wording, replayed: Sequence[Said] = ()) -> None:
        self.turns = [*wording.said, *replayed]
        self.automaton = learn_paper(_sequences(self.turns), tau=TAU, threshold=1.0)
        self._wording = wording
        self._navigator = Navigator(self.automaton)
        self._paths: dict[tuple[str, ...], tuple[int, ...]] = {}
        members: dict[int, list[int]] = defaultdict(list)
        for number, each in enumerate(wording.said):
            for state in self.path(each.progress.tags):
                members[state].append(number)
        self._members = {state: np.asarray(numbers) for state, numbers in members.items()}

    def path(self, tags: tuple[str, ...]) -> tuple[int, ...]:
        """The states a turn with this progress passes through, from the start to where it stands."""
        path = self._paths.get(tags)
        if path is None:
            position = Position()
            for spoken in rounds(tags):
                position = self._navigator.advance(position, spoken)
            path = self._paths[tags] = (0, *(step.state for step in position.path))
        return path

    def evidence(self) -> dict[Key, Evidence]:
        """What the training turns say about obligations."""
        return gather(map(self._observation, self.turns))

    def evidence_by_dialogue(self) -> dict[str, dict[Key, Evidence]]:
        """The part of `evidence` that comes from each training dialogue."""
        turns: dict[str, list[Observation]] = defaultdict(list)
        for each in self.turns:
            turns[each.dialogue].append(self._observation(each))
        return {name: gather(observations) for name, observations in turns.items()}

    def _observation(self, each: Said) -> Observation:
        return Observation(
            self.path(each.progress.tags),
            {slot: (each.progress.slots[slot], slot in each.slots, slot in each.later) for slot in SLOTS},
        )

    def respond(self, name: str, heard: Sequence[Heard], judge: Judge) -> list[str]:
        """Answer the turns of the dialogue `name`. Its own turns are never used."""
        tracker = Tracker()
        responses = []
        for turn in heard:
            progress = tracker.observe(turn.facts)
            path = self.path(progress.tags)
            chosen = self._choose(path, judge(turn.facts, progress, path), turn.vector, name)
            tracker.told(chosen.slots)
            responses.append(chosen.response)
        return responses

    def _choose(self, path: Sequence[int], duties: Duties, vector: NDArray[np.float32], name: str) -> Said:
        """A turn of the deepest state with one that does its duties; where no state has any, of the deepest."""

        def met() -> Iterator[NDArray[np.int64]]:
            states = (state for state in reversed(path) if state in self._members)
            return filter(len, (self._wording.others(self._members[state], name) for state in states))

        for members in met():
            dutiful = self._wording.dutiful(members, *duties)
            if len(dutiful):
                return self._wording.central(dutiful, vector)
        return self._wording.central(next(met()), vector)


def _sequences(turns: Sequence[Said]) -> Iterable[TagSequence]:
    for number, each in enumerate(turns):
        reply = Round("system", tuple(sorted(each.slots)) or ("nothing",))
        yield TagSequence(f"{each.dialogue}#{number:05}", (*rounds(each.progress.tags), reply))
