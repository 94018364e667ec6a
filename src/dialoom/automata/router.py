"""The protocol that answers "where are we, and what comes next": learned automata and authored flows share it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from dialoom.automata.symbols import Round

Fallback = Literal["out_of_distribution", "low_confidence"]


@dataclass(frozen=True, slots=True)
class Step:
    """One move of a path: after round `round` (0-based), by `symbol`, into `state`; `known` if a transition says so."""

    round: int
    symbol: str
    state: int
    known: bool = True


@dataclass(frozen=True, slots=True)
class Candidate:
    """A past system turn that continues from here: dialogue id and the 0-based round of the turn to imitate."""

    dialogue_id: str
    round: int
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Route:
    """Where a conversation stands. `confidence` is in [0, 1]; `fallback` says why plain retrieval should help out."""

    state: int
    path: tuple[Step, ...]
    next_tags: tuple[tuple[str, float], ...] = ()
    confidence: float = 1.0
    fallback: Fallback | None = None
    reason: str = ""


@runtime_checkable
class Router(Protocol):
    """Places a conversation in an automaton. Deterministic: the same rounds give the same route."""

    def route(self, rounds: Sequence[Round]) -> Route:
        """Where the conversation stands after `rounds`; never raises for unseen symbols."""
        ...

    def candidates(self, route: Route) -> Sequence[Candidate]:
        """Past system turns that continue from `route`, from I(q)."""
        ...
