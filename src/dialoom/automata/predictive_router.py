"""Routing by predictive states: the state is estimated anew at every round, so no conversation is ever stuck."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dialoom.automata.assignment import NOWHERE, Centres
from dialoom.automata.automaton import START, Automaton, symbol
from dialoom.automata.history import FeatureIndex, History, primary
from dialoom.automata.network import Network
from dialoom.automata.predictive import END, PredictiveModel, SystemTurns
from dialoom.automata.router import Candidate, Route, Step
from dialoom.automata.symbols import Round
from dialoom.errors import InvalidFile
from dialoom.files import Parts, pack_array, pack_json, unpack_array, unpack_json

SHOWN = 5  # next tags in a route
OFFERED = 2000  # candidates at most
REMEMBERED = 1024  # conversation prefixes whose place is kept


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a prefix of a conversation stands."""

    history: History
    state: int
    path: tuple[Step, ...]
    expects: NDArray[np.float32]


class PredictiveRouter:
    """Places a conversation in a predictive automaton and says which system tags come next.

    A round moves along delta while the state it leads to explains what the predictor expects nearly as well as the
    best state does; otherwise the best state takes over and the step is marked unknown. Next tags are the predictor's,
    who sees more of the history than a state tells; `by_state` gives those of the state. Places of recent prefixes are
    remembered: a live turn costs one prediction per new round.
    """

    def __init__(self, model: PredictiveModel) -> None:
        self.model = model
        self._logs = np.log(model.centres.expects)
        self._default = {s: q for s, q in zip(model.symbols, model.default.tolist(), strict=True) if q != NOWHERE}
        self._columns = {role: np.flatnonzero(model.centres.role == number) for number, role in enumerate(model.roles)}
        self._speaks = np.asarray([name != END for name in model.classes])
        self._number = {name: number for number, name in enumerate(model.classes)}
        order = np.lexsort((model.turns.round, model.turns.dialogue, model.turns.tag))
        self._turn_order = order
        self._tag_starts = np.searchsorted(model.turns.tag[order], np.arange(len(model.classes) + 1))
        self._places: OrderedDict[tuple[Round, ...], _Place] = OrderedDict()
        self._candidates = lru_cache(maxsize=4096)(self._offered)

    @property
    def automaton(self) -> Automaton:
        """The automaton in which conversations are placed."""
        return self.model.automaton

    def route(self, rounds: Sequence[Round]) -> Route:
        """Where the conversation stands after `rounds`: state, path, the likeliest next system tags.

        `confidence` is the purity of the state: the share of its training turns that its commonest next tag had.
        At or below the threshold learned from training the route is flagged `low_confidence`.
        """
        place = self._placed(tuple(rounds))
        next_tags = self._next_tags(place.expects)
        confidence = float(self.model.purity[place.state])
        unsure = confidence <= self.model.threshold
        reason = f"the state's turns agree on a tag in {confidence:.0%}, and {self.model.threshold:.0%} is too few"
        return Route(
            place.state, place.path, next_tags, confidence, "low_confidence" if unsure else None, reason * unsure
        )

    def by_state(self, route: Route) -> Route:
        """The same route with next tags that the state alone expects, without the predictor."""
        return replace(route, next_tags=self._next_tags(self.model.centres.expects[route.state]))

    def expected(self, state: int, name: str) -> int | None:
        """delta(q, symbol); where that is not defined, where the symbol leads from most other states."""
        target = self.model.automaton.step(state, name)
        return self._default.get(name) if target is None else target

    def candidates(self, route: Route) -> Sequence[Candidate]:
        """Past system turns with the likeliest next tag, those said in the same state first (score 1, others 0)."""
        if not route.next_tags:
            return ()
        return self._candidates(route.state, route.next_tags[0][0])

    def _next_tags(self, scores: NDArray[np.float32]) -> tuple[tuple[str, float], ...]:
        scores = scores * self._speaks
        top = np.argsort(-scores, kind="stable")[:SHOWN]
        total = float(scores.sum()) or 1.0
        return tuple((self.model.classes[i], float(scores[i]) / total) for i in top.tolist() if self._speaks[i])

    def _offered(self, state: int, tag: str) -> tuple[Candidate, ...]:
        number = self._number.get(tag)
        if number is None:
            return ()
        turns = self.model.turns
        found = self._turn_order[self._tag_starts[number] : self._tag_starts[number + 1]]
        here = turns.state[found] == state
        ranked = np.concatenate([found[here], found[~here]])[:OFFERED]
        ids = self.model.automaton.dialogues
        inside = int(here.sum())
        return tuple(
            Candidate(ids[turns.dialogue[t]], int(turns.round[t]), float(n < inside)) for n, t in enumerate(ranked)
        )

    def _placed(self, rounds: tuple[Round, ...]) -> _Place:
        known = len(rounds)
        while known > 0 and rounds[:known] not in self._places:
            known -= 1
        if known:
            place = self._places[rounds[:known]]
            self._places.move_to_end(rounds[:known])
        else:
            place = _Place(History(), START, (), self._expected(History()))
        for number in range(known, len(rounds)):
            place = self._moved(place, rounds[number], number)
            self._places[rounds[: number + 1]] = place
        while len(self._places) > REMEMBERED:
            self._places.popitem(last=False)
        return place

    def _expected(self, history: History) -> NDArray[np.float32]:
        return self.model.network.predict_one(*self.model.features.row(history))

    def _moved(self, place: _Place, said: Round, number: int) -> _Place:
        name = symbol(said.role, primary(said))
        history = place.history.pushed(said)
        expects = self._expected(history)
        columns = self._columns.get(said.role)
        defined = self.model.automaton.step(place.state, name)
        expected = self.expected(place.state, name)
        state = place.state
        if columns is not None and len(columns):
            fits = self._logs[columns] @ expects
            best = int(fits.argmax())
            state = int(columns[best])
            if expected is not None and self._logs[expected] @ expects + self.model.pull >= fits[best]:
                state = expected
        return _Place(history, state, (*place.path, Step(number, name, state, state == defined)), expects)

    def to_parts(self) -> dict[str, bytes]:
        """Everything but the automaton, which has a format of its own."""
        model = self.model
        settings = {
            "classes": list(model.classes),
            "roles": list(model.roles),
            "symbols": list(model.symbols),
            "features": list(model.features.names),
            "threshold": model.threshold,
            "pull": model.pull,
        }
        turns = np.stack([model.turns.dialogue, model.turns.round, model.turns.tag, model.turns.state])
        return {
            "predictive.json": pack_json(settings),
            "expects.npy": pack_array(model.centres.expects),
            "state_role.npy": pack_array(model.centres.role),
            "default.npy": pack_array(model.default),
            "purity.npy": pack_array(model.purity),
            "turns.npy": pack_array(turns),
            **model.network.to_parts(),
        }

    @classmethod
    def from_parts(cls, parts: Parts, automaton: Automaton) -> Self:
        """The router that `to_parts` saved, for the same automaton. Raises `InvalidFile` when they do not fit."""
        saved = unpack_json(parts, "predictive.json")
        try:
            lists = [tuple(map(str, saved[key])) for key in ("classes", "roles", "symbols", "features")]
            threshold, pull = float(saved["threshold"]), float(saved["pull"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile("predictive.json", f"not the settings of a predictive router ({error}).") from error
        classes, roles, symbols, features = lists
        network = Network.from_parts(parts)
        names = "expects.npy", "state_role.npy", "default.npy", "purity.npy", "turns.npy"
        expects, role, default, purity, turns = (unpack_array(parts, name) for name in names)
        states = len(automaton)
        if (
            network.shape != (len(features), len(classes))
            or expects.shape != (states, len(classes))
            or role.shape != (states,)
            or purity.shape != (states,)
            or default.shape != (len(symbols),)
            or turns.ndim != 2
            or len(turns) != 4
            or (turns < 0).any()
            or (turns >= [[len(automaton.dialogues)], [np.iinfo(np.int32).max], [len(classes)], [states]]).any()
            or (default >= states).any()
        ):
            raise InvalidFile("predictive.json", "the router and the automaton do not fit together.")
        return cls(
            PredictiveModel(
                automaton=automaton,
                features=FeatureIndex(features),
                network=network,
                classes=classes,
                roles=roles,
                symbols=symbols,
                centres=Centres(expects.astype(np.float32), role.astype(np.int64)),
                default=default.astype(np.int64),
                purity=purity.astype(np.float32),
                turns=SystemTurns(*turns.astype(np.int32)),
                threshold=threshold,
                pull=pull,
            )
        )
