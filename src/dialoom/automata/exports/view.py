"""What a drawing shows: the part of an automaton near the start that enough dialogues pass (DFA-RAG App. D)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dialoom.automata.automaton import START, Automaton, State, Transition
from dialoom.errors import UsageError


@dataclass(frozen=True, slots=True)
class View:
    """States by id and the transitions between them; `depth` counts transitions from the start.

    `hidden` states were left out; `dialogues` are all that were learned from.
    """

    states: tuple[State, ...]
    transitions: tuple[Transition, ...]
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
    automaton: Automaton, *, max_depth: int | None = None, min_dialogues: int = 1, max_states: int | None = None
) -> View:
    """The states within `max_depth` transitions of the start that at least `min_dialogues` pass.

    Where these are more than `max_states`, the busiest are kept; every state shown is reached by states shown.
    Raises `UsageError` for a negative depth or less than one state.
    """
    if max_depth is not None and max_depth < 0:
        raise UsageError(f"The depth is {max_depth}, and must be 0 or more.")
    if max_states is not None and max_states < 1:
        raise UsageError(f"At most {max_states} states are asked for; at least the start is shown.")
    busy = [state.count >= min_dialogues for state in automaton.states]
    busy[START] = True
    depth = _depths(automaton, busy, max_depth)
    chosen = _busiest(automaton, depth, len(depth) if max_states is None else max_states)
    kept = sorted(chosen)
    return View(
        states=tuple(automaton.states[state] for state in kept),
        transitions=tuple(t for t in automaton.transitions if t.source in chosen and t.target in chosen),
        depth=_depths(automaton, [state.id in chosen for state in automaton.states], None),
        hidden=len(automaton) - len(kept),
        dialogues=len(automaton.dialogues),
    )


def _depths(automaton: Automaton, allowed: list[bool], max_depth: int | None) -> dict[int, int]:
    depth = {START: 0}
    queue = [START]
    for state in queue:
        if max_depth is not None and depth[state] >= max_depth:
            continue
        for target in automaton.outgoing(state).values():
            if allowed[target] and target not in depth:
                depth[target] = depth[state] + 1
                queue.append(target)
    return depth


def _busiest(automaton: Automaton, allowed: Iterable[int], limit: int) -> set[int]:
    """Grow from the start, always by the busiest state that can be reached."""
    within = set(allowed)
    chosen: set[int] = set()
    waiting = [(0, START)]
    while waiting and len(chosen) < limit:
        _, state = heapq.heappop(waiting)
        if state in chosen:
            continue
        chosen.add(state)
        for target in automaton.outgoing(state).values():
            if target in within and target not in chosen:
                heapq.heappush(waiting, (-automaton.states[target].count, target))
    return chosen
