"""State merging (DFA-RAG sec. 3.2.3): phi_sim of all pairs of states, merged from the most alike down.

How the algorithm is read where the paper leaves a choice:

- Pairs are those of the tree, in descending order of their phi_sim in the tree (ties: lower ids first), two states of
  one role each. Before a pair is merged, phi_sim of what its states have become by then must exceed lambda as well.
- After every merge, states reached by one tag from one state are merged too, so that delta stays a function.
- Two classes found unlike are compared again once one of them has grown: its sum of |I(delta(q, t))| by a tenth.
- A state without outgoing tags has phi_sim 0 with every other; it is merged only by the rule above.
- A target share lowers lambda from 1 in steps of 0.05 until that share of the states is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dialoom.automata.encoding import Ids, Ints
from dialoom.automata.partition import Partition
from dialoom.automata.tree import TagTree

ROWS = 256
CHUNK = 100_000
GROWTH = 1.1
STEP = 0.05
NARROWING = 4.0


@dataclass(frozen=True, slots=True)
class _Table:
    """The states of one role that have outgoing tags: ids, the shares of their tags (rows sum to 1), and the sums."""

    states: Ids
    shares: sparse.csr_array
    totals: NDArray[np.float64]


def merge_states(
    tree: TagTree, symbol_roles: Sequence[str], *, threshold: float = 0.1, merge_share: float | None = None
) -> Partition:
    """Merge the states of a tree; `symbol_roles[s]` is the role of symbol s.

    With `merge_share` the threshold is not used: merging stops as soon as that share of the tree's states is gone.
    """
    partition = Partition(tree)
    tables = list(_tables(tree, partition, symbol_roles))
    enough = 0 if merge_share is None else round(len(tree) * (1.0 - merge_share))
    unlike: dict[tuple[int, int], tuple[float, float]] = {}
    for low, high, needed in _bands(threshold, merge_share):
        if partition.states <= enough:
            break
        first, second = _pairs(tables, low, high, partition.classes())
        for start in range(0, len(first), CHUNK):
            classes = partition.classes()
            a, b = classes[first[start : start + CHUNK]], classes[second[start : start + CHUNK]]
            apart = a != b
            if not _merge_pairs(partition, a[apart].tolist(), b[apart].tolist(), needed, enough, unlike):
                return partition
    return partition


def _bands(threshold: float, merge_share: float | None) -> Iterator[tuple[float, float, float]]:
    """Ranges (low, high] of phi to work through, and what phi must still exceed; few pairs are held at a time."""
    if merge_share is not None:
        steps = [round(1.0 - STEP * step, 2) for step in range(round(1 / STEP) + 1)]
        yield from ((low, high, low) for high, low in pairwise(steps))
        return
    edges = [1.0]
    while edges[-1] > max(threshold, 0.01):
        edges.append(max(threshold, edges[-1] / NARROWING))
    if edges[-1] > threshold:
        edges.append(threshold)
    yield from ((low, high, threshold) for high, low in pairwise(edges))


def _merge_pairs(
    partition: Partition,
    first: list[int],
    second: list[int],
    needed: float,
    enough: int,
    unlike: dict[tuple[int, int], tuple[float, float]],
) -> bool:
    """Merge the pairs that are still alike, in order; False once no more than `enough` states are left."""
    find, total = partition.find, partition.total
    for a, b in zip(first, second, strict=True):
        a, b = find(a), find(b)
        if a == b:
            continue
        if a > b:
            a, b = b, a
        most = unlike.get((a, b))
        if most is not None and total[a] < most[0] and total[b] < most[1]:
            continue
        if partition.similarity(a, b) > needed:
            partition.unite(a, b)
            if partition.states <= enough:
                return False
        else:
            unlike[a, b] = (total[a] * GROWTH, total[b] * GROWTH)
    return True


def _tables(tree: TagTree, partition: Partition, symbol_roles: Sequence[str]) -> Iterator[_Table]:
    classes = partition.classes()
    sizes = np.asarray(partition.size, dtype=np.float64)
    edges = np.stack((classes[tree.parent[1:]], tree.symbol[1:], classes[1:]))
    edges = np.unique(edges, axis=1) if partition.states < len(tree) else edges
    states, row = np.unique(edges[0], return_inverse=True)
    shape = (len(states), len(symbol_roles))
    counts = sparse.csr_array((sizes[edges[2]], (row, edges[1])), shape=shape)
    totals = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    roles = np.asarray([*symbol_roles, ""])[tree.symbol[states]]  # symbol -1, the start, has the role ""
    for role in sorted(set(symbol_roles)):
        rows = np.flatnonzero(roles == role)
        shares = sparse.csr_array(counts[rows].multiply(1.0 / totals[rows, None]))
        yield _Table(states[rows].astype(np.int32), shares, totals[rows])


def _pairs(tables: Sequence[_Table], low: float, high: float, classes: Ids) -> tuple[Ids, Ids]:
    """Pairs of states not yet united with phi in (low, high], most alike first."""
    first: list[Ids] = []
    second: list[Ids] = []
    phis: list[NDArray[np.float64]] = []
    for table in tables:
        for start in range(0, len(table.states), ROWS):
            i, j, phi = _block(table, start, low, high, classes[table.states])
            first.append(table.states[i])
            second.append(table.states[j])
            phis.append(phi)
    if not phis:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    a, b = np.concatenate(first), np.concatenate(second)
    order = np.lexsort((b, a, -np.concatenate(phis)))
    return a[order], b[order]


def _block(table: _Table, start: int, low: float, high: float, classes: Ids) -> tuple[Ints, Ints, NDArray[np.float64]]:
    """The pairs (row from `start` on, any later row) in range, by position in the table, with phi."""
    product = sparse.csr_array(table.shares[start : start + ROWS] @ table.shares[start:].T)
    slack = 1e-9
    near = np.flatnonzero((product.data > low - slack) & (product.data <= high + slack))
    i = np.searchsorted(product.indptr, near, side="right") - 1 + start
    j = product.indices[near].astype(np.int64) + start
    later = (j > i) & (classes[i] != classes[j])
    i, j, rough = i[later], j[later], product.data[near[later]]
    below = table.totals[i] * table.totals[j]
    phi = np.rint(rough * below) / below  # the counts are whole numbers: this is phi to the last bit
    exact = (phi > low) & (phi <= high)
    return i[exact], j[exact], phi[exact]
