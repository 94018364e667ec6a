"""The automaton itself: states, deterministic transitions on symbols, and I(q), the dialogues through each state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dialoom.errors import UnknownName

START = 0


def symbol(role: str, tag: str) -> str:
    """The input symbol of `tag` spoken by `role`; the same tag in another role is another symbol."""
    return f"{role}:{tag}"


class Transition(NamedTuple):
    """delta(source, symbol) = target, taken `traffic` times in training."""

    source: int
    symbol: str
    target: int
    traffic: int


class Visit(NamedTuple):
    """One passage of a training dialogue through a state: after round `round` (0-based) of `dialogue_id`."""

    dialogue_id: str
    round: int


@dataclass(frozen=True, slots=True)
class State:
    """A state of Q. `role` and `tag` are those of the symbol that leads in (empty at the start state).

    `count` is |I(q)|, the dialogues through it; `ends` those that end in it, and q is an accept state if there are any.
    `samples` are strings to show a reader; automata never look into them.
    """

    id: int
    name: str
    role: str
    tag: str
    count: int
    ends: int = 0
    samples: tuple[str, ...] = ()

    @property
    def accept(self) -> bool:
        """Whether q is in F."""
        return self.ends > 0


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """(Q, Sigma, delta, q0, F) with I(q) (DFA-RAG sec. 3.1). State ids are 0..n-1 and q0 is 0.

    Two automata are equal when every part is: states, transitions in order, dialogues, visits and metadata.
    `visit_offsets` (n + 1) slices `visit_dialogue` (index into `dialogues`) and `visit_round` into the visits of each
    state, ordered by dialogue then round.
    """

    states: tuple[State, ...]
    transitions: tuple[Transition, ...]
    dialogues: tuple[str, ...]
    visit_offsets: NDArray[np.int64]
    visit_dialogue: NDArray[np.int32]
    visit_round: NDArray[np.int32]
    metadata: Mapping[str, object] = field(default_factory=dict)
    _delta: dict[int, dict[str, int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        delta: dict[int, dict[str, int]] = {}
        for source, name, target, _ in self.transitions:
            if delta.setdefault(source, {}).setdefault(name, target) != target:
                raise ValueError(f"state {source} has two transitions on '{name}'")
        object.__setattr__(self, "_delta", delta)

    def __len__(self) -> int:
        return len(self.states)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Automaton):
            return NotImplemented
        return (
            (self.states, self.transitions, self.dialogues) == (other.states, other.transitions, other.dialogues)
            and dict(self.metadata) == dict(other.metadata)
            and np.array_equal(self.visit_offsets, other.visit_offsets)
            and np.array_equal(self.visit_dialogue, other.visit_dialogue)
            and np.array_equal(self.visit_round, other.visit_round)
        )

    __hash__ = None  # type: ignore[assignment]

    def step(self, state: int, name: str) -> int | None:
        """delta(q, symbol), or None where it is not defined."""
        return self._delta.get(state, {}).get(name)

    def outgoing(self, state: int) -> Mapping[str, int]:
        """T(q) with targets: symbol -> state."""
        self.state(state)
        return self._delta.get(state, {})

    def state(self, state: int) -> State:
        """The state with this id. Raises `UnknownName` for a foreign id."""
        if not 0 <= state < len(self.states):
            raise UnknownName("state", str(state), (f"0..{len(self.states) - 1}",))
        return self.states[state]

    def visits(self, state: int) -> Sequence[Visit]:
        """Where training dialogues pass through q, ordered by dialogue then round."""
        self.state(state)
        span = slice(int(self.visit_offsets[state]), int(self.visit_offsets[state + 1]))
        return [
            Visit(self.dialogues[d], int(r))
            for d, r in zip(self.visit_dialogue[span], self.visit_round[span], strict=True)
        ]

    def dialogue_ids(self, state: int) -> tuple[str, ...]:
        """I(q): ids of the dialogues through q, in the order of `dialogues`, each once."""
        self.state(state)
        span = slice(int(self.visit_offsets[state]), int(self.visit_offsets[state + 1]))
        return tuple(self.dialogues[d] for d in np.unique(self.visit_dialogue[span]))


def pack_visits(
    per_state: Sequence[Iterable[tuple[int, int]]],
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Offsets, dialogue indices and rounds of `Automaton` from (dialogue index, round) pairs of each state."""
    sizes = []
    pairs: list[tuple[int, int]] = []
    for visits in per_state:
        ordered = sorted(set(visits))
        sizes.append(len(ordered))
        pairs.extend(ordered)
    offsets = np.concatenate(([0], np.cumsum(np.asarray(sizes, dtype=np.int64)))).astype(np.int64)
    flat = np.asarray(pairs, dtype=np.int32).reshape(-1, 2)
    return offsets, flat[:, 0].copy(), flat[:, 1].copy()
