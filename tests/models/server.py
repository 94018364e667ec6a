"""A small OpenAI-compatible server on loopback whose behaviour a test chooses."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Reply = Callable[["Handler", dict[str, Any]], None]


@dataclass
class Server:
    """`replies` are played one each request, the last one for ever; `seen` are the request bodies, `headers` theirs."""

    replies: list[Reply]
    seen: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def __enter__(self) -> Server:
        owner = self

        class Bound(Handler):
            server_state = owner

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Bound)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    server_state: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        state = self.server_state
        state.seen.append(body)
        state.headers.append({name.lower(): value for name, value in self.headers.items()})
        state.replies[min(len(state.seen), len(state.replies)) - 1](self, body)

    def send(self, status: int, content: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        return


def says(text: str, *, finish: str = "stop") -> Reply:
    """Answer with `text`, whole or streamed as asked."""

    def reply(handler: Handler, body: dict[str, Any]) -> None:
        limit = int(body.get("max_tokens") or body["max_completion_tokens"])
        words = [word if i == 0 else f" {word}" for i, word in enumerate(text.split(" "))]
        ended = finish if len(words) <= limit else "length"
        words = words[:limit]
        if body.get("stream"):
            _start_stream(handler)
            for word in words:
                _chunk(handler, {"content": word})
            _chunk(handler, {}, ended)
            handler.wfile.write(b"data: [DONE]\n\n")
            return
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [
                {"index": 0, "finish_reason": ended, "message": {"role": "assistant", "content": "".join(words)}}
            ],
            "usage": {"prompt_tokens": 11, "completion_tokens": len(words), "total_tokens": 11 + len(words)},
        }
        handler.send(200, json.dumps(answer).encode())

    return reply


def fails(status: int, message: str = "no", **headers: str) -> Reply:
    """Answer with an error status."""
    return lambda handler, _: handler.send(status, json.dumps({"error": {"message": message}}).encode(), **headers)


def raw(content: bytes) -> Reply:
    """Answer 200 with these bytes."""
    return lambda handler, _: handler.send(200, content)


def slow(seconds: float, then: Reply) -> Reply:
    """Wait, then answer."""

    def reply(handler: Handler, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        try:
            then(handler, body)
        except OSError:
            return

    return reply


def drops(handler: Handler, body: dict[str, Any]) -> None:
    """Close the connection: at once, or after the first streamed word."""
    if body.get("stream"):
        _start_stream(handler)
        _chunk(handler, {"content": "Half"})
    handler.close_connection = True


def _start_stream(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True


def _chunk(handler: Handler, delta: dict[str, str], finish: str | None = None) -> None:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    handler.wfile.write(f"data: {json.dumps(body)}\n\n".encode())
    handler.wfile.flush()
