"""Obligations learned from dialogues: which slots a response owes, or must not tell, in which state of the automaton.

A slot is owed in a state where enough training responses say it now (it can be said) and enough of their dialogues say
it now or later (it has to be said). It is forbidden where hardly any response says it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Key = tuple[int, str, str]
"""State, slot, and how the slot stands: asked, untold, told or stale."""

Duty = tuple[str, str]
"""Slot, and how it stands."""

Duties = tuple[frozenset[str], frozenset[str]]
"""Slots a response has to tell, and slots it must not."""

NEVER = 0.1
"""A slot told in a smaller share of a state's turns is forbidden there."""

WEIGHT = 3
"""The states before a state count in its shares like so many turns of its own."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Least shares of a state's turns for an obligation: told `now`, and told now or `later` in the dialogue."""

    now: float = 0.2
    later: float = 0.2


USUAL = Threshold()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of `turns` training turns, how many told the slot `now`, and how many now or `later` in their dialogue."""

    turns: int
    now: int
    later: int

    def __sub__(self, part: Evidence) -> Evidence:
        return Evidence(self.turns - part.turns, self.now - part.now, self.later - part.later)


@dataclass(frozen=True, slots=True)
class Observation:
    """One training turn: the states on its path; for each slot how it stood, and whether it was told now, or later."""

    path: Sequence[int]
    slots: Mapping[str, tuple[str, bool, bool]]


@dataclass(frozen=True, slots=True)
class Shares:
    """Smoothed shares of turns that told a slot `now`, and now or `later`, at the end of a path."""

    now: float
    later: float


class Obligations:
    """What each state owes and forbids. `thresholds`: where it is not the usual one."""

    def __init__(self, evidence: Mapping[Key, Evidence], thresholds: Mapping[Duty, Threshold]) -> None:
        self.evidence = evidence
        self.thresholds = thresholds
        self._shares: dict[tuple[tuple[int, ...], str, str], Shares] = {}

    def under(self, thresholds: Mapping[Duty, Threshold]) -> Obligations:
        """The same evidence, judged by other thresholds."""
        other = Obligations(self.evidence, thresholds)
        other._shares = self._shares
        return other

    def judge(self, path: tuple[int, ...], slots: Mapping[str, str]) -> Duties:
        """The slots owed and the slots forbidden at the end of `path`; `slots`: slot -> how it stands."""
        shares = {slot: self.shares(path, slot, standing) for slot, standing in slots.items()}
        owed = frozenset(slot for slot, found in shares.items() if self.owes((slot, slots[slot]), found))
        return owed, frozenset(slot for slot, found in shares.items() if found.now < NEVER) - owed

    def owes(self, duty: Duty, found: Shares) -> bool:
        """Is this enough for an obligation?"""
        least = self.thresholds.get(duty, USUAL)
        return found.now >= least.now and found.later >= least.later

    def shares(self, path: tuple[int, ...], slot: str, standing: str) -> Shares:
        """The shares of the last state on `path`, each state drawn towards the one before it (an m-estimate)."""
        known = self._shares.get((path, slot, standing))
        if known:
            return known
        now = later = 0.0
        for state in path:
            seen = self.evidence.get((state, slot, standing))
            if seen:
                now = (seen.now + WEIGHT * now) / (seen.turns + WEIGHT)
                later = (seen.later + WEIGHT * later) / (seen.turns + WEIGHT)
        found = self._shares[path, slot, standing] = Shares(now, later)
        return found


def gather(observations: Iterable[Observation]) -> dict[Key, Evidence]:
    """Count the evidence of every state."""
    counts: dict[Key, list[int]] = defaultdict(lambda: [0, 0, 0])
    for seen in observations:
        for slot, (standing, now, later) in seen.slots.items():
            for state in seen.path:
                count = counts[state, slot, standing]
                count[0] += 1
                count[1] += now
                count[2] += later
    return {key: Evidence(*count) for key, count in counts.items()}
