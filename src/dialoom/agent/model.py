"""What learning makes and an agent runs on: tagger, router, past turns and their vectors, in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dialoom.agent import archive
from dialoom.agent.settings import LearnSettings
from dialoom.agent.taggers import open_tagger, tagger_parts
from dialoom.automata import format as automaton_format
from dialoom.automata.automaton import Automaton
from dialoom.automata.navigation import NavigationRouter
from dialoom.automata.predictive_router import PredictiveRouter
from dialoom.automata.router import Route
from dialoom.automata.samples import with_samples
from dialoom.dialogue import Dialogue
from dialoom.encoders.lsa import LSAEncoder
from dialoom.errors import InvalidFile
from dialoom.examples.base import Example
from dialoom.examples.dense import DenseSelector
from dialoom.examples.ranking import best
from dialoom.examples.turns import TurnIndex
from dialoom.tagging.base import Tagger

SURE = 0.5
"""The probability from which the likeliest next tag is trusted even in a state whose past turns went many ways."""


@dataclass(frozen=True, slots=True)
class Model:
    """A learned agent. `learned` counts what it was learned from; `automaton` is what a person reads."""

    settings: LearnSettings
    tagger: Tagger
    router: NavigationRouter | PredictiveRouter
    dense: DenseSelector
    encoder: LSAEncoder
    learned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def automaton(self) -> Automaton:
        """The learned automaton."""
        return self.router.automaton

    @property
    def index(self) -> TurnIndex:
        """Every past system turn, in the redacted and tagged dialogue it belongs to."""
        return self.dense.index

    def examples(self, context: Dialogue, route: Route, n: int | None = None) -> Sequence[Example]:
        """The past turns to imitate: those of the route ranked by similarity, or the most similar of all.

        All turns are searched where neither the state nor the predictor is confident of what comes next, or no past
        turn continues from the route.
        """
        wanted = self.settings.examples if n is None else n
        sure = route.fallback != "low_confidence" or (route.next_tags and route.next_tags[0][1] >= SURE)
        candidates = self.router.candidates(route) if sure else ()
        if not candidates:
            return self.dense.select(context, wanted)
        turns = self.index.at((candidate.dialogue_id, candidate.round) for candidate in candidates)
        name = self.automaton.state(route.state).name
        return best(self.index, self.dense.scores(context, turns), wanted, f"state {name}", turns)

    def readable(self, samples: int = 3) -> Automaton:
        """The automaton with up to `samples` different (redacted) utterances that led into each state."""
        numbers = {id_: number for number, id_ in enumerate(self.index.ids)}

        def text_of(dialogue_id: str, round_: int) -> str | None:
            return self.index.dialogue(numbers[dialogue_id]).utterances[round_].text if round_ >= 0 else None

        return with_samples(self.automaton, text_of, limit=samples)

    def save(self, path: Path | str) -> None:
        """Write the model to one file, whole or not at all. Equal models give equal files."""
        archive.save(
            path,
            {"settings": self.settings.model_dump(), "learned": dict(self.learned)},
            {
                "tagger": tagger_parts(self.tagger),
                "automaton": automaton_format.to_parts(self.automaton),
                "router": self.router.to_parts() if isinstance(self.router, PredictiveRouter) else {},
                "turns": self.index.to_parts(),
                "dense": self.dense.to_parts(),
                "encoder": self.encoder.to_parts(),
            },
        )

    @classmethod
    def load(cls, path: Path | str) -> Model:
        """The model in a file. Raises `InvalidFile` for a file that is absent, broken or of another version."""
        manifest, parts = archive.load(path)
        try:
            settings = LearnSettings.model_validate(manifest.get("settings"))
            index = TurnIndex.from_parts(parts.get("turns", {}))
            encoder = LSAEncoder.from_parts(parts.get("encoder", {}))
            automaton = automaton_format.from_parts(parts.get("automaton", {}))
            router = (
                NavigationRouter(automaton)
                if settings.strategy == "paper"
                else PredictiveRouter.from_parts(parts.get("router", {}), automaton)
            )
            return cls(
                settings,
                open_tagger(settings, parts.get("tagger", {})),
                router,
                DenseSelector.from_parts(parts.get("dense", {}), index, encoder),
                encoder,
                manifest.get("learned", {}),
            )
        except ValidationError as error:
            raise InvalidFile(path, "its settings are not those of this version.", hint="Learn it again.") from error
        except InvalidFile as error:
            raise InvalidFile(path, f"{error.path}: {error.problem}", hint="Learn it again.") from error
