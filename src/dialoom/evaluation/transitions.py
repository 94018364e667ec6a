"""Whether an automaton's transitions say where a conversation really goes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from dialoom.automata.automaton import START
from dialoom.automata.predictive_router import PredictiveRouter
from dialoom.automata.router import Step
from dialoom.automata.symbols import TagSequence

PURITIES = 0.3, 0.5, 0.7


@dataclass(frozen=True, slots=True)
class Transitions:
    """Shares over held-out dialogues. A move is one round; a stretch leads from one system turn to the next.

    `known`: delta is defined (along the whole stretch); `right`: it is defined and leads to the state that is
    estimated there; `right_with_default`: the same, where a symbol's default stands in for what delta does not define.
    `covered`: share of system turns said in states
    of at least each of `PURITIES`.
    """

    states: int
    transitions: int
    moves: int
    known: float
    right: float
    right_with_default: float
    stretches: int
    stretch_known: float
    stretch_right: float
    stretch_right_with_default: float
    covered: dict[float, float]


def transitions(router: PredictiveRouter, sequences: Iterable[TagSequence]) -> Transitions:
    """Compare delta with the states that routing finds in held-out dialogues."""
    moves: list[tuple[bool, bool, bool]] = []
    stretches: list[tuple[bool, bool, bool]] = []
    confidences: list[float] = []
    purity = router.model.purity
    for sequence in sequences:
        path = router.route(sequence.rounds).path
        states = [START, *(step.state for step in path)]
        turns = [number for number, said in enumerate(sequence.rounds) if said.role == "system"]
        confidences += [float(purity[states[turn]]) for turn in turns]
        moves += [_follow(router, states[n], path[n : n + 1], states[n + 1]) for n in range(len(path))]
        stretches += [_follow(router, states[a], path[a:b], states[b]) for a, b in pairwise(turns)]
    return Transitions(
        len(router.automaton),
        len(router.automaton.transitions),
        len(moves),
        *_shares(moves),
        len(stretches),
        *_shares(stretches),
        covered={p: sum(c >= p for c in confidences) / max(1, len(confidences)) for p in PURITIES},
    )


def _follow(router: PredictiveRouter, start: int, steps: Sequence[Step], end: int) -> tuple[bool, bool, bool]:
    """Whether delta is defined along `steps`, whether it then ends in `end`, and whether it does so with defaults."""
    exact: int | None = start
    filled: int | None = start
    for step in steps:
        exact = None if exact is None else router.automaton.step(exact, step.symbol)
        filled = None if filled is None else router.expected(filled, step.symbol)
    return exact is not None, exact == end, filled == end


def _shares(found: Sequence[tuple[bool, bool, bool]]) -> tuple[float, float, float]:
    total = max(1, len(found))
    return sum(f[0] for f in found) / total, sum(f[1] for f in found) / total, sum(f[2] for f in found) / total
