"""Walking an automaton by the tags of a conversation (DFA-RAG sec. 3.3 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast, overload

import numpy as np

from dialoom.automata.automaton import START, Automaton, symbol
from dialoom.automata.encoding import Ids
from dialoom.automata.router import Candidate, Route, Step
from dialoom.automata.symbols import Round

SYSTEM = "system"
NEXT_TAGS = 5


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where navigation ended: delta(state, s) is not defined for any of `symbols`, said in round `round` (0-based)."""

    state: int
    round: int
    symbols: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """How far a conversation has been walked: a value to keep between turns. `followed` counts its matched rounds."""

    state: int = START
    path: tuple[Step, ...] = ()
    rounds: int = 0
    followed: int = 0
    mismatch: Mismatch | None = None


class Navigator:
    """delta over rounds of tags: of an utterance's tags, the one most travelled from the state at hand comes first.

    Ties go to the first in spelling. This is the order that training used, so on a tag tree every dialogue whose rounds
    all have tags is led along its own path. Strict (the paper): a tag without a transition ends navigation at the last
    valid state. Lenient: such tags are skipped as long as one tag of the utterance has a transition. A round without
    tags moves nothing.

    An automaton of the strategy `predictive` reads one symbol a round: its first tag, or the empty one.
    """

    def __init__(self, automaton: Automaton, *, lenient: bool = False) -> None:
        self.automaton = automaton
        self._lenient = lenient
        self._reads_first = automaton.metadata.get("strategy") == "predictive"
        self._arcs: dict[int, dict[str, tuple[int, int]]] = {}
        for source, name, target, traffic in automaton.transitions:
            self._arcs.setdefault(source, {})[name] = (traffic, target)

    def arcs(self, state: int) -> dict[str, tuple[int, int]]:
        """Symbols that leave a state, each with its traffic and its target."""
        return self._arcs.get(state, {})

    def advance(self, position: Position, spoken: Round) -> Position:
        """The position one round later. After a mismatch the state stays what it was."""
        if position.mismatch is not None:
            return Position(
                position.state, position.path, position.rounds + 1, position.followed, mismatch=position.mismatch
            )
        number, state = position.rounds, position.state
        tags = (spoken.tags or ("",))[:1] if self._reads_first else dict.fromkeys(spoken.tags)
        left = [symbol(spoken.role, tag) for tag in tags]
        path = list(position.path)
        while left:
            arcs = self._arcs.get(state, {})
            known = [(-arcs[name][0], name) for name in left if name in arcs]
            if not known:
                break
            _, chosen = min(known)
            left.remove(chosen)
            state = arcs[chosen][1]
            path.append(Step(number, chosen, state))
        moved = len(path) > len(position.path)
        if left and not (self._lenient and moved):
            found = Mismatch(state, number, tuple(sorted(left)))
            return Position(state, tuple(path), number + 1, position.followed, mismatch=found)
        return Position(state, tuple(path), number + 1, position.followed + 1)


class NavigationRouter:
    """Routes by navigation alone: a mismatch ends it, and the last valid state answers, flagged out of distribution.

    `on_mismatch` is called once for every route that ends in a mismatch, so that an external tool can be asked
    (sec. 5); what it returns is added to the route's reason. For a conversation that grows turn by turn keep the
    `Position`: `advance` it by each new round and ask `at`, instead of walking all rounds again.
    """

    def __init__(
        self,
        automaton: Automaton,
        *,
        lenient: bool = False,
        on_mismatch: Callable[[Mismatch], str | None] | None = None,
    ) -> None:
        self.automaton = automaton
        self._navigator = Navigator(automaton, lenient=lenient)
        self._on_mismatch = on_mismatch
        self._next_tags: dict[int, tuple[tuple[str, float], ...]] = {}
        self._turns = _SystemTurns(automaton)

    def route(self, rounds: Sequence[Round]) -> Route:
        """Where the conversation stands after `rounds`; never raises for unseen symbols."""
        position = Position()
        for spoken in rounds:
            position = self.advance(position, spoken)
        return self.at(position)

    def advance(self, position: Position, spoken: Round) -> Position:
        """The position one round later."""
        return self._navigator.advance(position, spoken)

    def at(self, position: Position) -> Route:
        """The route of a position; its confidence is the share of rounds that could be followed."""
        mismatch = position.mismatch
        return Route(
            state=position.state,
            path=position.path,
            next_tags=self._following(position.state),
            confidence=position.followed / position.rounds if position.rounds else 1.0,
            fallback="out_of_distribution" if mismatch else None,
            reason=self._explain(mismatch) if mismatch else "",
        )

    def candidates(self, route: Route) -> Sequence[Candidate]:
        """For each passage of I(q) the next system turn of its dialogue, if it has one; by dialogue, then round."""
        return self._turns.after(route.state)

    def _following(self, state: int) -> tuple[tuple[str, float], ...]:
        """The system tags that leave a state, each with its share of their traffic; at most five, largest first."""
        known = self._next_tags.get(state)
        if known is None:
            prefix = symbol(SYSTEM, "")
            arcs = self._navigator.arcs(state)
            tags = sorted((-arc[0], name.removeprefix(prefix)) for name, arc in arcs.items() if name.startswith(prefix))
            whole = -sum(traffic for traffic, _ in tags) or 1
            known = tuple((tag, -traffic / whole) for traffic, tag in tags[:NEXT_TAGS])
            self._next_tags[state] = known
        return known

    def _explain(self, mismatch: Mismatch) -> str:
        names = ", ".join(f"'{name}'" for name in mismatch.symbols)
        where = self.automaton.states[mismatch.state].name
        reason = f"In round {mismatch.round} no transition leaves '{where}' on {names}."
        found = self._on_mismatch(mismatch) if self._on_mismatch else None
        return f"{reason} {found}" if found else reason


class _SystemTurns:
    """The next system turn after each passage, from `metadata["roles"]` (without it: simply the next round)."""

    def __init__(self, automaton: Automaton) -> None:
        self._automaton = automaton
        roles = cast(Sequence[str], automaton.metadata.get("roles", ()))
        patterns = {pattern: number for number, pattern in enumerate(dict.fromkeys(roles))}
        self._pattern = np.asarray([patterns[pattern] for pattern in roles], dtype=np.int32)
        self._next = np.full((len(patterns), max(map(len, patterns), default=0) + 1), -1, dtype=np.int32)
        for pattern, number in patterns.items():
            for at in range(len(pattern) + 1):  # at = rounds that have passed
                self._next[number, at] = pattern.find("s", at)

    def after(self, state: int) -> Sequence[Candidate]:
        automaton = self._automaton
        automaton.state(state)
        span = slice(int(automaton.visit_offsets[state]), int(automaton.visit_offsets[state + 1]))
        dialogue, passed = automaton.visit_dialogue[span], automaton.visit_round[span] + 1
        if not len(self._pattern):
            return _Candidates(automaton.dialogues, dialogue, passed)
        turn = self._next[self._pattern[dialogue], passed]
        exists = turn >= 0
        return _Candidates(automaton.dialogues, dialogue[exists], turn[exists])


class _Candidates(Sequence[Candidate]):
    """Candidates made when asked for: the start state may have a million of them."""

    def __init__(self, dialogues: Sequence[str], dialogue: Ids, round_: Ids) -> None:
        self._dialogues = dialogues
        self._dialogue = dialogue
        self._round = round_

    def __len__(self) -> int:
        return len(self._dialogue)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...

    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(index, slice):
            return _Candidates(self._dialogues, self._dialogue[index], self._round[index])
        return Candidate(self._dialogues[self._dialogue[index]], int(self._round[index]))
