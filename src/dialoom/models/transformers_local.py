"""A causal language model of the transformers library, in this process (extra `train`)."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, MissingExtra, ModelRefused, ModelTimeout, UsageError
from dialoom.models.base import Capabilities, Completion, FinishReason, Message, Request, Usage
from dialoom.models.requests import prepared
from dialoom.models.scripted import pieces
from dialoom.models.worker import Call, Worker

SCORE_SECONDS = 120.0


class TransformersModel:
    """A model saved in a folder, or in one GGUF file, run by torch on the CPU.

    Loaded on first use; calls queue. It obeys no constraints and does not stream while it writes: use the embedded
    model or a server for these. Made for scoring with, and trying out, models one has trained.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path).expanduser().absolute()
        if not self._path.exists():
            raise InvalidFile(self._path, "there is no such model folder or GGUF file.")
        self._name = f"transformers:{self._path.name}"
        self._worker = Worker()
        self._lock = threading.Lock()
        self._parts: tuple[Any, Any] | None = None

    @property
    def name(self) -> str:
        """`transformers:` and the folder's or file's name."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """Scoring, and nothing to constrain."""
        return Capabilities(scoring=True)

    async def generate(self, request: Request) -> Completion:
        """One completion; deadline and cancellation act at the next token."""
        prepared(self._name, self.capabilities, request)
        started = time.monotonic()
        text, finish, usage = await self._worker.run(
            self._name, lambda call: self._written(request, call), request.timeout
        )
        return Completion(text, finish, usage, self._name, (time.monotonic() - started) * 1000)

    async def stream(self, request: Request) -> AsyncIterator[str]:
        """The finished answer, word by word."""
        for piece in pieces((await self.generate(request)).text):
            yield piece

    async def score(self, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token (nats), exact. Raises `UsageError` for an empty candidate."""
        if not all(candidates):
            raise UsageError("A candidate to score is empty.")
        prepared(self._name, self.capabilities, Request(tuple(messages)))
        return await self._worker.run(
            self._name, lambda call: [self._likelihood(messages, one, call) for one in candidates], SCORE_SECONDS
        )

    def _loaded(self) -> tuple[Any, Any]:
        with self._lock:
            if self._parts is None:
                self._parts = _load(self._path)
            return self._parts

    def _prompt(self, messages: Sequence[Message]) -> list[int]:
        tokenizer = self._loaded()[0]
        if tokenizer.chat_template:
            chat = [{"role": message.role, "content": _plain(tokenizer, message.content)} for message in messages]
            text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        else:
            text = "".join(f"{message.role}: {_plain(tokenizer, message.content)}\n" for message in messages)
            text += "assistant:"
        tokens: list[int] = tokenizer(text, add_special_tokens=not tokenizer.chat_template)["input_ids"]
        return tokens

    def _check_fits(self, tokens: int) -> None:
        limit = getattr(self._loaded()[1].config, "max_position_embeddings", None)
        if limit is not None and tokens > limit:
            raise ModelRefused(f"{tokens} tokens are asked of {self._name}, and its context holds {limit}.")

    def _written(self, request: Request, call: Call) -> tuple[str, FinishReason, Usage]:
        import torch
        from transformers import StoppingCriteria, StoppingCriteriaList

        tokenizer, model = self._loaded()
        sampling = request.sampling
        prompt = self._prompt(request.messages)
        self._check_fits(len(prompt) + sampling.max_tokens)

        class Stopped(StoppingCriteria):  # type: ignore[misc]
            def __call__(self, input_ids: Any, scores: Any, **kwargs: Any) -> Any:  # noqa: ARG002
                written = tokenizer.decode(input_ids[0][len(prompt) :], skip_special_tokens=True)
                return torch.full((1,), call.over() or any(stop in written for stop in sampling.stop))

        if sampling.seed is not None:
            torch.manual_seed(sampling.seed)
        drawn = {"do_sample": True, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": 0}
        with torch.inference_mode():
            output = model.generate(
                torch.tensor([prompt]),
                attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                max_new_tokens=sampling.max_tokens,
                stopping_criteria=StoppingCriteriaList([Stopped()]),
                pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id,
                **(drawn if sampling.temperature > 0 else {"do_sample": False}),
            )[0]
        if call.over():
            raise ModelTimeout(f"{self._name} passed its deadline.", hint="Allow more time or fewer tokens.")
        new = output[len(prompt) :]
        text = str(tokenizer.decode(new, skip_special_tokens=True))
        whole = min([len(text), *(text.index(stop) for stop in sampling.stop if stop in text)])
        cut = whole == len(text) and len(new) >= sampling.max_tokens and int(new[-1]) != tokenizer.eos_token_id
        return text[:whole], "length" if cut else "stop", Usage(len(prompt), len(new))

    def _likelihood(self, messages: Sequence[Message], candidate: str, call: Call) -> float:
        import torch

        if call.over():
            raise ModelTimeout(f"{self._name} passed its deadline.")
        tokenizer, model = self._loaded()
        prompt = self._prompt(messages)
        said = tokenizer(_plain(tokenizer, candidate), add_special_tokens=False)["input_ids"]
        self._check_fits(len(prompt) + len(said))
        with torch.inference_mode():
            logits = model(torch.tensor([prompt + said])).logits[0, len(prompt) - 1 : -1].float()
        likelihoods = torch.log_softmax(logits, dim=-1)[range(len(said)), said]
        return float(likelihoods.mean())


def _plain(tokenizer: Any, text: str) -> str:
    """`text` with the tokenizer's control tokens broken up, so that a transcript cannot close its own message."""
    for token in tokenizer.all_special_tokens:
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


def _load(path: Path) -> tuple[Any, Any]:
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise MissingExtra("A transformers model", "train") from error
    where, options = (path, {}) if path.is_dir() else (path.parent, {"gguf_file": path.name})
    try:
        tokenizer = AutoTokenizer.from_pretrained(where, local_files_only=True, **options)
        model = AutoModelForCausalLM.from_pretrained(where, local_files_only=True, **options)
    except (OSError, ValueError, KeyError) as error:
        raise InvalidFile(path, f"transformers cannot load this model ({error}).") from error
    return tokenizer, model.eval()
