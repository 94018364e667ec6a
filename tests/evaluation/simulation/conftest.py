from __future__ import annotations

import pytest

from dialoom import Model, learn
from dialoom.demo import transcripts


@pytest.fixture(scope="session")
def model() -> Model:
    return learn(transcripts()[::6])
