"""Any server that speaks the OpenAI chat-completions protocol."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from dialoom.errors import (
    MissingExtra,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    UnknownName,
    UsageError,
)
from dialoom.models.base import Capabilities, Completion, ConstraintKind, FinishReason, Request, Usage
from dialoom.models.constraints import ALL_KINDS, Compiled
from dialoom.models.requests import prepared, verified
from dialoom.models.retrying import Retries, retried
from dialoom.models.scrubbing import scrubbed

Asking = Callable[[Compiled], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _Dialect:
    """What a server can be asked to obey, and the request fields that ask it."""

    constraints: frozenset[ConstraintKind]
    asking: Asking


def _response_format(constraint: Compiled) -> Mapping[str, Any]:
    schema = constraint.schema
    body = {"name": "answer", "schema": schema, "strict": _is_strict(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": body}}


def _sglang(constraint: Compiled) -> Mapping[str, Any]:
    return {"extra_body": {"ebnf": constraint.grammar.gbnf()}}


# Every kind is sent as the grammar compiled here: a broken one never leaves, and the answer is checked against it.
_DIALECTS: Mapping[str, _Dialect] = MappingProxyType(
    {
        "openai": _Dialect(frozenset({"json_schema"}), _response_format),
        "llamacpp": _Dialect(ALL_KINDS, lambda one: {"extra_body": {"grammar": one.grammar.gbnf()}}),
        "vllm": _Dialect(
            ALL_KINDS, lambda one: {"extra_body": {"structured_outputs": {"grammar": one.grammar.gbnf()}}}
        ),
        "sglang": _Dialect(ALL_KINDS, _sglang),
        "plain": _Dialect(frozenset(), lambda _: {}),
    }
)


class OpenAICompatibleModel:
    """A model behind an OpenAI-compatible server.

    `base_url` None is OpenAI itself. The key comes from the environment variable `key_variable` and from nowhere
    else; other servers get a dummy when it is unset. `flavour` (`openai`, `llamacpp`, `vllm`, `sglang`, `plain`) says
    which constraints the server understands, and how it is asked.
    `prices` are US dollars for a million prompt and a million completion tokens.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        flavour: str = "openai",
        key_variable: str = "OPENAI_API_KEY",
        retries: Retries = Retries(),  # noqa: B008
        prices: tuple[float, float] | None = None,
        context_tokens: int | None = None,
    ) -> None:
        if flavour not in _DIALECTS:
            raise UnknownName("server flavour", flavour, _DIALECTS)
        _check_url(base_url)
        if not model:
            raise UsageError("The server's model has no name.", hint="Write http://host:port/v1#name.")
        if base_url is None and not os.environ.get(key_variable):
            raise UsageError(f"The model openai:{model} needs a key.", hint=f"Set the variable {key_variable}.")
        self._model = model
        self._base_url = base_url
        self._dialect = _DIALECTS[flavour]
        self._key_variable = key_variable
        self._retries = retries
        self._prices = prices
        self._context_tokens = context_tokens
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    @property
    def name(self) -> str:
        """`openai:MODEL`, or `HOST/MODEL`."""
        return f"openai:{self._model}" if self._base_url is None else f"{urlsplit(self._base_url).netloc}/{self._model}"

    @property
    def capabilities(self) -> Capabilities:
        """What the server's flavour can obey; streaming."""
        return Capabilities(self._dialect.constraints, streaming=True, context_tokens=self._context_tokens)

    async def generate(self, request: Request) -> Completion:
        """One completion; unreachable servers, rate limits and server errors are tried again within the timeout."""
        constraint = prepared(self.name, self.capabilities, request)
        started = time.monotonic()

        async def call() -> Any:
            async with self._mapped_errors():
                return await self._client().chat.completions.create(**self._fields(request, constraint))

        async with self._deadline(request):
            answer = await retried(call, self._retries)
        text, finish = self._said(answer)
        verified(self.name, constraint, text, finish, request.sampling.max_tokens)
        milliseconds = (time.monotonic() - started) * 1000
        return Completion(text, finish, self._usage(answer), str(answer.model or self._model), milliseconds)

    async def stream(self, request: Request) -> AsyncIterator[str]:
        """Pieces as the server sends them; only the start of the call is tried again."""
        constraint = prepared(self.name, self.capabilities, request)
        until = time.monotonic() + request.timeout

        async def start() -> Any:
            async with self._mapped_errors():
                return await self._client().chat.completions.create(stream=True, **self._fields(request, constraint))

        async with self._deadline(request):
            chunks = await retried(start, self._retries)
        arriving = aiter(chunks)
        text = ""
        ended: str | None = None
        try:
            while True:
                # Each wait is bounded apart: a deadline held across a yield would cancel the consumer's own code.
                async with self._deadline(request, until), self._mapped_errors():
                    chunk = await anext(arriving, None)
                if chunk is None:
                    break
                for choice in chunk.choices or ():
                    ended = choice.finish_reason or ended
                    if piece := choice.delta.content or "":
                        text += piece
                        yield piece
        finally:
            await chunks.close()
        if ended is None:
            raise ModelUnavailable(f"{self.name} dropped the connection before the end of its answer.")
        verified(self.name, constraint, text, self._finish(ended), request.sampling.max_tokens)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def _client(self) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            try:
                from openai import AsyncOpenAI
            except ImportError as error:
                raise MissingExtra("A model server", "openai") from error
            key = os.environ.get(self._key_variable) or "none"
            self._clients[loop] = AsyncOpenAI(api_key=key, base_url=self._base_url, max_retries=0)
        return self._clients[loop]

    def _fields(self, request: Request, constraint: Compiled | None) -> dict[str, Any]:
        sampling = request.sampling
        # OpenAI's own models know only the newer name of this field, other servers mostly the older one.
        limit = "max_completion_tokens" if self._base_url is None else "max_tokens"
        fields: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            limit: sampling.max_tokens,
            "timeout": request.timeout,
        }
        if sampling.seed is not None:
            fields["seed"] = sampling.seed
        if sampling.stop:
            fields["stop"] = list(sampling.stop)
        return fields | dict(self._dialect.asking(constraint) if constraint is not None else {})

    def _said(self, answer: Any) -> tuple[str, FinishReason]:
        choices = getattr(answer, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise ModelError(f"{self.name} answered without a message.", hint="Is it an OpenAI-compatible server?")
        message = choices[0].message
        if getattr(message, "refusal", None):
            raise ModelRefused(f"{self.name} refused: {scrubbed(str(message.refusal))}")
        return message.content or "", self._finish(choices[0].finish_reason)

    def _finish(self, reason: object) -> FinishReason:
        if reason == "content_filter":
            raise ModelRefused(f"{self.name} withheld its answer (content filter).")
        return "length" if reason == "length" else "stop"

    def _usage(self, answer: Any) -> Usage:
        usage = getattr(answer, "usage", None)
        if usage is None:
            return Usage()
        cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None) or 0
        asked, told = usage.prompt_tokens or 0, usage.completion_tokens or 0
        cost = (asked * self._prices[0] + told * self._prices[1]) / 1e6 if self._prices else None
        return Usage(asked, told, cached, cost)

    @asynccontextmanager
    async def _deadline(self, request: Request, until: float | None = None) -> AsyncIterator[None]:
        seconds = request.timeout if until is None else until - time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                yield
        except TimeoutError:
            raise ModelTimeout(f"{self.name} gave no whole answer within {request.timeout:g} s.") from None

    @asynccontextmanager
    async def _mapped_errors(self) -> AsyncIterator[None]:
        try:
            yield
        except (ModelError, MissingExtra):
            raise
        except Exception as error:
            raise self._mapped(error) from None

    def _mapped(self, error: Exception) -> ModelError:
        """The error tree's view of an SDK error: its text scrubbed, its cause, which may hold headers, dropped."""
        import openai

        said = scrubbed(str(error), os.environ.get(self._key_variable, ""))[:300]
        if isinstance(error, openai.APITimeoutError):
            return ModelTimeout(f"{self.name} timed out.")
        if isinstance(error, openai.APIStatusError):
            return self._status(error.status_code, said, error.response.headers.get("retry-after"))
        if isinstance(error, openai.APIResponseValidationError | ValueError | TypeError):
            return ModelError(f"{self.name} sent an answer that cannot be read: {said}")
        return ModelUnavailable(f"{self.name} cannot be reached or dropped the connection: {said}")

    def _status(self, status: int, said: str, retry_after: str | None) -> ModelError:
        if status in (408, 409, 425, 429) or status >= 500:
            wait = float(retry_after) if retry_after and retry_after.replace(".", "", 1).isdigit() else None
            return ModelUnavailable(f"{self.name} answered {status}: {said}", retry_after=wait)
        hint = {
            401: f"Set the variable {self._key_variable} to a valid key.",
            403: f"Set the variable {self._key_variable} to a key that may use this model.",
            404: "Check the server's address and the model's name.",
        }.get(status, "")
        return ModelRefused(f"{self.name} answered {status}: {said}", hint=hint)


def _check_url(base_url: str | None) -> None:
    if base_url is None:
        return
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"'{scrubbed(base_url)}' is not the address of a server.", hint="Write http://host:port/v1.")
    if parts.username or parts.password or parts.query:
        raise UsageError(
            f"The address of {parts.hostname} holds a user, a password or a query.",
            hint="Keys are read from the environment only.",
        )


def _is_strict(schema: Any) -> bool:
    """Whether OpenAI's strict mode takes the schema: every object closed, every property required."""
    if isinstance(schema, Mapping):
        properties = schema.get("properties")
        if schema.get("type") == "object" or isinstance(properties, Mapping):
            closed = schema.get("additionalProperties") is False
            if not closed or set(schema.get("required", ())) != set(properties or ()):
                return False
        return all(_is_strict(value) for value in schema.values())
    return all(_is_strict(value) for value in schema) if isinstance(schema, list) else True
