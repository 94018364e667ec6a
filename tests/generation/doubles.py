"""A model of bytes whose scores are noise fixed by a seed, and what the models port needs for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dialoom.generation.constraint import Guidance
from dialoom.generation.decoding import PROMPT, Scores
from dialoom.models.base import Capabilities, Completion, Message, Request

END = 261
SIZE = 262


@dataclass
class NoiseSession:
    """Scores depend on the seed and the path from the prompt alone, as with a real model."""

    seed: int
    paths: list[tuple[int, ...]] = field(default_factory=list)
    calls: int = 0

    @property
    def logits(self) -> Scores:
        return self._scores(())

    def extend(self, tokens: Sequence[int], parents: Sequence[int]) -> Scores:
        self.calls += 1
        for token, parent in zip(tokens, parents, strict=True):
            self.paths.append((*(self.paths[parent] if parent != PROMPT else ()), token))
        return np.stack([self._scores(path) for path in self.paths[len(self.paths) - len(tokens) :]])

    def _scores(self, path: tuple[int, ...]) -> Scores:
        noise = np.random.default_rng([self.seed, *path]).normal(size=SIZE)
        return noise.astype(np.float32)


@dataclass
class NoiseModel:
    seed: int = 0
    ends: frozenset[int] = frozenset({END})
    guidance: Guidance = field(default_factory=Guidance.of_bytes)

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int]) -> bytes:
        return bytes(token for token in tokens if token < 256)

    def session(self, prompt: str) -> NoiseSession:
        return NoiseSession(self.seed + len(prompt))


@dataclass
class PortModel:
    """A language model that answers by a function of the request."""

    answer: Callable[[Request], str]
    capabilities: Capabilities = field(default_factory=Capabilities)
    name: str = "double"
    requests: list[Request] = field(default_factory=list)

    async def generate(self, request: Request) -> Completion:
        self.requests.append(request)
        return Completion(self.answer(request))

    async def stream(self, request: Request) -> AsyncIterator[str]:
        yield self.answer(request)


@dataclass
class ScoringModel(PortModel):
    """It likes long texts."""

    capabilities: Capabilities = field(default_factory=lambda: Capabilities(scoring=True))

    async def score(self, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        return [float(len(text)) for text in candidates]
