"""Tree states united into classes, kept deterministic: the ground that state merging works on."""

from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np

from dialoom.automata.encoding import Ids
from dialoom.automata.tree import TagTree


class Partition:
    """Classes of tree states with T(q), |I(q)| and the sums of phi_sim, all kept up to date by `unite`.

    |I| of a class is exact: the ids of a tree state are a subset of its parent's, so the union of many is the sum over
    the members without an ancestor in the class. `members` holds these, in preorder, for classes of several states.
    """

    def __init__(self, tree: TagTree) -> None:
        self.size: list[int] = tree.count.tolist()
        self.total = [0] * len(tree)
        self.states = len(tree)
        self._class = list(range(len(tree)))
        self._children: dict[int, dict[int, int]] = {}
        self._parents: dict[int, dict[int, int]] = {}
        self._members: dict[int, list[int]] = {}
        self._preorder, self._end, self._at = _preorder(tree)
        same: list[tuple[int, int]] = []
        for child, (parent, name) in enumerate(zip(tree.parent.tolist(), tree.symbol.tolist(), strict=True)):
            if parent >= 0:
                first = self._children.setdefault(parent, {}).setdefault(name, child)
                if first != child:
                    same.append((first, child))
                    continue
                self._parents[child] = {parent: 1}
                self.total[parent] += self.size[child]
        for first, child in same:
            self.unite(first, child)

    def find(self, state: int) -> int:
        """The class of a tree state."""
        classes = self._class
        root = state
        while classes[root] != root:
            root = classes[root]
        while classes[state] != root:
            classes[state], state = root, classes[state]
        return root

    def classes(self) -> Ids:
        """The class of every tree state."""
        found = np.asarray(self._class, dtype=np.int32)
        while not np.array_equal(found, above := found[found]):
            found = above
        return found

    def overlap(self, a: int, b: int) -> int:
        """Sum over the tags that leave both classes of |I| times |I|: the numerator of phi_sim."""
        few, many = self._children.get(a, {}), self._children.get(b, {})
        if len(few) > len(many):
            few, many = many, few
        size, classes, find = self.size, self._class, self.find
        shared = 0
        for name, child in few.items():
            other = many.get(name)
            if other is not None:
                one, two = classes[child], classes[other]  # mostly the class already; `find` is called where not
                one = one if classes[one] == one else find(one)
                two = two if classes[two] == two else find(two)
                shared += size[one] * size[two]
        return shared

    def similarity(self, a: int, b: int) -> float:
        """phi_sim (DFA-RAG sec. 3.2.3) of two classes, in [0, 1]; 0.0 if no tag leaves one of them."""
        below = self.total[a] * self.total[b]
        return self.overlap(a, b) / below if below else 0.0

    def unite(self, a: int, b: int) -> None:
        """Merge two classes, and whatever must be merged with them so that every tag leads to one class."""
        pending = [(a, b)]
        while pending:
            a, b = (self.find(state) for state in pending.pop())
            if a != b:
                if len(self._children.get(a, ())) + len(self._parents.get(a, ())) < len(
                    self._children.get(b, ())
                ) + len(self._parents.get(b, ())):
                    a, b = b, a
                self._absorb(a, b, pending)

    def _absorb(self, a: int, b: int, pending: list[tuple[int, int]]) -> None:
        """Make `b` part of `a`; children on equal tags are left to do in `pending`."""
        self._move_children(a, b, pending)
        size = self._unite_members(a, b)
        above, moved = self._parents.setdefault(a, {}), self._parents.pop(b, {})
        total, growth = self.total, size - self.size[a]
        if growth:
            for parent, times in above.items():
                total[parent] += growth * times
        growth = size - self.size[b]
        for parent, times in moved.items():
            total[parent] += growth * times
            above[parent] = above.get(parent, 0) + times
        self.size[a] = size
        self._class[b] = a
        self.states -= 1

    def _move_children(self, a: int, b: int, pending: list[tuple[int, int]]) -> None:
        moving = self._children.pop(b, None)
        if not moving:
            return
        own = self._children.setdefault(a, {})
        for name, child in moving.items():
            target = self.find(child)
            parents = self._parents[target]
            if parents[b] == 1:
                del parents[b]
            else:
                parents[b] -= 1
            if name in own:
                pending.append((own[name], target))
            else:
                own[name] = target
                parents[a] = parents.get(a, 0) + 1
                self.total[a] += self.size[target]

    def _unite_members(self, a: int, b: int) -> int:
        """|I(a) united with I(b)|; the members of the class that stays are updated."""
        many = self._members.pop(a, None) or [int(self._preorder[a])]
        few = self._members.pop(b, None) or [int(self._preorder[b])]
        size = self.size[a]
        if len(few) > len(many):
            many, few, size = few, many, self.size[b]
        for place in few:
            size += self._insert(many, place)
        self._members[a] = many
        return size

    def _insert(self, members: list[int], place: int) -> int:
        """Add the state at a preorder place to the topmost members; how many dialogues that adds."""
        at = bisect_left(members, place)
        if at and self._end[members[at - 1]] > place:
            return 0
        stop = bisect_left(members, self._end[place])
        if stop == at:
            insort(members, place)
            return int(self._at[place])
        covered = sum(self._at[inner] for inner in members[at:stop])
        members[at:stop] = [place]
        return int(self._at[place]) - covered


def _preorder(tree: TagTree) -> tuple[list[int], list[int], list[int]]:
    """The preorder place of each state; for each place, the place after its subtree and |I| of its state."""
    parents = tree.parent.tolist()
    below = [1] * len(parents)
    for state in range(len(parents) - 1, 0, -1):
        below[parents[state]] += below[state]
    place = [0] * len(parents)
    free = [1] * len(parents)
    for state in range(1, len(parents)):
        parent = parents[state]
        place[state] = free[parent]
        free[parent] += below[state]
        free[state] = place[state] + 1
    end, at = [0] * len(parents), [0] * len(parents)
    for state, count in enumerate(tree.count.tolist()):
        end[place[state]] = place[state] + below[state]
        at[place[state]] = count
    return place, end, at
