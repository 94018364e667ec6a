"""Recorded model calls: tests and demonstrations that need no model, no key and no network.

A cassette is a JSON file, described by a published JSON Schema. Calls are found by a hash of what was asked. Keys,
tokens and e-mail addresses are taken out before anything is written, and before hashing, so that a recording holds
none and still replays.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialoom.errors import CassetteMiss, InvalidFile, UsageError
from dialoom.files import read_text, write_text
from dialoom.models.base import (
    Capabilities,
    Completion,
    ConstraintKind,
    FinishReason,
    LanguageModel,
    Message,
    Request,
    Scorer,
    Usage,
)
from dialoom.models.requests import prepared, verified
from dialoom.models.scripted import pieces
from dialoom.models.scrubbing import scrubbed_json

MAX_BYTES = 64 * 1024 * 1024

Mode = Literal["replay", "record", "auto"]


class _Value(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecordedUsage(_Value):
    """Tokens and cost of the recorded call."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None


class RecordedAnswer(_Value):
    """What the model answered."""

    text: str
    finish_reason: FinishReason = "stop"
    usage: RecordedUsage = RecordedUsage()
    model: str = ""
    milliseconds: float = 0.0


class GenerateCall(_Value):
    """A recorded `generate`: `request` holds the model, messages, sampling and constraint."""

    kind: Literal["generate"] = "generate"
    key: str = Field(description="SHA-256 of the request as sorted, compact JSON")
    request: dict[str, Any]
    answer: RecordedAnswer


class ScoreCall(_Value):
    """A recorded `score`: `request` holds the model, messages and candidates."""

    kind: Literal["score"] = "score"
    key: str = Field(description="SHA-256 of the request as sorted, compact JSON")
    request: dict[str, Any]
    answer: list[float]


class RecordedCapabilities(_Value):
    """What the recorded model could do."""

    constraints: list[ConstraintKind] = []
    scoring: bool = False
    context_tokens: int | None = None


class CassetteFile(_Value):
    """The whole file."""

    format: Literal["dialoom.cassette"] = "dialoom.cassette"
    version: Literal[1] = 1
    model: str
    capabilities: RecordedCapabilities = RecordedCapabilities()
    calls: list[GenerateCall | ScoreCall] = Field(default=[], max_length=100_000)


def cassette_schema() -> dict[str, Any]:
    """The JSON Schema of a cassette file; the package ships it as `models/schemas/cassette.schema.json`."""
    schema = CassetteFile.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


class Cassette:
    """A language model that replays recorded calls, records them, or both.

    `replay` answers from the file alone. `record` asks `model` every time and keeps the answers in place of older
    ones. `auto` replays what the file holds and records the rest. The same request recorded several times is replayed
    in that order, the last answer repeating. Answers come back as they are stored, scrubbed, in every mode.
    """

    def __init__(self, path: Path | str, model: LanguageModel | None = None, *, mode: Mode = "replay") -> None:
        if mode != "replay" and model is None:
            raise UsageError(f"A cassette in mode '{mode}' needs a model to record.", hint="Pass the model as well.")
        self.path = Path(path)
        self._inner = model
        self._mode: Mode = mode
        self._lock = threading.Lock()
        self._played: Counter[str] = Counter()
        self._fresh: set[str] = set()
        self._file = self._opened()

    @property
    def name(self) -> str:
        """The recorded model's name."""
        return self._file.model

    @property
    def capabilities(self) -> Capabilities:
        """The recorded model's capabilities."""
        recorded = self._file.capabilities
        return Capabilities(frozenset(recorded.constraints), True, recorded.scoring, recorded.context_tokens)

    async def generate(self, request: Request) -> Completion:
        """The recorded answer; `CassetteMiss` when there is none and nothing may be recorded."""
        constraint = prepared(self.name, self.capabilities, request)
        asked = {**asdict(request), "model": self.name}
        del asked["timeout"]
        call = self._replayed("generate", asked)
        if call is None and self._inner is not None:
            said = await self._inner.generate(request)
            answer = asdict(said)
            del answer["details"]
            call = self._recorded("generate", asked, answer)
        if not isinstance(call, GenerateCall):
            raise self._miss("generate", asked)
        kept = call.answer
        verified(self.name, constraint, kept.text, kept.finish_reason, request.sampling.max_tokens)
        usage = Usage(**kept.usage.model_dump())
        return Completion(kept.text, kept.finish_reason, usage, kept.model, kept.milliseconds)

    async def stream(self, request: Request) -> AsyncIterator[str]:
        """The recorded answer word by word."""
        for piece in pieces((await self.generate(request)).text):
            yield piece

    async def score(self, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        """The recorded scores."""
        spoken = [asdict(message) for message in messages]
        asked = {"model": self.name, "messages": spoken, "candidates": list(candidates)}
        call = self._replayed("score", asked)
        scorer: object = self._inner
        if call is None and isinstance(scorer, Scorer):
            call = self._recorded("score", asked, await scorer.score(messages, candidates))
        if not isinstance(call, ScoreCall):
            raise self._miss("score", asked)
        return list(call.answer)

    def _opened(self) -> CassetteFile:
        if not self.path.exists():
            if self._inner is None:
                raise InvalidFile(self.path, "there is no such cassette.", hint=_HOW.format(path=self.path))
            able = self._inner.capabilities
            recorded = RecordedCapabilities(
                constraints=sorted(able.constraints), scoring=able.scoring, context_tokens=able.context_tokens
            )
            return CassetteFile(model=self._inner.name, capabilities=recorded)
        file = _read(self.path)
        if self._inner is not None and self._inner.name != file.model:
            raise UsageError(f"{self.path} holds calls of {file.model}, not of {self._inner.name}.")
        return file

    def _replayed(self, kind: str, asked: Mapping[str, Any]) -> GenerateCall | ScoreCall | None:
        key = _key(scrubbed_json(asked))
        with self._lock:
            if self._mode == "record":
                return None
            found = [call for call in self._file.calls if call.kind == kind and call.key == key]
            if not found:
                return None
            self._played[key] += 1
            return found[min(self._played[key], len(found)) - 1]

    def _recorded(self, kind: str, asked: Mapping[str, Any], answer: Any) -> GenerateCall | ScoreCall:
        request = scrubbed_json(asked)
        key = _key(request)
        raw = {"kind": kind, "key": key, "request": request, "answer": scrubbed_json(answer)}
        call = GenerateCall.model_validate(raw) if kind == "generate" else ScoreCall.model_validate(raw)
        with self._lock:
            stale = self._mode == "record" and key not in self._fresh
            self._fresh.add(key)
            calls = [old for old in self._file.calls if not (stale and old.key == key)]
            self._file = self._file.model_copy(update={"calls": [*calls, call]})
            write_text(self.path, json.dumps(self._file.model_dump(), ensure_ascii=False, indent=1) + "\n")
        return call

    def _miss(self, kind: str, asked: Mapping[str, Any]) -> CassetteMiss:
        request = scrubbed_json(asked)
        said = _last_text(request)
        near = [call for call in self._file.calls if call.kind == kind]
        message = f"{self.path} holds no {kind} call for {said!r}."
        if near:
            best = max(near, key=lambda call: _likeness(call.request, request))
            fields = ", ".join(_differences(best.request, request))
            message += f" The nearest of {len(near)} is {_last_text(best.request)!r}; it differs in {fields}."
        return CassetteMiss(message, hint=_HOW.format(path=self.path))


_HOW = "Record it with Cassette('{path}', model, mode='auto'), or --model 'cassette:{path}#MODEL'."


def _read(path: Path) -> CassetteFile:
    try:
        file = CassetteFile.model_validate_json(read_text(path, limit=MAX_BYTES))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(str(part) for part in first["loc"]) or "the top"
        raise InvalidFile(path, f"{first['msg']}.", place=place) from None
    for number, call in enumerate(file.calls):
        if call.key != _key(call.request):
            hint = f"After editing the request by hand, set it to {_key(call.request)}."
            raise InvalidFile(path, "the key is not the hash of the request.", place=f"calls/{number}/key", hint=hint)
    return file


def _key(request: Any) -> str:
    packed = json.dumps(request, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(packed.encode()).hexdigest()


def _spoken(request: Mapping[str, Any]) -> str:
    return "\n".join(str(message.get("content", "")) for message in request.get("messages", ()))[-4000:]


def _likeness(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> float:
    return difflib.SequenceMatcher(None, _spoken(recorded), _spoken(asked)).ratio()


def _last_text(request: Mapping[str, Any]) -> str:
    messages = request.get("messages") or [{}]
    text = str(messages[-1].get("content", ""))
    return text if len(text) <= 80 else f"...{text[-77:]}"


def _differences(recorded: Any, asked: Any, place: str = "") -> list[str]:
    if isinstance(recorded, Mapping) and isinstance(asked, Mapping):
        both = {key: (recorded.get(key), asked.get(key)) for key in sorted({*recorded, *asked})}
        return [at for key, pair in both.items() for at in _differences(*pair, f"{place}.{key}".strip("."))]
    if isinstance(recorded, list) and isinstance(asked, list) and len(recorded) == len(asked):
        pairs = enumerate(zip(recorded, asked, strict=True))
        return [at for number, (old, new) in pairs for at in _differences(old, new, f"{place}[{number}]")]
    return [] if recorded == asked else [place]
