"""What competes in a next-action evaluation: retrievers, learned automata, and the supervised ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dialoom.agent.sequences import candidates, to_rounds, to_sequence
from dialoom.automata.history import History
from dialoom.automata.navigation import NavigationRouter
from dialoom.automata.network import Network
from dialoom.automata.paper import learn_paper
from dialoom.automata.predictive import PredictiveSettings, learn_predictive
from dialoom.automata.predictive_router import PredictiveRouter
from dialoom.automata.router import Candidate, Route
from dialoom.automata.symbols import Round
from dialoom.dialogue import Dialogue, Role
from dialoom.encoders.lsa import LSAEncoder
from dialoom.errors import UnknownName
from dialoom.evaluation.next_action import Case, Score, action_of, blind, labels_of, score, score_predictions
from dialoom.evaluation.transitions import Transitions, transitions
from dialoom.examples import SELECTORS, AutomatonSelector, Selector, Selectors, TurnIndex
from dialoom.tagging.embedded import EmbeddedTagger, TaggerSettings

NAMES = (*SELECTORS, "automaton-states", "paper")


@dataclass(frozen=True)
class Contenders:
    """Everything that is learned from one set of training dialogues, each part on first use.

    `tagger_settings` and `settings` are those of the default strategy.
    """

    train: Sequence[Dialogue]
    seed: int = 0
    tagger_settings: TaggerSettings | None = None
    settings: PredictiveSettings | None = None

    def score(self, name: str, asked: Sequence[Case]) -> Score:
        """The score of the selector `name`, one of `NAMES`. Raises `UnknownName` for another."""
        return score(self.selector(name), self.labels, [self.tagged(case) for case in asked])

    def selector(self, name: str) -> Selector:
        """The selector `name`, which expects tagged conversations. Raises `UnknownName` for a name not in `NAMES`."""
        if name not in NAMES:
            raise UnknownName("selector", name, NAMES)
        if name == "paper":
            automaton = learn_paper(map(to_sequence, self._tagged))
            return AutomatonSelector(self._selectors.index, candidates(NavigationRouter(automaton)), seed=self.seed)
        if name == "automaton-states":
            places = candidates(_StatesAlone(self.router))
            return AutomatonSelector(self._selectors.index, places, ranker=self._selectors.dense_history)
        return self._selectors.open(name)

    def tagged(self, case: Case) -> Case:
        """The case with tags on its context."""
        return replace(case, context=self.tagger.tag(case.context))

    def ceiling(self, asked: Sequence[Case]) -> Score:
        """The same network on the same features, fitted to the true actions: what labels would buy."""
        settings = self.settings or PredictiveSettings()
        told = [
            (to_rounds(tagged.utterances[:place]), action)
            for dialogue, tagged in zip(self.train, self._tagged, strict=True)
            for place, utterance in enumerate(dialogue.utterances)
            if (action := action_of(utterance)) is not None
        ]
        actions = sorted({action for _, action in told})
        number = {action: index for index, action in enumerate(actions)}
        features = self.router.model.features
        rows = features.matrix(_history(rounds) for rounds, _ in told)
        wanted = np.asarray([number[action] for _, action in told], dtype=np.int64)
        network = Network.fit(rows, wanted, len(actions), settings.training, settings.seed)
        contexts = [to_rounds(self.tagged(case).context.utterances) for case in asked]
        best = network.predict(features.matrix(map(_history, contexts))).argmax(axis=1)
        return score_predictions([actions[i] for i in best], asked)

    def transitions(self, test: Sequence[Dialogue]) -> Transitions:
        """How right the automaton's transitions are on unseen dialogues."""
        sequences = [to_sequence(self.tagger.tag(blind(dialogue))) for dialogue in test]
        return transitions(self.router, sequences)

    @cached_property
    def labels(self) -> Mapping[str, Sequence[str | None]]:
        """The action of each training utterance, for scoring."""
        return labels_of(self.train)

    @cached_property
    def tagger(self) -> EmbeddedTagger:
        """The embedded tagger of the training dialogues."""
        return EmbeddedTagger.fit(map(blind, self.train), self.tagger_settings)

    @cached_property
    def router(self) -> PredictiveRouter:
        """The default strategy."""
        return PredictiveRouter(learn_predictive(map(to_sequence, self._tagged), self.settings))

    @cached_property
    def _tagged(self) -> list[Dialogue]:
        return list(self.tagger.tag_all(map(blind, self.train)))

    @cached_property
    def _selectors(self) -> Selectors:
        encoder = LSAEncoder.fit(u.text for d in self.train for u in d.utterances if u.role is not Role.TOOL)
        index = TurnIndex.build(self._tagged)
        return Selectors(index, encoder, lambda context: candidates(self.router)(context), self.seed)


class _StatesAlone:
    """The default strategy with next tags from the state alone: what the automaton knows without its predictor."""

    def __init__(self, router: PredictiveRouter) -> None:
        self._router = router

    def route(self, rounds: Sequence[Round]) -> Route:
        return self._router.by_state(self._router.route(rounds))

    def candidates(self, route: Route) -> Sequence[Candidate]:
        return self._router.candidates(route)


def _history(rounds: Sequence[Round]) -> History:
    history = History()
    for said in rounds:
        history = history.pushed(said)
    return history
