"""Conformance: how much of a set of dialogues an automaton explains, and where they leave it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dialoom.automata.automaton import Automaton
from dialoom.automata.navigation import Navigator, Position
from dialoom.automata.symbols import TagSequence

KEPT_IDS = 3


@dataclass(frozen=True, slots=True)
class Departure:
    """A way out of the automaton: at `state` (a name), on `symbols` that have no transition there.

    `dialogue_ids` are the first few that left this way, of `dialogues`.
    """

    state: str
    symbols: tuple[str, ...]
    dialogues: int
    dialogue_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conformance:
    """What strict navigation could follow. A dialogue counts as explained if every turn of it was followed.

    `completed` explained dialogues end in an accept state as well. After a departure no turn of the dialogue counts.
    `departures` are the most common ways out, most common first, of `kinds` different ones.
    """

    dialogues: int
    dialogues_explained: int
    dialogues_completed: int
    turns: int
    turns_explained: int
    departures: tuple[Departure, ...]
    kinds: int

    @property
    def dialogue_share(self) -> float:
        """Explained dialogues among all; 1.0 of none."""
        return self.dialogues_explained / self.dialogues if self.dialogues else 1.0

    @property
    def turn_share(self) -> float:
        """Explained turns among all; 1.0 of none."""
        return self.turns_explained / self.turns if self.turns else 1.0

    def report(self) -> str:
        """The findings as lines of text."""
        lines = [
            f"{self.turns_explained} of {self.turns} turns explained ({self.turn_share:.1%})",
            f"{self.dialogues_explained} of {self.dialogues} dialogues explained ({self.dialogue_share:.1%}), "
            f"{self.dialogues_completed} of them to an accept state",
        ]
        if self.departures:
            lines.append(f"Where dialogues leave ({len(self.departures)} of {self.kinds} ways):")
        for departure in self.departures:
            said = " + ".join(departure.symbols)
            ids = ", ".join(departure.dialogue_ids)
            lines.append(f"  {departure.dialogues:>6}  at {departure.state} on {said} (as in {ids})")
        return "\n".join(lines)


def conform(automaton: Automaton, sequences: Iterable[TagSequence], *, top: int = 10) -> Conformance:
    """Replay dialogues through delta, one at a time, strictly; works for any automaton and any number of dialogues."""
    navigator = Navigator(automaton)
    left: Counter[tuple[int, tuple[str, ...]]] = Counter()
    seen: dict[tuple[int, tuple[str, ...]], tuple[str, ...]] = {}
    dialogues = explained = completed = turns = followed = 0
    for sequence in sequences:
        position = Position()
        for spoken in sequence.rounds:
            position = navigator.advance(position, spoken)
            if position.mismatch is not None:
                break
        dialogues += 1
        turns += len(sequence.rounds)
        followed += position.followed
        if position.mismatch is None:
            explained += 1
            completed += automaton.states[position.state].accept
            continue
        way = (position.mismatch.state, position.mismatch.symbols)
        left[way] += 1
        if left[way] <= KEPT_IDS:
            seen[way] = (*seen.get(way, ()), sequence.id)
    order = sorted(left, key=lambda way: (-left[way], way))
    departures = tuple(
        Departure(automaton.states[state].name, symbols, left[state, symbols], seen[state, symbols])
        for state, symbols in order[:top]
    )
    return Conformance(dialogues, explained, completed, turns, followed, departures, len(left))
