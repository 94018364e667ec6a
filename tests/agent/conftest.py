from __future__ import annotations

import pytest

from dialoom import Dialogue, LearnSettings, Model, Role, Utterance, learn
from dialoom.demo import transcripts


def said(*turns: str, name: str = "d") -> Dialogue:
    """A dialogue in which user and system take turns."""
    roles = (Role.USER, Role.SYSTEM)
    return Dialogue(name, tuple(Utterance(roles[n % 2], text) for n, text in enumerate(turns)))


@pytest.fixture(scope="session")
def corpus() -> tuple[Dialogue, ...]:
    return transcripts()[::6]


@pytest.fixture(scope="session")
def model(corpus: tuple[Dialogue, ...]) -> Model:
    return learn(corpus)


@pytest.fixture(scope="session")
def paper_model(corpus: tuple[Dialogue, ...]) -> Model:
    return learn(corpus, LearnSettings(strategy="paper", tau=2))
