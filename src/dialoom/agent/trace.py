"""What a turn decided, stage by stage: inputs, choice, scores, time and model calls, as values that log and replay."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dialoom.models.base import Completion, Message, Usage


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
    def stage(self, name: str) -> Iterator[dict[str, Any]]:
        """Time a block; what the block puts into the yielded dict becomes the stage's record."""
        decided: dict[str, Any] = {}
        start = time.perf_counter()
        yield decided
        self.stages.append(Stage(name, (time.perf_counter() - start) * 1000.0, decided))


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
