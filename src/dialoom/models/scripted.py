"""A model that says what it is told: the double for tests and demonstrations."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dialoom.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from dialoom.models.base import Capabilities, Completion, Message, Request, Usage
from dialoom.models.constraints import ALL_KINDS
from dialoom.models.requests import prepared, verified


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure to inject in place of an answer.

    `timeout` waits until the request's deadline (`seconds`, if sooner) and fails; `error` is an unreachable server,
    worth a retry; `refused` is not; `malformed` answers half a JSON object; `empty` answers nothing; `slow` answers
    `text` after `seconds`, or times out.
    """

    kind: Literal["timeout", "error", "refused", "malformed", "empty", "slow"]
    seconds: float = 0.0
    text: str = "late"


Answer = str | Completion | Fault | ModelError
Answers = Sequence[Answer] | Mapping[str, Answer] | Callable[[Request], Answer]

_CAPABILITIES = Capabilities(constraints=ALL_KINDS, streaming=True, scoring=True, context_tokens=None)


class ScriptedModel:
    """Answers from a script, and remembers every request in `requests`.

    `answers` is a list (one each call, the last one for ever), a mapping from a text to look for in the last message
    to the answer, or a function of the request. Scores come from `scores` (a function of a candidate), or prefer
    candidates that share words with the last message.
    """

    def __init__(
        self,
        answers: Answers = ("All right.",),
        *,
        scores: Callable[[str], float] | None = None,
        name: str = "scripted",
        capabilities: Capabilities = _CAPABILITIES,
    ) -> None:
        self.requests: list[Request] = []
        self._answers = answers
        self._scores = scores
        self._name = name
        self._capabilities = capabilities

    @property
    def name(self) -> str:
        """What reports call it."""
        return self._name

    @property
    def capabilities(self) -> Capabilities:
        """What it was told it can do."""
        return self._capabilities

    async def generate(self, request: Request) -> Completion:
        """The next answer. Raises what the script says, and `InvalidOutput` as any adapter does."""
        constraint = prepared(self._name, self._capabilities, request)
        self.requests.append(request)
        answer = await self._played(self._chosen(request), request)
        text, finish = answer.text, answer.finish_reason
        for stop in request.sampling.stop:
            text = text.split(stop, 1)[0]
        words = re.findall(r"\s*\S+", text)
        if len(words) > request.sampling.max_tokens:
            text, finish = "".join(words[: request.sampling.max_tokens]), "length"
        verified(self._name, constraint, text, finish, request.sampling.max_tokens)
        return Completion(text, finish, answer.usage, answer.model or self._name, answer.milliseconds, answer.details)

    async def stream(self, request: Request) -> AsyncIterator[str]:
        """The answer word by word."""
        completion = await self.generate(request)
        for piece in pieces(completion.text):
            yield piece

    async def score(self, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        """Scores at most 0, by the script's function or by shared words."""
        if self._scores is not None:
            return [self._scores(candidate) for candidate in candidates]
        said = _words(messages[-1].content) if messages else set()
        return [-1.0 / (1.0 + len(said & _words(candidate))) for candidate in candidates]

    def _chosen(self, request: Request) -> Answer:
        if callable(self._answers):
            return self._answers(request)
        if isinstance(self._answers, Mapping):
            said = request.messages[-1].content
            for key, answer in self._answers.items():
                if key in said:
                    return answer
            listed = ", ".join(map(repr, self._answers)) or "nothing"
            raise ModelRefused(f"The script has no answer to {said[:80]!r}. It looks for: {listed}.")
        if not self._answers:
            raise ModelRefused("The script has no answers.")
        return self._answers[min(len(self.requests), len(self._answers)) - 1]

    async def _played(self, answer: Answer, request: Request) -> Completion:
        match answer:
            case Completion():
                return answer
            case str():
                text = answer
            case ModelError():
                raise answer
            case Fault(kind, seconds, text):
                text = await _faulted(kind, seconds, text, request.timeout)
        prompt = sum(len(message.content.split()) for message in request.messages)
        return Completion(text, usage=Usage(prompt, len(text.split())))


async def _faulted(kind: str, seconds: float, text: str, timeout: float) -> str:
    match kind:
        case "timeout":
            await asyncio.sleep(min(seconds or timeout, timeout))
            raise ModelTimeout(f"The scripted model gave no answer within {timeout} s.")
        case "error":
            raise ModelUnavailable("The scripted model is unavailable.", retry_after=seconds or None)
        case "refused":
            raise ModelRefused("The scripted model refuses the request.")
        case "malformed":
            return '{"unfinished": ['
        case "empty":
            return ""
        case _:
            await asyncio.sleep(min(seconds, timeout))
            if seconds >= timeout:
                raise ModelTimeout(f"The scripted model gave no answer within {timeout} s.")
            return text


def pieces(text: str) -> list[str]:
    """`text` cut into words with the spaces before them; joined again they are the text."""
    return re.findall(r"\s*\S+|\s+$", text)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))
