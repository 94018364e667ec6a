"""What a drawing shows: the part of an automaton near the start that enough dialogues pass (DFA-RAG App. D)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dialoom.automata.automaton import START, Automaton, State, Transition
from dialoom.errors import UsageError


@dataclass(frozen=True, slots=True)
class View:
    """States by id and the transitions between them.

    `ways_in` has the busiest transition into each state but the start, a tree; `depth` is the depth in it. `hidden`
    states were left out; `dialogues` are all that were learned from.
    """

    states: tuple[State, ...]
    transitions: tuple[Transition, ...]
    ways_in: Mapping[int, Transition]
    depth: Mapping[int, int]
    hidden: int
    dialogues: int
    _tags: dict[int, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_tags", {state.id: state.tag for state in self.states})

    def label(self, transition: Transition) -> str:
        """What to write on an arrow: its tag where it is not the one its target is labelled with, and its traffic."""
        _, _, tag = transition.symbol.partition(":")
        return f"{transition.traffic}" if tag == self._tags[transition.target] else f"{tag} {transition.traffic}"


def view(
    automaton: Automaton,
    *,
    max_depth: int | None = None,
    min_dialogues: int = 1,
    max_states: int | None = None,
    max_transitions: int | None = None,
) -> View:
    """The states within `max_depth` transitions of the start that at least `min_dialogues` pass.

    Where these are more than `max_states`, the busiest are kept; every state shown is reached by states shown. Of the
    transitions between them at most `max_transitions` are kept beside the busiest way into each state.
    Raises `UsageError` for a negative depth or less than one state.
    """
    if max_depth is not None and max_depth < 0:
        raise UsageError(f"The depth is {max_depth}, and must be 0 or more.")
    if max_states is not None and max_states < 1:
        raise UsageError(f"At most {max_states} states are asked for; at least the start is shown.")
    busy = [state.count >= min_dialogues for state in automaton.states]
    busy[START] = True
    near = _near(automaton, busy, max_depth)
    chosen = _busiest(automaton, near, len(near) if max_states is None else max_states)
    between = [t for t in automaton.transitions if t.source in chosen and t.target in chosen]
    ways_in, depth = _tree(between)
    if max_transitions is not None:
        others = sorted((t for t in between if ways_in.get(t.target) is not t), key=lambda t: (-t.traffic, t))
        kept = {*ways_in.values(), *others[:max_transitions]}
        between = [t for t in between if t in kept]
    return View(
        states=tuple(automaton.states[state] for state in sorted(chosen)),
        transitions=tuple(between),
        ways_in=ways_in,
        depth=depth,
        hidden=len(automaton) - len(chosen),
        dialogues=len(automaton.dialogues),
    )


def _near(automaton: Automaton, allowed: list[bool], max_depth: int | None) -> set[int]:
    """States within so many transitions of the start, through allowed states."""
    depth = {START: 0}
    queue = [START]
    for state in queue:
        if max_depth is not None and depth[state] >= max_depth:
            continue
        for target in automaton.outgoing(state).values():
            if allowed[target] and target not in depth:
                depth[target] = depth[state] + 1
                queue.append(target)
    return set(depth)


def _busiest(automaton: Automaton, allowed: set[int], limit: int) -> set[int]:
    """Grow from the start, always by the busiest state that can be reached."""
    chosen: set[int] = set()
    waiting = [(0, START)]
    while waiting and len(chosen) < limit:
        _, state = heapq.heappop(waiting)
        if state in chosen:
            continue
        chosen.add(state)
        for target in automaton.outgoing(state).values():
            if target in allowed and target not in chosen:
                heapq.heappush(waiting, (-automaton.states[target].count, target))
    return chosen


def _tree(transitions: Iterable[Transition]) -> tuple[dict[int, Transition], dict[int, int]]:
    """Grow a tree from the start, always by the busiest transition into a new state; and the depths in it."""
    leaving: dict[int, list[Transition]] = {}
    for transition in transitions:
        leaving.setdefault(transition.source, []).append(transition)
    ways_in: dict[int, Transition] = {}
    depth = {START: 0}
    waiting = [(-way.traffic, way) for way in leaving.get(START, ())]
    heapq.heapify(waiting)
    while waiting:
        _, way = heapq.heappop(waiting)
        if way.target not in depth:
            ways_in[way.target] = way
            depth[way.target] = depth[way.source] + 1
            for further in leaving.get(way.target, ()):
                heapq.heappush(waiting, (-further.traffic, further))
    return ways_in, depth
