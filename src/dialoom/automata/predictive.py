"""The default strategy: a self-supervised predictor of the next system tag, and an automaton of what it predicts.

Nobody labels anything: the target is the tag of the next system turn of the same transcript. Positions of training
dialogues are grouped by their predicted continuations (an approximation of the causal states of a process), which
become the states; transitions are what most often follows. A position keeps the state its transition leads to
while that explains it nearly as well as the best state would, which makes transitions right most of the time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dialoom.automata.assignment import Centres, Floats, Ints, Moves, Positions, group_positions, place
from dialoom.automata.automaton import Automaton, State, Transition, symbol
from dialoom.automata.history import SYSTEM, TOOL, FeatureIndex, History, primary
from dialoom.automata.network import Network, Training
from dialoom.automata.symbols import TagSequence
from dialoom.errors import NothingToLearn, UsageError

END = ""
"""The class of positions after which the system says nothing more."""

PER_STATE = 20  # training rounds a state needs, so that a small corpus gives a small automaton

CHUNK = 2000  # dialogues placed at a time


@dataclass(frozen=True, slots=True)
class PredictiveSettings:
    """How predictive states are learned.

    At most `states` states, and no more than one for `PER_STATE` rounds of training; `pull` is how many
    nats a position may lose by following delta; predictor and states are fitted on at most `sample` positions (more
    dialogues still get states, visits and transitions);
    `refinements` rounds of assigning positions and counting transitions again.
    """

    states: int = 200
    pull: float = 0.5
    sample: int = 40_000
    refinements: int = 6
    seed: int = 0
    training: Training = field(default_factory=Training)

    def __post_init__(self) -> None:
        if not 2 <= self.states <= 10_000:
            raise UsageError(f"{self.states} states are asked for; an automaton has 2 to 10000.")
        if self.pull < 0 or self.sample < 1 or self.refinements < 0:
            raise UsageError("pull and refinements are at least 0, sample at least 1.")


@dataclass(frozen=True, slots=True)
class SystemTurns:
    """Every system turn of training: dialogue (index), round, its tag (class) and the state it was said in."""

    dialogue: NDArray[np.int32]
    round: NDArray[np.int32]
    tag: NDArray[np.int32]
    state: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class PredictiveModel:
    """What routing needs: predictor, classes (system tags), states with what they expect, delta, and past turns."""

    automaton: Automaton
    features: FeatureIndex
    network: Network
    classes: tuple[str, ...]
    roles: tuple[str, ...]
    symbols: tuple[str, ...]
    centres: Centres
    default: Ints
    purity: Floats
    turns: SystemTurns
    threshold: float
    pull: float


def learn_predictive(sequences: Iterable[TagSequence], settings: PredictiveSettings | None = None) -> PredictiveModel:
    """Learn predictor and automaton from tagged dialogues.

    Deterministic, and independent of the order of `sequences` (they are sorted by id).
    Raises `NothingToLearn` when no system turn occurs.
    """
    chosen = settings or PredictiveSettings()
    every = sorted(sequences, key=lambda sequence: sequence.id)
    classes = sorted({primary(r) for s in every for r in s.rounds if r.role == SYSTEM} | {END})
    if len(classes) < 2:
        raise NothingToLearn("No system turn has a tag, so there is nothing to predict.")
    names = _Names(
        tuple(classes),
        tuple(sorted({r.role for s in every for r in s.rounds})),
        tuple(sorted({symbol(r.role, primary(r)) for s in every for r in s.rounds})),
    )
    some = _sampled(every, chosen.sample)
    features, network, expected = _predictor(some, names, chosen)
    centres, moves, state = _states(expected, _positions(some, names), names, chosen)
    if len(some) < len(every):
        state = _place_all(every, names, features, network, centres, moves, chosen.pull)
    positions = _positions(every, names)
    moves = Moves.count(positions, state, len(centres.role), len(names.symbols))
    return _model(every, names, features, network, centres, moves, positions, state, chosen)


@dataclass(frozen=True, slots=True)
class _Names:
    classes: tuple[str, ...]
    roles: tuple[str, ...]
    symbols: tuple[str, ...]


def _sampled(every: Sequence[TagSequence], positions: int) -> list[TagSequence]:
    """Dialogues with about `positions` positions, drawn by a hash of their ids, in order of id."""
    if sum(len(s.rounds) + 1 for s in every) <= positions:
        return list(every)
    drawn = sorted(every, key=lambda s: hashlib.blake2b(s.id.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    taken: list[TagSequence] = []
    total = 0
    for sequence in drawn:
        total += len(sequence.rounds) + 1
        if total > positions and taken:
            break
        taken.append(sequence)
    return sorted(taken, key=lambda sequence: sequence.id)


def _positions(sequences: Sequence[TagSequence], names: _Names) -> Positions:
    role_number = {name: number for number, name in enumerate(names.roles)}
    symbol_number = {name: number for number, name in enumerate(names.symbols)}
    roles: list[int] = []
    symbols: list[int] = []
    for sequence in sequences:
        roles += [-1, *(role_number[r.role] for r in sequence.rounds)]
        symbols += [-1, *(symbol_number[symbol(r.role, primary(r))] for r in sequence.rounds)]
    starts = np.cumsum([0, *(len(s.rounds) + 1 for s in sequences)])
    return Positions(starts, np.asarray(roles, dtype=np.int64), np.asarray(symbols, dtype=np.int64))


def _histories(sequences: Iterable[TagSequence]) -> Iterable[History]:
    for sequence in sequences:
        history = History()
        yield history
        for said in sequence.rounds:
            history = history.pushed(said)
            yield history


def _targets(sequences: Iterable[TagSequence], classes: Sequence[str]) -> tuple[Ints, NDArray[np.bool_]]:
    """The class of the next system turn at every position, and which positions teach: all but those before a tool.

    A tool round comes between such a position and the system turn, and its result decides what is said.
    """
    number = {name: index for index, name in enumerate(classes)}
    targets: list[int] = []
    teaches: list[bool] = []
    for sequence in sequences:
        following = number[END]
        wanted = [following]
        for said in reversed(sequence.rounds):
            if said.role == SYSTEM:
                following = number[primary(said)]
            wanted.append(following)
        targets += reversed(wanted)
        teaches += [*(said.role != TOOL for said in sequence.rounds), True]
    return np.asarray(targets, dtype=np.int64), np.asarray(teaches, dtype=np.bool_)


def _predictor(
    some: Sequence[TagSequence], names: _Names, settings: PredictiveSettings
) -> tuple[FeatureIndex, Network, Floats]:
    """The predictor of all `some`, and its cross-fitted distributions: each half judged by the other half's network."""
    features = FeatureIndex.fit(_histories(some))
    rows = features.matrix(_histories(some))
    targets, teaches = _targets(some, names.classes)
    count = len(names.classes)

    def fitted(which: NDArray[np.bool_]) -> Network:
        use = np.flatnonzero(which & teaches)
        if not len(use):
            use = np.flatnonzero(teaches)
        return Network.fit(rows[use], targets[use], count, settings.training, settings.seed)

    half = np.repeat(np.arange(len(some)) % 2, [len(s.rounds) + 1 for s in some])
    expected = np.zeros((len(targets), count), dtype=np.float32)
    for side in (0, 1):
        mine = np.flatnonzero(half == side)
        if len(mine):
            expected[mine] = fitted(half != side).predict(rows[mine])
    return features, fitted(np.ones(len(targets), dtype=np.bool_)), expected


def _states(
    expected: Floats, positions: Positions, names: _Names, settings: PredictiveSettings
) -> tuple[Centres, Moves, Ints]:
    states = min(settings.states, max(2, int((positions.role >= 0).sum()) // PER_STATE))
    state, roles = group_positions(expected, positions.role, states, settings.seed)
    centres = Centres.mean(expected, state, roles)
    moves = Moves.count(positions, state, len(roles), len(names.symbols))
    for _ in range(settings.refinements):
        state = place(centres.fits(expected, positions.role), positions, moves, settings.pull)
        centres = Centres.mean(expected, state, roles)
        moves = Moves.count(positions, state, len(roles), len(names.symbols))
    return centres, moves, state


def _place_all(
    every: Sequence[TagSequence],
    names: _Names,
    features: FeatureIndex,
    network: Network,
    centres: Centres,
    moves: Moves,
    pull: float,
) -> Ints:
    placed = []
    for start in range(0, len(every), CHUNK):
        chunk = every[start : start + CHUNK]
        positions = _positions(chunk, names)
        expected = network.predict(features.matrix(_histories(chunk)))
        placed.append(place(centres.fits(expected, positions.role), positions, moves, pull))
    return np.concatenate(placed)


def _model(
    every: Sequence[TagSequence],
    names: _Names,
    features: FeatureIndex,
    network: Network,
    centres: Centres,
    moves: Moves,
    positions: Positions,
    state: Ints,
    settings: PredictiveSettings,
) -> PredictiveModel:
    """Put together: states no position is in are dropped, turns are listed, purity and threshold measured."""
    used = np.unique(np.append(state, 0))
    renumber = np.full(len(centres.role), -1, dtype=np.int64)
    renumber[used] = np.arange(len(used))
    state = renumber[state]
    centres = Centres(centres.expects[used], centres.role[used])
    table = np.where(moves.table[used] >= 0, renumber[moves.table[used]], -1)
    traffic = moves.traffic[used]
    default = np.where(moves.default >= 0, renumber[moves.default], -1)
    turns = _turns(every, positions, state, names)
    tags = np.zeros((len(used), len(names.classes)), dtype=np.int64)
    np.add.at(tags, (turns.state, turns.tag), 1)
    purity = (tags.max(axis=1) / np.maximum(tags.sum(axis=1), 1)).astype(np.float32)
    automaton = _automaton(every, positions, state, centres, table, traffic, names)
    return PredictiveModel(
        automaton=automaton,
        features=features,
        network=network,
        classes=names.classes,
        roles=names.roles,
        symbols=names.symbols,
        centres=centres,
        default=default,
        purity=purity,
        turns=turns,
        threshold=_threshold(purity),
        pull=settings.pull,
    )


def _turns(every: Sequence[TagSequence], positions: Positions, state: Ints, names: _Names) -> SystemTurns:
    number = {name: index for index, name in enumerate(names.classes)}
    rows = [
        (d, r, number[primary(said)], state[positions.starts[d] + r])
        for d, sequence in enumerate(every)
        for r, said in enumerate(sequence.rounds)
        if said.role == SYSTEM
    ]
    columns = np.asarray(rows, dtype=np.int32).reshape(-1, 4).T
    return SystemTurns(*(np.ascontiguousarray(column) for column in columns))


UNSURE = 1 / 3


def _threshold(purity: Floats) -> float:
    """The highest purity of a state whose commonest next tag is wrong in more than two of three training turns."""
    unsure = purity[purity < UNSURE]
    return float(unsure.max()) if len(unsure) else 0.0


def _automaton(
    every: Sequence[TagSequence],
    positions: Positions,
    state: Ints,
    centres: Centres,
    table: Ints,
    traffic: Ints,
    names: _Names,
) -> Automaton:
    count = len(centres.role)
    entered = np.zeros((count, len(names.symbols)), dtype=np.int64)
    after = np.flatnonzero(positions.symbol >= 0)
    np.add.at(entered, (state[after], positions.symbol[after]), 1)
    dialogue = np.repeat(np.arange(len(every)), np.diff(positions.starts)).astype(np.int32)
    said = (np.arange(len(state)) - positions.starts[dialogue] - 1).astype(np.int32)
    ends = np.bincount(state[positions.starts[1:] - 1], minlength=count)
    passes = np.unique(state * len(every) + dialogue) // max(1, len(every))
    through = np.bincount(passes, minlength=count)
    titles = _titles(centres, entered, names)
    states = []
    for q in range(count):
        role, _, tag = names.symbols[int(entered[q].argmax())].partition(":") if q else ("", "", "")
        states.append(State(q, titles[q], role, tag, int(through[q]), int(ends[q])))
    transitions = tuple(
        Transition(int(q), names.symbols[s], int(table[q, s]), int(traffic[q, s]))
        for q, s in zip(*np.nonzero(table >= 0), strict=True)
    )
    order = np.lexsort((said, dialogue, state))
    kept = order[said[order] >= 0]
    offsets = np.searchsorted(state[kept], np.arange(count + 1))
    return Automaton(
        states=tuple(states),
        transitions=transitions,
        dialogues=tuple(sequence.id for sequence in every),
        visit_offsets=offsets.astype(np.int64),
        visit_dialogue=dialogue[kept],
        visit_round=said[kept],
        metadata={
            "strategy": "predictive",
            "roles": ["".join(said.role[:1] for said in sequence.rounds) for sequence in every],
        },
    )


def _titles(centres: Centres, entered: Ints, names: _Names) -> list[str]:
    """Unique names: the tag that leads in most, and the system tag expected next; a number where two agree."""
    titles = ["start"]
    taken = {"start": 1}
    speaks = np.asarray([name != END for name in names.classes])
    for q in range(1, len(centres.role)):
        tag = names.symbols[int(entered[q].argmax())].partition(":")[2]
        best = int(centres.expects[q].argmax())
        following = names.classes[best] if speaks[best] else "end"
        title = f"{tag} > {following}"
        taken[title] = taken.get(title, 0) + 1
        titles.append(title if taken[title] == 1 else f"{title} ({taken[title]})")
    return titles
