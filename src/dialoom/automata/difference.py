"""What changed between two automata: states and transitions that came, went, lead elsewhere or shifted traffic."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dialoom.automata.automaton import START, Automaton, State, Transition
from dialoom.errors import UsageError


@dataclass(frozen=True, slots=True)
class StateShift:
    """A state of both automata through which another share of all dialogues goes (`before`, `after`, in [0, 1])."""

    name: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class TransitionShift:
    """A transition of both automata taken by another share of the traffic that leaves its state.

    `traffic` is what takes it in both together.
    """

    source: str
    symbol: str
    traffic: int
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Move:
    """A transition by names. `share` is that of the traffic that leaves its source."""

    source: str
    symbol: str
    target: str
    traffic: int
    share: float


@dataclass(frozen=True, slots=True)
class Difference:
    """From one automaton to another; everything largest first. Names are those of the later one where it has them."""

    states_came: tuple[State, ...]
    states_went: tuple[State, ...]
    states_shifted: tuple[StateShift, ...]
    transitions_came: tuple[Move, ...]
    transitions_went: tuple[Move, ...]
    transitions_redirected: tuple[tuple[Move, Move], ...]
    transitions_shifted: tuple[TransitionShift, ...]

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return any(
            (
                self.states_came,
                self.states_went,
                self.states_shifted,
                self.transitions_came,
                self.transitions_went,
                self.transitions_redirected,
                self.transitions_shifted,
            )
        )

    def report(self, *, top: int = 10) -> str:
        """The findings as lines of text, the `top` largest of each kind."""
        if not self:
            return "No difference."
        sections = [
            ("states came", [f"{state.name} ({state.count} dialogues)" for state in self.states_came]),
            ("states went", [f"{state.name} ({state.count} dialogues)" for state in self.states_went]),
            (
                "states shifted",
                [f"{s.name}: {s.before:.1%} -> {s.after:.1%} of dialogues" for s in self.states_shifted],
            ),
            ("transitions came", [_told(move) for move in self.transitions_came]),
            ("transitions went", [_told(move) for move in self.transitions_went]),
            (
                "transitions lead elsewhere",
                [f"{_told(old)}, now to {new.target}" for old, new in self.transitions_redirected],
            ),
            (
                "transitions shifted",
                [f"{s.source} on {s.symbol}: {s.before:.1%} -> {s.after:.1%}" for s in self.transitions_shifted],
            ),
        ]
        lines = []
        for title, found in sections:
            if found:
                lines.append(f"{len(found)} {title}")
                lines.extend(f"  {line}" for line in found[:top])
                if len(found) > top:
                    lines.append(f"  and {len(found) - top} more")
        return "\n".join(lines)


def diff(before: Automaton, after: Automaton, *, shift: float = 0.05) -> Difference:
    """Compare two automata by behaviour, not by ids.

    States are matched by walking both from the start along equal symbols, the most travelled first; what that leaves is
    matched by name, if role and tag agree. Shares that differ by `shift` or more count as shifted traffic.
    Raises `UsageError` if `shift` is not in (0, 1].
    """
    if not 0.0 < shift <= 1.0:
        raise UsageError(f"The shift is {shift}, and must be above 0 and at most 1.", hint="Try 0.05.")
    matched = _match(before, after)
    found = set(matched.values())
    came, went, redirected, shifted = _transitions(before, after, matched, shift)
    return Difference(
        states_came=_busiest(state for state in after.states if state.id not in found),
        states_went=_busiest(state for state in before.states if state.id not in matched),
        states_shifted=_shifted_states(before, after, matched, shift),
        transitions_came=came,
        transitions_went=went,
        transitions_redirected=redirected,
        transitions_shifted=shifted,
    )


def _told(move: Move) -> str:
    return f"{move.source} on {move.symbol} to {move.target} ({move.traffic} times, {move.share:.1%} of what leaves it)"


def _busiest(states: Iterable[State]) -> tuple[State, ...]:
    return tuple(sorted(states, key=lambda state: (-state.count, state.name)))


def _arcs(automaton: Automaton) -> dict[int, dict[str, Transition]]:
    arcs: dict[int, dict[str, Transition]] = {}
    for transition in automaton.transitions:
        arcs.setdefault(transition.source, {})[transition.symbol] = transition
    return arcs


def _match(before: Automaton, after: Automaton) -> dict[int, int]:
    """States of `before` to states of `after`, one to one."""
    old, new = _arcs(before), _arcs(after)
    matched, taken = {START: START}, {START}
    waiting = [(0, "", START, START)]
    while waiting:
        _, _, a, b = heapq.heappop(waiting)
        if (a, b) != (START, START):
            if a in matched or b in taken:
                continue
            matched[a] = b
            taken.add(b)
        for name, one in old.get(a, {}).items():
            two = new.get(b, {}).get(name)
            if two is not None and one.target not in matched and two.target not in taken:
                heapq.heappush(waiting, (-one.traffic - two.traffic, name, one.target, two.target))
    named = {state.name: state for state in after.states if state.id not in taken}
    for state in before.states:
        other = named.get(state.name) if state.id not in matched else None
        if other is not None and (other.role, other.tag) == (state.role, state.tag):
            matched[state.id] = other.id
    return matched


def _shifted_states(
    before: Automaton, after: Automaton, matched: Mapping[int, int], shift: float
) -> tuple[StateShift, ...]:
    shifts = []
    for a, b in matched.items():
        old = before.states[a].count / max(1, len(before.dialogues))
        new = after.states[b].count / max(1, len(after.dialogues))
        if abs(new - old) >= shift:
            shifts.append(StateShift(after.states[b].name, old, new))
    return tuple(sorted(shifts, key=lambda s: (-abs(s.after - s.before), s.name)))


def _transitions(
    before: Automaton, after: Automaton, matched: Mapping[int, int], shift: float
) -> tuple[tuple[Move, ...], tuple[Move, ...], tuple[tuple[Move, Move], ...], tuple[TransitionShift, ...]]:
    old, new = _moves(before), _moves(after)
    ends_old = {(t.source, t.symbol): t.target for t in before.transitions}
    ends_new = {(t.source, t.symbol): t.target for t in after.transitions}
    kept: dict[tuple[int, str], tuple[int, str]] = {}
    for source, name in ends_old:
        there = (matched.get(source, -1), name)
        if there in ends_new:
            kept[source, name] = there
    redirected = [(old[one], new[two]) for one, two in kept.items() if matched.get(ends_old[one]) != ends_new[two]]
    shifts = [
        TransitionShift(
            new[two].source, new[two].symbol, old[one].traffic + new[two].traffic, old[one].share, new[two].share
        )
        for one, two in kept.items()
        if abs(old[one].share - new[two].share) >= shift
    ]
    stayed = set(kept.values())
    return (
        _largest(move for key, move in new.items() if key not in stayed),
        _largest(move for key, move in old.items() if key not in kept),
        tuple(sorted(redirected, key=lambda pair: (-pair[0].traffic, pair[0].source, pair[0].symbol))),
        tuple(sorted(shifts, key=lambda s: (-abs(s.after - s.before) * s.traffic, s.source, s.symbol))),
    )


def _moves(automaton: Automaton) -> dict[tuple[int, str], Move]:
    whole: dict[int, int] = {}
    for transition in automaton.transitions:
        whole[transition.source] = whole.get(transition.source, 0) + transition.traffic
    names = [state.name for state in automaton.states]
    return {
        (source, name): Move(names[source], name, names[target], traffic, traffic / max(1, whole[source]))
        for source, name, target, traffic in automaton.transitions
    }


def _largest(moves: Iterable[Move]) -> tuple[Move, ...]:
    return tuple(sorted(moves, key=lambda move: (-move.traffic, move.source, move.symbol)))
