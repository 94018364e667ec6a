"""What a turn decided, stage by stage: inputs, choice, scores, time and model calls, as values that log and replay."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from dialoom.errors import UsageError
from dialoom.models.base import Capabilities, Completion, LanguageModel, Message, Request, Scorer, Usage


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a turn: its name, wall-clock milliseconds, and what it decided in JSON values."""

    name: str
    milliseconds: float
    decided: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """One model call: which model, what was sent, what came back."""

    model: str
    messages: tuple[Message, ...]
    text: str
    usage: Usage
    milliseconds: float

    @classmethod
    def of(cls, messages: tuple[Message, ...], completion: Completion) -> Call:
        """The record of a finished completion."""
        return cls(completion.model, messages, completion.text, completion.usage, completion.milliseconds)


@dataclass(slots=True)
class Recorder:
    """Collects stages and calls while a turn runs; the turn owns it and nothing else sees it."""

    stages: list[Stage] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Inside the block, calls of every `Overheard` model are recorded here."""
        token = _listening.set(self)
        try:
            yield
        finally:
            _listening.reset(token)

    def note(self, name: str, decided: Mapping[str, Any]) -> None:
        """A part of the stage before it, whose time it has."""
        self.stages.append(Stage(name, 0.0, decided))

    @contextmanager
    def stage(self, name: str) -> Iterator[dict[str, Any]]:
        """Time a block; what the block puts into the yielded dict becomes the stage's record."""
        decided: dict[str, Any] = {}
        start = time.perf_counter()
        yield decided
        self.stages.append(Stage(name, (time.perf_counter() - start) * 1000.0, decided))


_listening: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


@dataclass(frozen=True, slots=True)
class Overheard:
    """A model whose calls stand in the trace of the turn they are made in, wherever it is used."""

    model: LanguageModel

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def capabilities(self) -> Capabilities:
        """The model's capabilities."""
        return self.model.capabilities

    async def generate(self, request: Request) -> Completion:
        """The model's answer, noted."""
        completion = await self.model.generate(request)
        recorder = _listening.get()
        if recorder is not None:
            recorder.calls.append(Call.of(request.messages, completion))
        return completion

    def stream(self, request: Request) -> AsyncIterator[str]:
        """The model's answer in pieces, which are not noted."""
        return self.model.stream(request)

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[float]:
        """The model's scores, if it is a `Scorer` (`capabilities.scoring`); not noted."""
        if not isinstance(self.model, Scorer):
            raise UsageError(f"{self.name} cannot score texts.")
        return await self.model.score(messages, texts)


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything one turn decided, in order."""

    stages: tuple[Stage, ...]
    calls: tuple[Call, ...] = ()

    @property
    def milliseconds(self) -> float:
        """Time of all stages."""
        return sum(stage.milliseconds for stage in self.stages)

    def decided(self, name: str) -> Mapping[str, Any]:
        """What the stage `name` decided; empty if it did not run."""
        return next((stage.decided for stage in self.stages if stage.name == name), {})

    def to_json(self) -> dict[str, Any]:
        """JSON values: stages with their decisions, model calls with prompt, reply, tokens and time."""
        return {
            "milliseconds": round(self.milliseconds, 3),
            "stages": [
                {"name": stage.name, "milliseconds": round(stage.milliseconds, 3), **stage.decided}
                for stage in self.stages
            ],
            "calls": [
                {
                    "model": call.model,
                    "messages": [{"role": message.role, "content": message.content} for message in call.messages],
                    "text": call.text,
                    "prompt_tokens": call.usage.prompt_tokens,
                    "completion_tokens": call.usage.completion_tokens,
                    "milliseconds": round(call.milliseconds, 3),
                }
                for call in self.calls
            ],
        }
