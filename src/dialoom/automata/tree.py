"""The tag tree (DFA-RAG sec. 3.2.2, figure 3, App. B), all nodes of a level at once.

How the algorithm is read where the paper leaves a choice:

- A symbol is a role with a tag, so the alphabets of the speakers are disjoint.
- Building below a state takes the dialogues that stand there. The most frequent tag among those not yet placed makes
  a child that takes every dialogue with the tag; counts are renewed after each choice, ties go to the first in
  spelling. The other dialogues of a child are built below it in the same way while it has more than tau of them.
- A dialogue whose tags of the round are used up stands at the state it has reached. Every state where more than tau
  dialogues stand is a root for their next round ("leaf"): the leaf is the root itself, there are no empty moves.
- A dialogue in a child of tau or fewer stops there, unless its tags are used up and it has no further round.
- A round without tags leaves its dialogue where it stands.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dialoom.automata.encoding import Encoded, Ids, Ints, slices


@dataclass(frozen=True, slots=True)
class TagTree:
    """The tree before merging; node 0 is the start and parents come before children.

    Nodes: `parent`, `symbol` (index into the symbols; -1 at the start), `round`, `count` = |I(q)|, `ends` = dialogues
    complete there. Passages: dialogue `visit_dialogue[i]` goes through node `visit_node[i]`. Two children of a node
    can share a symbol only where neighbouring rounds share a role; folding unites them.
    """

    parent: Ids
    symbol: Ids
    round: Ids
    count: Ids
    ends: Ids
    visit_node: Ids
    visit_dialogue: Ids

    def __len__(self) -> int:
        return len(self.parent)


@dataclass(slots=True)
class _Growth:
    """Columns of the tree under construction, a list of chunks each."""

    tau: int
    symbols: int
    parent: list[Ints]
    symbol: list[Ints]
    round: list[Ints]
    count: list[Ints]
    visit_node: list[Ids]
    visit_dialogue: list[Ids]
    size: int = 1


def build_tree(encoded: Encoded, tau: int = 5) -> TagTree:
    """The tag tree of all dialogues; a state is split only if more than `tau` dialogues stand at it.

    Time is near linear in the number of tags: each level sorts the tags left once, and decides all choices that
    cannot influence each other together.
    """
    dialogues = len(encoded.dialogues)
    growth = _Growth(tau, max(1, len(encoded.symbols)), [], [], [], [], [], [])
    lengths = np.diff(encoded.round_offsets)
    standing = np.zeros(dialogues, dtype=np.int64)
    for number in range(int(lengths.max(initial=0))):
        crowd = np.bincount(standing[standing >= 0], minlength=growth.size)
        splits = (standing >= 0) & (lengths > number) & (crowd[np.maximum(standing, 0)] > tau)
        stops = (standing >= 0) & (lengths > number) & ~splits
        standing[stops] = -1
        if splits.any():
            _grow_round(growth, encoded, number, np.flatnonzero(splits), standing)
    return _finish(growth, dialogues, completed=standing[standing >= 0])


def _grow_round(growth: _Growth, encoded: Encoded, number: int, dialogues: Ints, standing: Ints) -> None:
    """Place every dialogue of `dialogues` by its tags in round `number`; updates `standing` (-1: stopped)."""
    rounds = encoded.round_offsets[dialogues] + number
    starts = encoded.tag_offsets[rounds]
    sizes = encoded.tag_offsets[rounds + 1] - starts
    tags = encoded.tags[slices(starts, sizes)]
    item = np.repeat(np.arange(len(dialogues), dtype=np.int64), sizes)
    node = standing[dialogues]
    while len(item):
        group, group_node, group_symbol = _groups(node[item], tags, growth.symbols)
        chosen = _choose(item, group, growth.symbols - 1 - tags.astype(np.int64), growth.symbols, len(node))
        kept = chosen >= 0  # items without tags left stand where they are
        child, count = _add_children(growth, number, chosen[kept], group_node, group_symbol)
        node[kept] = child
        growth.visit_node.append(child.astype(np.int32))
        growth.visit_dialogue.append(dialogues[kept].astype(np.int32))
        left = group != chosen[item]
        left_each = np.bincount(item[left], minlength=len(node))
        small = np.zeros(len(node), dtype=bool)
        small[kept] = count <= growth.tau
        standing[dialogues] = np.where(small & (left_each > 0), -1, node)
        goes_on = (left_each > 0) & ~small
        stays = left & goes_on[item]
        renumbered = np.cumsum(goes_on) - 1
        item, tags = renumbered[item[stays]], tags[stays]
        dialogues, node = dialogues[goes_on], node[goes_on]


def _groups(node: Ints, tags: Ids, symbols: int) -> tuple[Ints, Ints, Ints]:
    """Number the (node, tag) pairs: the number of each occurrence, then node and tag of each number."""
    key = node * symbols + tags
    order = np.argsort(key)
    ordered = key[order]
    fresh = np.empty(len(key), dtype=bool)
    fresh[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    group = np.empty(len(key), dtype=np.int64)
    group[order] = np.cumsum(fresh) - 1
    distinct = ordered[fresh]
    return group, distinct // symbols, distinct % symbols


def _choose(item: Ints, group: Ints, tie: Ints, symbols: int, items: int) -> Ints:
    """The group that takes each item (-1 without tags), as choosing the most frequent tag again and again would.

    A tag that is more frequent than every tag it occurs with stays so until it is chosen: choices elsewhere lower the
    counts of others only. So all such tags of all nodes are chosen in one pass; then counts are renewed.
    """
    chosen = np.full(items, -1, dtype=np.int64)
    groups = int(group.max(initial=-1)) + 1
    while len(item):
        priority = np.bincount(group, minlength=groups)[group] * symbols + tie
        first = np.flatnonzero(np.concatenate(([True], item[1:] != item[:-1])))
        best = np.maximum.reduceat(priority, first)
        beaten = priority < np.repeat(best, np.diff(np.append(first, len(item))))
        blocked = np.zeros(groups, dtype=bool)
        blocked[group[beaten]] = True
        wins = ~beaten & ~blocked[group]
        chosen[item[wins]] = group[wins]
        waiting = chosen[item] < 0
        item, group, tie = item[waiting], group[waiting], tie[waiting]
    return chosen


def _add_children(
    growth: _Growth, number: int, chosen: Ints, group_node: Ints, group_symbol: Ints
) -> tuple[Ints, Ints]:
    """Append a node for each chosen group; the new node and its size for each item."""
    sizes = np.bincount(chosen, minlength=len(group_node))
    used = np.flatnonzero(sizes)
    used = used[np.lexsort((group_symbol[used], -sizes[used], group_node[used]))]
    number_of = np.empty(len(sizes), dtype=np.int64)
    number_of[used] = growth.size + np.arange(len(used))
    growth.parent.append(group_node[used])
    growth.symbol.append(group_symbol[used])
    growth.count.append(sizes[used])
    growth.round.append(np.full(len(used), number, dtype=np.int64))
    growth.size += len(used)
    return number_of[chosen], sizes[chosen]


def _finish(growth: _Growth, dialogues: int, completed: Ints) -> TagTree:
    everyone = np.arange(dialogues, dtype=np.int32)

    def column(first: int, chunks: list[Ints]) -> Ids:
        return np.concatenate([np.asarray([first], dtype=np.int32), *(chunk.astype(np.int32) for chunk in chunks)])

    return TagTree(
        parent=column(-1, growth.parent),
        symbol=column(-1, growth.symbol),
        round=column(-1, growth.round),
        count=column(dialogues, growth.count),
        ends=np.bincount(completed, minlength=growth.size).astype(np.int32),
        visit_node=np.concatenate([np.zeros(dialogues, dtype=np.int32), *growth.visit_node]),
        visit_dialogue=np.concatenate([everyone, *growth.visit_dialogue]),
    )
