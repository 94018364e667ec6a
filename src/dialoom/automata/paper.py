"""The `paper` strategy: tag tree and state merging of DFA-RAG (sec. 3.2, App. B), as an `Automaton`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dialoom.automata.automaton import Automaton, State, Transition
from dialoom.automata.encoding import Encoded, Ids, Ints, encode, offsets
from dialoom.automata.merging import merge_states
from dialoom.automata.symbols import TagSequence
from dialoom.automata.tree import TagTree, build_tree
from dialoom.errors import UsageError


def learn_paper(
    sequences: Iterable[TagSequence], *, tau: int = 5, threshold: float = 0.1, merge_share: float | None = None
) -> Automaton:
    """Learn an automaton as DFA-RAG does; equal for equal dialogues, whatever their order.

    A state splits only if more than `tau` dialogues stand at it. States with phi_sim above `threshold` are merged; with
    `merge_share` (the paper reports 0.05) the most alike are merged until that share of the states is gone, and the
    threshold is not used. A threshold of 1 merges nothing. `metadata["roles"]` has a letter per round of each dialogue.

    Raises `NothingToLearn` without dialogues, `UsageError` for two dialogues of one id or a setting out of range.
    """
    _check(tau, threshold, merge_share)
    encoded = encode(sequences)
    tree = build_tree(encoded, tau)
    roles = [name.partition(":")[0] for name in encoded.symbols]
    classes = merge_states(tree, roles, threshold=threshold, merge_share=merge_share).classes()
    return _assemble(encoded, tree, classes, {"tau": tau, "threshold": threshold, "merge_share": merge_share})


def _check(tau: int, threshold: float, merge_share: float | None) -> None:
    if tau < 0:
        raise UsageError(f"tau is {tau}, and must be 0 or more.", hint="The paper uses 5.")
    if not 0.0 <= threshold <= 1.0:
        raise UsageError(f"The merge threshold is {threshold}, and must be in 0..1.", hint="The paper uses 0.1.")
    if merge_share is not None and not 0.0 <= merge_share < 1.0:
        raise UsageError(f"The merge share is {merge_share}, and must be from 0 to below 1.", hint="Try 0.05.")


def _assemble(encoded: Encoded, tree: TagTree, classes: Ids, settings: dict[str, object]) -> Automaton:
    source, name, target, traffic = _edges(tree, classes)
    number = _breadth_first(source, name, target, traffic, len(tree))
    state_of = number[classes]
    source, target = number[source], number[target]
    order = np.lexsort((name, source))
    source, name, target, traffic = source[order], name[order], target[order], traffic[order]
    states = int(state_of.max()) + 1
    starts, dialogue, round_ = _visits(tree, state_of, states)
    ends = np.bincount(state_of, weights=tree.ends, minlength=states).astype(np.int64)
    first = np.ones(len(dialogue), dtype=np.int64)
    first[1:] = dialogue[1:] != dialogue[:-1]
    first[starts[:-1]] = 1
    counts = np.add.reduceat(first, starts[:-1])
    symbols = encoded.symbols
    return Automaton(
        states=_states(_entered_by(target, name, traffic, states), symbols, counts.tolist(), ends.tolist()),
        transitions=tuple(
            Transition(q, symbols[s], p, n)
            for q, s, p, n in zip(source.tolist(), name.tolist(), target.tolist(), traffic.tolist(), strict=True)
        ),
        dialogues=encoded.dialogues,
        visit_offsets=starts,
        visit_dialogue=dialogue,
        visit_round=round_,
        metadata={"strategy": "paper", **settings, "roles": list(encoded.roles)},
    )


def _edges(tree: TagTree, classes: Ids) -> tuple[Ints, Ints, Ints, Ints]:
    """The transitions between classes: source, symbol, target, traffic."""
    source = classes[tree.parent[1:]].astype(np.int64)
    name = tree.symbol[1:].astype(np.int64)
    key = source * (int(name.max(initial=0)) + 1) + name
    _, at, edge = np.unique(key, return_index=True, return_inverse=True)
    traffic = np.bincount(edge, weights=tree.count[1:], minlength=len(at)).astype(np.int64)
    return source[at], name[at], classes[1:][at].astype(np.int64), traffic


def _breadth_first(source: Ints, name: Ints, target: Ints, traffic: Ints, size: int) -> Ints:
    """New numbers of the classes: breadth first from the start, the most travelled transition first."""
    order = np.lexsort((name, -traffic, source))
    targets = target[order].tolist()
    begin = offsets(np.bincount(source, minlength=size)).tolist()
    number = np.full(size, -1, dtype=np.int64)
    number[0] = 0
    queue = [0]
    seen = bytearray(size)
    seen[0] = 1
    for state in queue:
        for child in targets[begin[state] : begin[state + 1]]:
            if not seen[child]:
                seen[child] = 1
                number[child] = len(queue)
                queue.append(child)
    return number


def _visits(tree: TagTree, state_of: Ints, states: int) -> tuple[Ints, Ids, Ids]:
    """Visits by state, then dialogue, then round, each once."""
    state = state_of[tree.visit_node]
    round_ = tree.round[tree.visit_node]
    order = np.lexsort((round_, tree.visit_dialogue, state))
    state, dialogue, round_ = state[order], tree.visit_dialogue[order], round_[order]
    fresh = np.ones(len(state), dtype=bool)
    fresh[1:] = (state[1:] != state[:-1]) | (dialogue[1:] != dialogue[:-1]) | (round_[1:] != round_[:-1])
    return offsets(np.bincount(state[fresh], minlength=states)), dialogue[fresh], round_[fresh]


def _entered_by(target: Ints, name: Ints, traffic: Ints, states: int) -> Ints:
    """The symbol that leads into each state most often; -1 at the start. Ties: first in spelling."""
    pairs, at = np.unique(np.stack((target, name)), axis=1, return_inverse=True)
    travelled = np.bincount(at, weights=traffic, minlength=pairs.shape[1])
    order = np.lexsort((pairs[1], -travelled, pairs[0]))
    entered = np.full(states, -1, dtype=np.int64)
    entered[pairs[0][order][::-1]] = pairs[1][order][::-1]
    return entered


def _states(entered: Ints, symbols: Sequence[str], counts: list[int], ends: list[int]) -> tuple[State, ...]:
    """States named by the symbol that leads in; the busiest of several has the plain name, the others a number."""
    names = [""] * len(counts)
    names[0] = "start"
    taken = {"start"}
    used: dict[int, int] = {}
    entries = entered.tolist()
    for state in np.lexsort((np.arange(len(counts)), -np.asarray(counts))).tolist():
        if state == 0:
            continue
        plain = symbols[entries[state]]
        name = plain
        while name in taken:
            used[entries[state]] = used.get(entries[state], 1) + 1
            name = f"{plain} ({used[entries[state]]})"
        taken.add(name)
        names[state] = name
    states = []
    for state, (name, count, end) in enumerate(zip(names, counts, ends, strict=True)):
        role, _, tag = symbols[entries[state]].partition(":") if state else ("", "", "")
        states.append(State(state, name, role, tag, count, end))
    return tuple(states)
