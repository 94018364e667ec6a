"""Inform and Success of one dialogue (Nekvinda & Dušek 2021, sec. 4).

Inform: for every domain of the goal, the entities last offered all satisfy the goal. Success: Inform, and every slot
the user was to ask for has been told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dialoom.evaluation.multiwoz.benchmark import Goal, State
from dialoom.evaluation.multiwoz.venues import FUZZY, Venues

REQUESTABLE = frozenset({"PHONE", "ADDRESS", "POST", "REFERENCE", "TRAINID"})


@dataclass(frozen=True, slots=True)
class Told:
    """What counts of one turn: the slots mentioned, the state, the active domains, and the domains booked by then."""

    slots: frozenset[str]
    state: State
    domains: Sequence[str]
    booked: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """By domain of the goal: was the right entity offered, and was everything asked for told as well?

    A domain succeeds only where the whole dialogue informs.
    """

    inform: Mapping[str, bool]
    success: Mapping[str, bool]

    @property
    def informs(self) -> bool:
        """Inform of the whole dialogue."""
        return all(self.inform.values())

    @property
    def succeeds(self) -> bool:
        """Success of the whole dialogue."""
        return all(self.success.values())


def outcome(goal: Mapping[str, Goal], turns: Sequence[Told], venues: Venues) -> Outcome:
    """Score one dialogue against its goal."""
    inform = {domain: _informs(domain, wanted, turns, venues) for domain, wanted in goal.items()}
    informed = all(inform.values())
    success = {
        domain: informed and wanted.requestable <= _told(domain, turns) | (wanted.requestable - REQUESTABLE)
        for domain, wanted in goal.items()
    }
    return Outcome(inform, success)


def offers(domain: str, slots: frozenset[str]) -> bool:
    """Does a response with these slots name an entity of `domain`? Trains are named by their id."""
    return domain in FUZZY and ("TRAINID" if domain == "train" else "NAME") in slots


def _informs(domain: str, wanted: Goal, turns: Sequence[Told], venues: Venues) -> bool:
    if domain not in FUZZY or "name" in wanted.informable:
        return True  # nothing to look up, or the user names the entity
    offered: frozenset[str] = frozenset()
    for turn in turns:
        if domain in turn.domains and offers(domain, turn.slots):
            found = venues.query(domain, turn.state[domain]) if domain in turn.state else frozenset()
            if not offered <= found or not offered:  # while all of the last offer still matches, it stays
                offered = found
    if not offered:
        return domain == "train" and "TRAINID" not in wanted.requestable
    return offered <= venues.query(domain, wanted.informable)


def _told(domain: str, turns: Sequence[Told]) -> frozenset[str]:
    """Slots told while `domain` was active. A reference counts only once the gold dialogue has booked the domain."""
    told: set[str] = set()
    for turn in turns:
        if domain in turn.domains:
            told |= turn.slots if domain in turn.booked else turn.slots - {"REFERENCE"}
    return frozenset(told)


def estimated_domains(states: Sequence[State]) -> Iterator[tuple[str, ...]]:
    """The domain each turn talks about, at most one, from what its state changed.

    The domain whose slots changed; of several the one already current, else the one with most slots. Where nothing
    changes, the current one stays, unless several changed one turn before: then the first of the others has its turn.
    """
    current: str | None = None
    before: State = {}
    changed: list[str] = []
    for state in states:
        last, changed = changed, [d for d in state if state[d].items() - before.get(d, {}).items()]
        if not changed and len(last) > 1:
            current = next((d for d in last if d in state and d != current), current)
        elif changed and current not in changed:
            current = max(changed, key=lambda d: len(state[d]))
        before = state
        yield () if current is None else (current,)
