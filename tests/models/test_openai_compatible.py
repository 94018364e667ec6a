"""The OpenAI-compatible adapter against a server on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator

import pytest

from dialoom.errors import (
    InvalidOutput,
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    UnknownName,
    UsageError,
)
from dialoom.models.base import Constraint, LanguageModel, Message, Request, Sampling
from dialoom.models.openai_compatible import OpenAICompatibleModel
from dialoom.models.opening import open_model
from dialoom.models.retrying import Retries
from dialoom.testing.models import SCHEMA, ModelConformance

from .server import Server, drops, fails, raw, says, slow

HELLO = Request((Message("user", "Hello?"),), Sampling(max_tokens=50), timeout=10)
FAST = Retries(attempts=3, first=0.01, longest=0.05)
SECRET = "sk-local0123456789abcdef"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server([says("It is on its way.")]) as running:
        yield running


@pytest.fixture
async def model(server: Server, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[OpenAICompatibleModel]:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    opened = OpenAICompatibleModel("small", server.url, flavour="vllm", retries=FAST, prices=(1.0, 2.0))
    yield opened
    await opened.aclose()


class TestConformance(ModelConformance):
    @pytest.fixture
    async def model(self) -> AsyncIterator[LanguageModel]:
        with Server([says("It is on its way to your door.")]) as server:
            opened = OpenAICompatibleModel("small", server.url, flavour="llamacpp", retries=FAST)
            yield opened
            await opened.aclose()


async def test_that_a_key_that_the_server_repeats_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "plainwords")
    with Server(
        [fails(401, "no user plainwords at http://me:pw123@inside/v1?key=abcdef or Authorization: Key a1b2c3d4e5")]
    ) as server:
        opened = OpenAICompatibleModel("small", server.url, retries=FAST)
        with pytest.raises(ModelRefused) as caught:
            await opened.generate(HELLO)
        await opened.aclose()
    told = str(caught.value)
    assert "http://<key>@inside/v1?key=<key> or Authorization: Key <key>" in told
    assert "plainwords" not in told


async def test_that_an_answer_carries_text_usage_and_cost(model: OpenAICompatibleModel) -> None:
    completion = await model.generate(HELLO)
    assert completion.text == "It is on its way."
    assert completion.usage.prompt_tokens == 11
    assert completion.usage.completion_tokens == 5
    assert completion.usage.cost == pytest.approx((11 * 1.0 + 5 * 2.0) / 1e6)
    assert model.name.endswith("/small")


async def test_that_rate_limits_and_server_errors_are_tried_again(model: OpenAICompatibleModel, server: Server) -> None:
    server.replies = [fails(429, Retry_After="0.02"), fails(500), says("Third time.")]
    assert (await model.generate(HELLO)).text == "Third time."
    assert len(server.seen) == 3


async def test_that_a_lasting_failure_is_unavailable_after_the_last_attempt(
    model: OpenAICompatibleModel, server: Server
) -> None:
    server.replies = [fails(503, "overloaded")]
    with pytest.raises(ModelUnavailable, match="503") as caught:
        await model.generate(HELLO)
    assert caught.value.retryable
    assert len(server.seen) == FAST.attempts


@pytest.mark.parametrize(("status", "hint"), [(400, ""), (401, "OPENAI_API_KEY"), (404, "address")])
async def test_that_a_refused_request_is_not_tried_again(
    model: OpenAICompatibleModel, server: Server, status: int, hint: str
) -> None:
    server.replies = [fails(status)]
    with pytest.raises(ModelRefused, match=str(status)) as caught:
        await model.generate(HELLO)
    assert hint in caught.value.hint
    assert len(server.seen) == 1


@pytest.mark.parametrize("content", [b"not json", b"{}", b'{"choices": []}', b"[]"])
async def test_that_a_malformed_answer_is_an_error(
    model: OpenAICompatibleModel, server: Server, content: bytes
) -> None:
    server.replies = [raw(content)]
    with pytest.raises(ModelError):
        await model.generate(HELLO)


async def test_that_a_slow_server_meets_the_deadline(model: OpenAICompatibleModel, server: Server) -> None:
    server.replies = [slow(0.5, says("Too late."))]
    started = time.monotonic()
    with pytest.raises(ModelTimeout):
        await model.generate(Request(HELLO.messages, HELLO.sampling, timeout=0.1))
    assert time.monotonic() - started < 0.45


async def test_that_a_dropped_connection_is_unavailable(model: OpenAICompatibleModel, server: Server) -> None:
    server.replies = [drops]
    with pytest.raises(ModelUnavailable):
        await model.generate(HELLO)
    assert len(server.seen) == FAST.attempts


async def test_that_a_stream_dropped_halfway_says_so_after_its_pieces(
    model: OpenAICompatibleModel, server: Server
) -> None:
    server.replies = [drops]
    pieces: list[str] = []

    async def listen() -> None:
        async for piece in model.stream(HELLO):
            pieces.append(piece)  # noqa: PERF401 (a comprehension would lose what came before the error)

    with pytest.raises(ModelUnavailable):
        await listen()
    assert pieces == ["Half"]


async def test_that_a_stream_starts_again_after_a_rate_limit(model: OpenAICompatibleModel, server: Server) -> None:
    server.replies = [fails(429), says("Streamed at last.")]
    assert "".join([piece async for piece in model.stream(HELLO)]) == "Streamed at last."


async def test_that_an_unreachable_server_is_unavailable() -> None:
    with Server([says("")]) as gone:
        url = gone.url
    model = OpenAICompatibleModel("small", url, retries=Retries(attempts=1))
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await model.generate(HELLO)
    await model.aclose()


async def test_that_cancelling_the_task_leaves_at_once(model: OpenAICompatibleModel, server: Server) -> None:
    server.replies = [slow(0.5, says("Nobody hears this."))]
    task = asyncio.create_task(model.generate(HELLO))
    await asyncio.sleep(0.05)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 0.4


async def test_that_the_key_goes_to_the_server_and_nowhere_else(
    model: OpenAICompatibleModel, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    server.replies = [fails(401, f"Incorrect API key provided: {SECRET}. Mail a.b@example.org"), fails(401)]
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelRefused) as caught:
        await model.generate(HELLO)
    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"
    shown = f"{caught.value}{caught.value.__cause__}{caplog.text}{model.__dict__}"
    assert SECRET not in str(caught.value)
    assert SECRET not in shown
    assert "a.b@example.org" not in str(caught.value)


@pytest.mark.parametrize(
    ("flavour", "field"), [("llamacpp", "grammar"), ("vllm", "structured_outputs"), ("sglang", "ebnf")]
)
async def test_that_each_flavour_is_sent_the_grammar_in_its_own_field(server: Server, flavour: str, field: str) -> None:
    model = OpenAICompatibleModel("small", server.url, flavour=flavour)
    server.replies = [says("yes")]
    asked = Request(HELLO.messages, constraint=Constraint("choice", ("yes", "no")))
    assert (await model.generate(asked)).text == "yes"
    assert 'root ::= "yes" | "no"' in json.dumps(server.seen[0][field]).replace('\\"', '"')
    await model.aclose()


async def test_that_the_openai_flavour_sends_a_response_format(server: Server) -> None:
    model = OpenAICompatibleModel("small", server.url)
    server.replies = [says('{"reply": "On its way", "done": false}')]
    await model.generate(Request(HELLO.messages, constraint=Constraint("json_schema", SCHEMA)))
    sent = server.seen[0]["response_format"]["json_schema"]
    assert sent["schema"] == SCHEMA
    assert sent["strict"] is True
    loose = {"type": "object", "properties": {"a": {"type": "string"}}}
    server.replies = [says("{}")]
    await model.generate(Request(HELLO.messages, constraint=Constraint("json_schema", loose)))
    assert server.seen[-1]["response_format"]["json_schema"]["strict"] is False
    await model.aclose()


async def test_that_a_server_that_ignores_the_constraint_is_caught(model: OpenAICompatibleModel) -> None:
    asked = Request(HELLO.messages, constraint=Constraint("choice", ("yes", "no")))
    with pytest.raises(InvalidOutput) as caught:
        await model.generate(asked)
    assert caught.value.text == "It is on its way."
    with pytest.raises(InvalidOutput):
        assert [piece async for piece in model.stream(asked)]


async def test_that_a_withheld_answer_is_refused(model: OpenAICompatibleModel, server: Server) -> None:
    server.replies = [says("Half an", finish="content_filter")]
    with pytest.raises(ModelRefused, match="content filter"):
        await model.generate(HELLO)


def test_that_addresses_with_secrets_and_unknown_flavours_are_refused() -> None:
    for address in ("http://me:pw@host/v1", "http://host/v1?key=1", "ftp://host", "host"):
        with pytest.raises(UsageError):
            OpenAICompatibleModel("m", address)
    with pytest.raises(UnknownName, match="vllm"):
        OpenAICompatibleModel("m", "http://host/v1", flavour="vlm")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        OpenAICompatibleModel("m")


async def test_that_open_model_reads_server_addresses(server: Server) -> None:
    model = open_model(f"{server.url}?flavour=sglang#small")
    assert isinstance(model, OpenAICompatibleModel)
    assert "regex" in model.capabilities.constraints
    assert (await model.generate(HELLO)).model == "small"
    await model.aclose()
