"""What a conversation has come to, as ordinary tags: the symbols the learned automaton walks on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dialoom.evaluation.multiwoz.benchmark import Benchmark, State
from dialoom.evaluation.multiwoz.cues import Cues
from dialoom.evaluation.multiwoz.dialogues import LEAVING
from dialoom.evaluation.multiwoz.success import estimated_domains, offers
from dialoom.evaluation.multiwoz.venues import FUZZY
from dialoom.evaluation.multiwoz.violations import BOOKING

SLOTS = ("NAME", "TRAINID", "PHONE", "ADDRESS", "POST", "REFERENCE")
"""Slots that can be owed."""

STANDINGS = ("asked", "untold", "told", "stale")
"""How a slot can stand; stale: told before the constraints changed."""

NEEDS: Mapping[str, tuple[str, ...]] = {
    **{domain: tuple(f"book{slot}" for slot in slots) for domain, slots in BOOKING.items()},
    "taxi": ("departure", "destination"),
}
"""Slots whose filling is the progress of a booking."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a policy may see of a turn before it answers: never a gold act, response or booking of this turn.

    `meant`: what the user's words ask for, and whether they say goodbye.
    """

    meant: frozenset[str]
    domain: str
    state: State
    matches: int


@dataclass(frozen=True, slots=True)
class Progress:
    """`tags` describe the turn, one a facet, the telling facets first; `slots`: how each slot stands (`STANDINGS`)."""

    domain: str
    tags: tuple[str, ...]
    slots: Mapping[str, str]

    def facet(self, name: str) -> str:
        """The value of one facet."""
        return next(tag.partition(":")[2] for tag in self.tags if tag.startswith(f"{name}:"))


def facts(users: Sequence[str], states: Sequence[State], benchmark: Benchmark, cues: Cues) -> Iterator[Facts]:
    """The turns of one dialogue, from the user's words and the states."""
    spelled = [benchmark.spelling.state(state) for state in states]
    for user, state, domains in zip(users, spelled, estimated_domains(spelled), strict=True):
        domain = domains[0] if domains else "none"
        matches = len(benchmark.venues.query(domain, state.get(domain, {}))) if domain in FUZZY else 0
        yield Facts(cues.heard(user), domain, state, matches)


@dataclass(slots=True)
class _Domain:
    """What has happened in one domain."""

    constraints: Mapping[str, str] = field(default_factory=dict)
    booking: Mapping[str, str] = field(default_factory=dict)
    offered: Mapping[str, str] | None = None
    referred: Mapping[str, str] | None = None
    told: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)


class Tracker:
    """Follows one conversation: `observe` a user's turn, answer it, then `told` the slots of the answer."""

    def __init__(self) -> None:
        self._domains: dict[str, _Domain] = {}
        self._domain = "none"

    def observe(self, turn: Facts) -> Progress:
        """The progress after the user's turn."""
        here = self._domains.setdefault(turn.domain, _Domain())
        self._domain = turn.domain
        slots = turn.state.get(turn.domain, {})
        booking = {name: value for name, value in slots.items() if name.startswith("book")}
        constraints = {name: value for name, value in slots.items() if name not in booking}
        changed = "constraint" if constraints != here.constraints else "booking" if booking != here.booking else "none"
        if booking != here.booking:
            here.told.discard("REFERENCE")  # the next one is of another booking
            here.referred = None
        here.constraints, here.booking = constraints, booking
        here.asked |= turn.meant & set(SLOTS)
        tags = (
            f"domain:{turn.domain}",
            f"matches:{_size(turn) if turn.domain in FUZZY else 'unknown'}",
            f"booking:{_filled(turn.domain, slots)}",
            f"reference:{_since(here.referred, constraints)}",
            f"offer:{_since(here.offered, constraints)}",
            f"changed:{changed}",
            f"asks:{'+'.join(sorted(here.asked - here.told)) or 'nothing'}",
            f"constraints:{min(len(constraints), 4)}",
            f"leaving:{'yes' if LEAVING in turn.meant else 'no'}",
        )
        return Progress(turn.domain, tags, {slot: _standing(slot, here) for slot in SLOTS})

    def told(self, slots: frozenset[str]) -> None:
        """Take note of the slots the answer mentions."""
        here = self._domains[self._domain]
        if offers(self._domain, slots):
            if here.offered != here.constraints:
                here.told &= {"REFERENCE"}  # the rest was of another entity
            here.offered = here.constraints
        if "REFERENCE" in slots:
            here.referred = here.constraints
        here.told |= slots
        here.asked -= slots


def _since(then: Mapping[str, str] | None, now: Mapping[str, str]) -> str:
    return "none" if then is None else "made" if then == now else "stale"


def _filled(domain: str, slots: Mapping[str, str]) -> str:
    needs = NEEDS.get(domain, ())
    have = sum(name in slots for name in needs)
    if domain == "taxi" and not {"leave", "arrive"} & slots.keys():
        have = min(have, 1)
    return "none" if not have else "all" if have == len(needs) else "part"


def _size(turn: Facts) -> str:
    return "0" if not turn.matches else "1" if turn.matches == 1 else "few" if turn.matches < 5 else "many"


def _standing(slot: str, here: _Domain) -> str:
    if slot in here.asked:
        return "asked"
    if slot not in here.told:
        return "untold"
    made = here.referred if slot == "REFERENCE" else here.offered if slot in ("NAME", "TRAINID") else here.constraints
    return "told" if made == here.constraints else "stale"
