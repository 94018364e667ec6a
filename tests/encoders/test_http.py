"""The HTTP encoder against a server on this machine."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from dialoom.encoders import open_encoder
from dialoom.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable, UsageError
from dialoom.testing.encoders import TEXTS, EncoderConformance, HashedWords

pytest.importorskip("openai", reason="the extra 'openai' is not installed")

from dialoom.encoders.http import HTTPEncoder

Answer = Callable[[list[str]], tuple[int, Any]]


def honest(texts: list[str]) -> tuple[int, Any]:
    """Vectors by words, not of unit length, the last one first."""
    vectors = (3 * HashedWords(32).encode(texts) + 1e-3).tolist()
    rows = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(vectors)]
    usage = {"prompt_tokens": 1, "total_tokens": 1}
    return 200, {"object": "list", "model": "words", "data": rows[::-1], "usage": usage}


class Server:
    """Answers POST /v1/embeddings as `answer` says and keeps the requests."""

    def __init__(self) -> None:
        self.answer: Answer = honest
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(request)
                outer.keys.append(self.headers["Authorization"])
                status, body = outer.answer(request["input"]) if self.path == "/v1/embeddings" else (404, {})
                payload = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                self.end_headers()
                with contextlib.suppress(ConnectionError):  # a caller that gave up is what a test is about
                    self.wfile.write(payload)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Silent."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def server(running: Server) -> Server:
    running.answer = honest
    running.requests.clear()
    running.keys.clear()
    return running


def encoder(server: Server, **settings: Any) -> HTTPEncoder:
    return HTTPEncoder("words", base_url=server.url, retries=0, **settings)


class TestHTTP(EncoderConformance):
    @pytest.fixture(autouse=True)
    def _serve(self, server: Server) -> None:
        self.server = server

    def make(self) -> HTTPEncoder:
        return encoder(self.server)


def test_that_texts_go_in_batches_and_blank_ones_stay_here(server: Server) -> None:
    vectors = encoder(server, batch=2).encode(["one", " ", "two", "three", ""])
    assert [request["input"] for request in server.requests] == [["dimension"], ["one", "two"], ["three"]]
    assert np.linalg.norm(vectors, axis=1).round(3).tolist() == [1, 0, 1, 1, 0]
    assert {request["model"] for request in server.requests} == {"words"}


def test_that_a_spec_opens_it(server: Server) -> None:
    opened = open_encoder(f"{server.url}#words")
    assert np.allclose(opened.encode(TEXTS), encoder(server).encode(TEXTS))


def test_that_the_key_is_sent_where_there_is_one(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "sesame")
    assert encoder(server).dimension == encoder(server, key_variable="SHOP_KEY").dimension == 32
    assert server.keys == ["Bearer none", "Bearer sesame"]


def test_that_openai_itself_needs_a_key() -> None:
    with pytest.raises(UsageError, match="Set the variable OPENAI_API_KEY"):
        open_encoder("openai:text-embedding-3-small")


@pytest.mark.parametrize(
    ("status", "error"), [(400, ModelRefused), (401, ModelRefused), (429, ModelUnavailable), (503, ModelUnavailable)]
)
def test_that_a_server_that_refuses_is_told_from_one_that_is_down(
    server: Server, status: int, error: type[ModelError]
) -> None:
    server.answer = lambda _: (status, {"error": {"message": "no"}})
    with pytest.raises(error, match="'words'"):
        encoder(server).encode(["hello"])


def test_that_an_overloaded_server_is_tried_again(server: Server) -> None:
    def busy_once(texts: list[str]) -> tuple[int, Any]:
        return honest(texts) if len(server.requests) > 1 else (503, {})

    server.answer = busy_once
    assert HTTPEncoder("words", base_url=server.url, retries=1).dimension == 32


def test_that_a_slow_server_times_out(server: Server) -> None:
    waiting = threading.Event()
    server.answer = lambda texts: (waiting.wait(5), honest(texts))[1]
    try:
        with pytest.raises(ModelTimeout):
            encoder(server, timeout=0.1).encode(["hello"])
    finally:
        waiting.set()


def test_that_a_server_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(ModelUnavailable):
        HTTPEncoder("words", base_url="http://127.0.0.1:9/v1", retries=0).encode(["hello"])


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": "words"}]},
        {"data": [{"index": 0, "embedding": [float("nan")]}]},
    ],
)
def test_that_an_answer_without_a_vector_per_text_is_an_error(server: Server, body: Any) -> None:
    server.answer = lambda _: (200, body)
    with pytest.raises(ModelError, match="'words'"):
        encoder(server).encode(["hello"])


def test_that_a_width_that_changes_is_an_error(server: Server) -> None:
    def narrow(texts: list[str]) -> tuple[int, Any]:
        return 200, {"data": [{"index": place, "embedding": [1.0, 2.0]} for place in range(len(texts))]}

    changing = encoder(server)
    assert changing.dimension == 32
    server.answer = narrow
    with pytest.raises(ModelError, match="changed the width"):
        changing.encode(["hello"])
