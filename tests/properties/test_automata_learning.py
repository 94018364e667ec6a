"""Laws of learning: the fast tree and merging agree with plain ones, and nothing that was learned gets lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from random import Random
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.automata import Automaton, NavigationRouter, Round, TagSequence, learn_paper, merging
from dialoom.automata.encoding import encode
from dialoom.automata.tree import TagTree, build_tree

TAGS = st.lists(st.sampled_from("abcd"), max_size=3)


def dialogues(tags: st.SearchStrategy[list[str]] = TAGS, size: int = 14) -> st.SearchStrategy[list[TagSequence]]:
    """Conversations in which user and system alternate."""

    def name(talks: list[list[list[str]]]) -> list[TagSequence]:
        return [
            TagSequence(f"d{n:02}", tuple(Round(("user", "system")[k % 2], tuple(t)) for k, t in enumerate(talk)))
            for n, talk in enumerate(talks)
        ]

    return st.lists(st.lists(tags, max_size=4), min_size=1, max_size=size).map(name)


@st.composite
def any_roles(draw: st.DrawFn) -> list[TagSequence]:
    """Conversations in which anyone may speak twice in a row."""
    spoken = st.tuples(st.sampled_from(["user", "system", "tool"]), TAGS)
    talks = draw(st.lists(st.lists(spoken, max_size=4), min_size=1, max_size=10))
    return [TagSequence(f"d{n:02}", tuple(Round(role, tuple(t)) for role, t in talk)) for n, talk in enumerate(talks)]


# --- A plain tag tree: one state after the other, as figure 3 of the paper tells it. -------------------------------

Path = tuple[tuple[int, str], ...]


@dataclass
class PlainTree:
    """States by the (round, symbol) pairs that lead to them."""

    passing: dict[Path, set[str]] = field(default_factory=dict)
    ends: Counter[Path] = field(default_factory=Counter)


def plain_tree(sequences: list[TagSequence], tau: int) -> PlainTree:
    tree = PlainTree()
    by_id = {sequence.id: sequence for sequence in sequences}

    def round_below(path: Path, ids: set[str], number: int) -> None:
        """Build the round `number` of the dialogues that stand at a state, if they are enough."""
        going = {i for i in ids if len(by_id[i].rounds) > number}
        ended = ids - going
        if not going:
            tree.ends[path] += len(ended)
            return
        if len(ids) <= tau:
            tree.ends[path] += len(ended)
            return
        spoken = {i: by_id[i].rounds[number] for i in going}
        items = {i: frozenset(f"{said.role}:{tag}" for tag in said.tags) for i, said in spoken.items()}
        standing = {path: set(ended)}
        build(path, items, number, standing)
        for leaf, those in standing.items():
            if leaf == path or those:
                round_below(leaf, those, number + 1)

    def build(path: Path, items: dict[str, frozenset[str]], number: int, standing: dict[Path, set[str]]) -> None:
        waiting = dict(items)
        while any(waiting.values()):
            counts = Counter(tag for tags in waiting.values() for tag in tags)
            tag = min(counts, key=lambda name: (-counts[name], name))
            taken = {i: tags - {tag} for i, tags in waiting.items() if tag in tags}
            waiting = {i: tags for i, tags in waiting.items() if i not in taken}
            child = (*path, (number, tag))
            tree.passing[child] = set(taken)
            if len(taken) > tau:
                build(child, taken, number, standing)
            else:
                standing.setdefault(child, set()).update(i for i, tags in taken.items() if not tags)
        standing.setdefault(path, set()).update(waiting)

    tree.passing[()] = set(by_id)
    round_below((), set(by_id), 0)
    return tree


def by_path(tree: TagTree, sequences: list[TagSequence]) -> PlainTree:
    """The fast tree in the terms of the plain one."""
    encoded = encode(sequences)
    paths: list[Path] = [()]
    for node in range(1, len(tree)):
        step = (int(tree.round[node]), encoded.symbols[int(tree.symbol[node])])
        paths.append((*paths[int(tree.parent[node])], step))
    assert len(set(paths)) == len(paths)
    plain = PlainTree(
        {path: set() for path in paths}, Counter({p: int(e) for p, e in zip(paths, tree.ends, strict=True)})
    )
    for node, dialogue in zip(tree.visit_node.tolist(), tree.visit_dialogue.tolist(), strict=True):
        plain.passing[paths[node]].add(encoded.dialogues[dialogue])
    assert [len(plain.passing[path]) for path in paths] == tree.count.tolist()
    return plain


@settings(max_examples=150, deadline=None)
@given(st.one_of(dialogues(), any_roles()), st.integers(0, 4))
def test_that_the_fast_tree_is_the_plain_tree(sequences: list[TagSequence], tau: int) -> None:
    fast = by_path(build_tree(encode(sequences), tau), sequences)
    plain = plain_tree(sequences, tau)

    assert fast.passing == plain.passing
    assert +fast.ends == +plain.ends


# --- Plain merging: sets and scans. ----------------------------------------------------------------------------------


class PlainMerging:
    def __init__(self, tree: TagTree, symbols: tuple[str, ...], rule: float) -> None:
        self.parent = tree.parent.tolist()
        self.symbol = tree.symbol.tolist()
        self.roles = ["" if s < 0 else symbols[s].partition(":")[0] for s in self.symbol]
        self.of = list(range(len(tree)))
        self.rule = rule
        self.ids: list[set[int]] = [set() for _ in self.of]
        for node, dialogue in zip(tree.visit_node.tolist(), tree.visit_dialogue.tolist(), strict=True):
            self.ids[node].add(dialogue)
        self.fold()

    def passing(self, state: int) -> int:
        """|I| of the class of a state."""
        return len(set().union(*(ids for ids, c in zip(self.ids, self.of, strict=True) if c == self.of[state])))

    def children(self, state: int) -> dict[int, int]:
        return {
            self.symbol[child]: self.of[child]
            for child in range(1, len(self.of))
            if self.of[self.parent[child]] == self.of[state]
        }

    def total(self, state: int) -> int:
        return sum(self.passing(child) for child in self.children(state).values())

    def phi(self, a: int, b: int) -> float:
        left, right = self.children(a), self.children(b)
        shared = sum(self.passing(left[t]) * self.passing(right[t]) for t in left.keys() & right.keys())
        below = self.total(a) * self.total(b)
        return shared / below if below else 0.0

    def unite(self, a: int, b: int) -> None:
        old, new = sorted((self.of[a], self.of[b]))
        self.of = [old if c == new else c for c in self.of]
        self.fold()

    def fold(self) -> None:
        for one, two in combinations(range(1, len(self.of)), 2):
            same_source = self.of[self.parent[one]] == self.of[self.parent[two]]
            if same_source and self.symbol[one] == self.symbol[two] and self.of[one] != self.of[two]:
                self.unite(one, two)
                return

    def merge(self, threshold: float) -> None:
        """Merge pairs of one role from the most alike down; see the rules at the head of `dialoom.automata.merging`."""
        heads = sorted(set(self.of))
        pairs = [(a, b) for a, b in combinations(heads, 2) if self.roles[a] == self.roles[b]]
        alike = sorted(((-self.phi(a, b), a, b) for a, b in pairs))
        unlike: dict[tuple[int, int], tuple[float, float]] = {}
        for negative, a, b in alike:
            if -negative <= threshold or self.of[a] == self.of[b]:
                continue
            key = (min(self.of[a], self.of[b]), max(self.of[a], self.of[b]))
            totals = (self.total(key[0]), self.total(key[1]))
            if key in unlike and totals[0] < unlike[key][0] and totals[1] < unlike[key][1]:
                continue
            if self.phi(a, b) > threshold:
                self.unite(a, b)
            else:
                unlike[key] = (totals[0] * self.rule, totals[1] * self.rule)


def partition(classes: list[int]) -> set[frozenset[int]]:
    groups: dict[int, set[int]] = {}
    for state, name in enumerate(classes):
        groups.setdefault(name, set()).add(state)
    return {frozenset(group) for group in groups.values()}


@settings(max_examples=100, deadline=None)
@given(st.one_of(dialogues(size=9), any_roles()), st.sampled_from([0.0, 0.1, 0.3, 0.6]))
def test_that_fast_merging_is_plain_merging(sequences: list[TagSequence], threshold: float) -> None:
    """Compared anew after any growth, since the class that lends a pair its name is not the same in both."""
    encoded = encode(sequences)
    tree = build_tree(encoded, 0)
    roles = [name.partition(":")[0] for name in encoded.symbols]
    with patch.multiple(merging, ROWS=2, CHUNK=3, GROWTH=1.0):
        fast = merging.merge_states(tree, roles, threshold=threshold)
    plain = PlainMerging(tree, encoded.symbols, rule=1.0)
    plain.merge(threshold)

    assert partition(fast.classes().tolist()) == partition(plain.of)
    for state in set(plain.of):
        found = fast.find(state)
        assert fast.size[found] == plain.passing(state)
        assert fast.total[found] == plain.total(state)
        for other in set(plain.of):
            assert fast.similarity(found, fast.find(other)) == plain.phi(state, other)


@settings(max_examples=60, deadline=None)
@given(dialogues(size=20), st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([None, 0.2]))
def test_that_blocks_of_work_do_not_matter(sequences: list[TagSequence], threshold: float, share: float | None) -> None:
    whole = learn_paper(sequences, tau=0, threshold=threshold, merge_share=share)
    with patch.multiple(merging, ROWS=1, CHUNK=2, NARROWING=1.3):
        assert learn_paper(sequences, tau=0, threshold=threshold, merge_share=share) == whole


# --- Laws. -----------------------------------------------------------------------------------------------------------


def learned() -> st.SearchStrategy[tuple[list[TagSequence], Automaton]]:
    def learn(sequences: list[TagSequence], tau: int, threshold: float) -> tuple[list[TagSequence], Automaton]:
        return sequences, learn_paper(sequences, tau=tau, threshold=threshold)

    return st.builds(
        learn, st.one_of(dialogues(), any_roles()), st.integers(0, 3), st.sampled_from([0.0, 0.1, 0.5, 1.0])
    )


@settings(max_examples=80, deadline=None)
@given(learned())
def test_that_no_training_dialogue_is_lost(case: tuple[list[TagSequence], Automaton]) -> None:
    sequences, automaton = case

    assert automaton.dialogue_ids(0) == tuple(sorted(s.id for s in sequences))
    for state in automaton.states:
        assert state.count == len(automaton.dialogue_ids(state.id))
        assert state.ends <= state.count


@settings(max_examples=80, deadline=None)
@given(learned())
def test_that_delta_is_a_function_and_every_state_is_reached(case: tuple[list[TagSequence], Automaton]) -> None:
    _, automaton = case
    keys = [(source, name) for source, name, _, _ in automaton.transitions]

    assert len(set(keys)) == len(keys)
    reached, waiting = {0}, [0]
    while waiting:
        for target in automaton.outgoing(waiting.pop()).values():
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    assert reached == set(range(len(automaton)))
    assert len({state.name for state in automaton.states}) == len(automaton)


@settings(max_examples=80, deadline=None)
@given(learned())
def test_that_roles_are_never_mixed(case: tuple[list[TagSequence], Automaton]) -> None:
    _, automaton = case

    for _, name, target, _ in automaton.transitions:
        assert automaton.states[target].role == name.partition(":")[0]


@settings(max_examples=80, deadline=None)
@given(dialogues(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3)), st.integers(0, 3))
def test_that_walking_a_training_dialogue_passes_the_states_that_keep_it(
    sequences: list[TagSequence], tau: int
) -> None:
    """With tau > 0 a dialogue that stopped may be led further along the path of others, never less far."""
    tree = learn_paper(sequences, tau=tau, threshold=1.0)
    router = NavigationRouter(tree)
    walked: dict[int, set[str]] = {state.id: set() for state in tree.states}
    for sequence in sequences:
        for state in {0, *(step.state for step in router.route(sequence.rounds).path)}:
            walked[state].add(sequence.id)

    for state, ids in walked.items():
        assert set(tree.dialogue_ids(state)) <= ids
        if tau == 0:
            assert set(tree.dialogue_ids(state)) == ids


@settings(max_examples=80, deadline=None)
@given(dialogues(), st.integers(0, 3), st.floats(0.0, 1.0))
def test_that_merging_never_lowers_coverage(sequences: list[TagSequence], tau: int, threshold: float) -> None:
    """Every word the tree reads is read by the merged automaton, and leads to a state that keeps the dialogue."""
    tree = learn_paper(sequences, tau=tau, threshold=1.0)
    merged = learn_paper(sequences, tau=tau, threshold=threshold)
    router = NavigationRouter(tree)
    for sequence in sequences:
        last, state = 0, 0
        for step in router.route(sequence.rounds).path:
            found = merged.step(state, step.symbol)
            assert found is not None
            last, state = step.state, found
        assert set(tree.dialogue_ids(last)) <= set(merged.dialogue_ids(state))
        assert merged.states[state].ends >= tree.states[last].ends


@settings(max_examples=40, deadline=None)
@given(dialogues(), st.randoms(use_true_random=False), st.sampled_from([None, 0.05, 0.3]))
def test_that_the_order_of_files_does_not_matter(
    sequences: list[TagSequence], random: Random, share: float | None
) -> None:
    shuffled = list(sequences)
    random.shuffle(shuffled)
    turned = [
        TagSequence(s.id, tuple(Round(said.role, tuple(reversed(said.tags))) for said in s.rounds)) for s in shuffled
    ]

    assert learn_paper(sequences, tau=1, merge_share=share) == learn_paper(turned, tau=1, merge_share=share)


@settings(max_examples=40, deadline=None)
@given(dialogues(), st.sampled_from([0.1, 1.0]))
def test_that_no_fewer_passages_lead_into_a_state_than_it_has_dialogues(
    sequences: list[TagSequence], threshold: float
) -> None:
    automaton = learn_paper(sequences, tau=0, threshold=threshold)
    into = Counter[int]()
    for _, _, target, traffic in automaton.transitions:
        into[target] += traffic

    assert all(into[state.id] >= state.count for state in automaton.states[1:])
