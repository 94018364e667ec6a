"""What learning makes and an agent runs on: tagger, router, past turns and their vectors, in one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dialoom.agent import archive
from dialoom.agent.settings import LearnSettings
from dialoom.automata.automaton import Automaton
from dialoom.automata.navigation import NavigationRouter
from dialoom.automata.predictive import PredictiveRouter
from dialoom.automata.router import Route, Router
from dialoom.dialogue import Dialogue
from dialoom.encoders.lsa import LSAEncoder
from dialoom.errors import InvalidFile
from dialoom.examples.base import Example
from dialoom.examples.dense import DenseSelector
from dialoom.examples.ranking import best
from dialoom.examples.turns import TurnIndex
from dialoom.files import Parts
from dialoom.tagging.base import Tagger


@dataclass(frozen=True, slots=True)
class Model:
    """A learned agent. `learned` tells what it was learned from; `router.automaton` is the automaton itself."""

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
        """Every past system turn, with the redacted and tagged dialogue it belongs to."""
        return self.dense.index
