"""Predictive states: positions of dialogues grouped by what comes next, moved between by deterministic transitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialoom.automata.automaton import START

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]

NOWHERE = -1
ROLE_WEIGHT = 2.0  # more than two distributions can differ, so that a group never holds two roles
LLOYD_STEPS = 25


@dataclass(frozen=True, slots=True)
class Positions:
    """The places between rounds, dialogue by dialogue: before round 0, after round 0, ...

    `starts` (dialogues + 1) slices the rest; `role` and `symbol` number the round just said (-1 at the start of a
    dialogue).
    """

    starts: Ints
    role: Ints
    symbol: Ints


@dataclass(frozen=True, slots=True)
class Moves:
    """delta as tables: `table` (states x symbols) and `default` (symbols), each a state or `NOWHERE`.

    The default of a symbol is where it most often leads; it stands in where a state has not seen the symbol.
    """

    table: Ints
    default: Ints
    traffic: Ints

    @classmethod
    def count(cls, positions: Positions, state: Ints, states: int, symbols: int) -> Moves:
        """The most frequent target of each (state, symbol), ties to the lower id, from one state per position."""
        after = np.flatnonzero(positions.symbol >= 0)
        keys = (state[after - 1] * symbols + positions.symbol[after]) * states + state[after]
        seen, times = np.unique(keys, return_counts=True)
        order = np.lexsort((-seen, times))  # the last write wins: the most frequent, then the lowest target
        seen, times = seen[order], times[order]
        table = np.full(states * symbols, NOWHERE, dtype=np.int64)
        table[seen // states] = seen % states
        traffic = np.bincount(seen // states, weights=times, minlength=states * symbols).astype(np.int64)
        by_symbol = np.zeros((symbols, states), dtype=np.int64)
        np.add.at(by_symbol, (positions.symbol[after], state[after]), 1)
        default = np.where(by_symbol.any(axis=1), by_symbol.argmax(axis=1), NOWHERE)
        return cls(table.reshape(states, symbols), default, traffic.reshape(states, symbols))

    def expected(self, state: Ints, symbol: Ints) -> Ints:
        """delta(q, symbol), the symbol's default where that is not defined, or `NOWHERE`."""
        known = self.table[state, symbol]
        return np.where(known == NOWHERE, self.default[symbol], known)


@dataclass(frozen=True, slots=True)
class Centres:
    """What each state expects: `expects` (states x classes), rows sum to 1; `role` of the round that led in."""

    expects: Floats
    role: Ints

    @classmethod
    def mean(cls, expected: Floats, state: Ints, roles: Sequence[int]) -> Centres:
        """Mean distributions of the positions in each state, drawn slightly to the mean of all (half a position)."""
        states = len(roles)
        total = np.zeros((states, expected.shape[1]), dtype=np.float64)
        order = np.argsort(state, kind="stable")
        ids, first = np.unique(state[order], return_index=True)
        total[ids] = np.add.reduceat(expected[order].astype(np.float64), first, axis=0)
        size = np.bincount(state, minlength=states)[:, None]
        means = (total + 0.5 * expected.mean(axis=0)) / (size + 0.5)
        return cls(means.astype(np.float32), np.asarray(roles, dtype=np.int64))

    def fits(self, expected: Floats, role: Ints) -> Floats:
        """How well each position (row) fits each state: minus the cross-entropy in nats; -inf across roles."""
        scores = expected @ np.log(self.expects).T
        scores[role[:, None] != self.role[None, :]] = -np.inf
        return scores


def place(fits: Floats, positions: Positions, moves: Moves, pull: float) -> Ints:
    """The state at every position: the best fit, or the state delta leads to while that fits within `pull` nats.

    Runs forward through each dialogue, all dialogues side by side.
    """
    state = np.zeros(len(positions.role), dtype=np.int64)
    best = fits.argmax(axis=1)
    lengths = np.diff(positions.starts)
    first = positions.starts[:-1]
    state[first] = START
    for step in range(1, int(lengths.max(initial=1))):
        here = first[lengths > step] + step
        before = state[here - 1]
        expected = moves.expected(before, positions.symbol[here])
        chosen = best[here]
        near = fits[here, np.maximum(expected, 0)] + pull >= fits[here, chosen]
        follows = (expected != NOWHERE) & near & np.isfinite(fits[here, np.maximum(expected, 0)])
        lost = ~np.isfinite(fits[here, chosen])  # nobody in training spoke in this role
        state[here] = np.where(lost, before, np.where(follows, expected, chosen))
    return state


def group_positions(expected: Floats, role: Ints, states: int, seed: int) -> tuple[Ints, list[int]]:
    """A first grouping by k-means on square roots of distributions (Hellinger), never across roles.

    Returns a group per position and the role of each group. Position of role -1 (nothing said yet) form group 0.
    """
    group = np.zeros(len(role), dtype=np.int64)
    roles = [-1]
    spoken = np.flatnonzero(role >= 0)
    if not len(spoken):
        return group, roles
    kinds = int(role.max()) + 1
    points = np.sqrt(expected[spoken])
    points = np.hstack([points, ROLE_WEIGHT * np.eye(kinds, dtype=np.float32)[role[spoken]]])
    label = _k_means(points, states - 1, np.random.default_rng(seed))
    combined = label * kinds + role[spoken]
    seen, group[spoken] = np.unique(combined, return_inverse=True)
    group[spoken] += 1
    return group, [*roles, *(int(key % kinds) for key in seen)]


def _k_means(points: Floats, groups: int, draw: np.random.Generator) -> Ints:
    """Lloyd's algorithm from a k-means++ start; at most `groups` labels. Equal input gives equal labels."""
    centres = [points[0]]
    lengths = np.einsum("ij,ij->i", points, points)
    nearest = np.full(len(points), np.inf)
    while len(centres) < groups:
        newest = centres[-1]
        nearest = np.minimum(nearest, np.maximum(lengths - 2 * (points @ newest) + newest @ newest, 0.0))
        total = float(nearest.sum(dtype=np.float64))
        if total <= 1e-6:
            break
        at = int(np.searchsorted(np.cumsum(nearest, dtype=np.float64), draw.random() * total))
        centres.append(points[min(at, len(points) - 1)])
    means = np.asarray(centres)
    label = np.zeros(len(points), dtype=np.int64)
    for _ in range(LLOYD_STEPS):
        new = (0.5 * np.einsum("ij,ij->i", means, means) - points @ means.T).argmin(axis=1)
        if (new == label).all():
            break
        label = new
        order = np.argsort(label, kind="stable")
        ids, first = np.unique(label[order], return_index=True)
        sizes = np.diff(np.append(first, len(order)))[:, None]
        means[ids] = np.add.reduceat(points[order], first, axis=0) / sizes
    return label
