"""llama.cpp in this process, through xllamacpp, with the binding's traps closed.

What the binding does and what is done about it: it hangs in a forked child (the process is checked); it cannot be
cancelled unless it streams (it always streams); a daemon thread inside it crashes the interpreter's exit (the worker
is no daemon, and stops when the main thread ends); errors come as exceptions, as a returned dictionary, as a streamed
dictionary, or as None (all four are errors); empty messages run to the end of the context (refused before); texts
that look like control tokens become control tokens (broken up before); it listens on a loopback port (closed to
others by a random key, and used here to count tokens); threads spin on shared cores (one thread by default).
"""

from __future__ import annotations

import http.client
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dialoom.errors import InvalidFile, MissingExtra, ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from dialoom.models.base import Message
from dialoom.models.worker import Call, Worker

CACHE_MIB = 64
"""Memory for the states of idle prompts; the binding's own default is 8 GiB."""


class Engine:
    """One model file in memory, loaded on first use; every method but the constructor is for the worker's thread."""

    def __init__(self, path: Path, context_tokens: int, threads: int) -> None:
        self.path = path
        self.context_tokens = context_tokens
        self.worker = Worker()
        self._threads = threads
        self._process = os.getpid()
        self._key = secrets.token_hex(16)
        self._server: Any = None

    def check_process(self) -> None:
        """Raise `ModelError` in a forked child, where the binding would hang for ever."""
        if os.getpid() != self._process:
            raise ModelError(
                "The embedded model was opened before this process was forked, and cannot be used here.",
                hint="Start processes with 'spawn', or open the model after the fork.",
            )

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Tokens of the model's chat template filled with `messages` and opened for the assistant."""
        filled = [{"role": message.role, "content": self._plain(message.content)} for message in messages]
        text = self._ask("/apply-template", {"messages": filled})["prompt"]
        # The template's own first token (BOS) is left out of its text wherever the tokenizer adds it.
        body = {"content": text, "add_special": True, "parse_special": True}
        tokens: list[int] = self._ask("/tokenize", body)["tokens"]
        return tokens

    def pieces(self, text: str) -> list[tuple[int, bytes]]:
        """Tokens of a plain text, each with the bytes it stands for."""
        body = {"content": text, "add_special": False, "parse_special": False, "with_pieces": True}
        found = self._ask("/tokenize", body)["tokens"]
        return [
            (one["id"], one["piece"].encode() if isinstance(one["piece"], str) else bytes(one["piece"]))
            for one in found
        ]

    def check_fits(self, prompt: int, new: int) -> None:
        """Raise `ModelRefused` when the prompt and `new` tokens do not fit the context."""
        if prompt + new > self.context_tokens:
            raise ModelRefused(
                f"The prompt has {prompt} tokens and may grow by {new}, and the embedded model's context holds "
                f"{self.context_tokens}.",
                hint="Send a shorter prompt, lower max_tokens, or open the model with more context_tokens.",
            )

    def complete(self, body: dict[str, Any], call: Call, receive: Callable[[dict[str, Any]], None]) -> None:
        """Run one completion, giving each chunk to `receive`.

        Raises `ModelTimeout` past the deadline, and another `ModelError` for each of the ways the binding fails.
        A cancelled call returns early.
        """
        failures: list[BaseException] = []
        finished = False

        def heard(chunk: dict[str, Any]) -> bool:
            nonlocal finished
            # An exception leaving a callback is swallowed by the binding, so none may leave.
            try:
                if "error" in chunk:
                    failures.append(_refusal(chunk["error"]))
                    return True
                if call.over():
                    return True
                finished = finished or any(choice.get("finish_reason") for choice in chunk.get("choices", ()))
                receive(chunk)
            except Exception as error:
                failures.append(error)
                return True
            return False

        try:
            returned = self._loaded().handle_completions({**body, "stream": True}, heard)
        except (ValueError, TypeError, RuntimeError) as error:
            raise ModelRefused(f"The embedded model refused the call: {error}") from error
        if failures:
            raise failures[0]
        if isinstance(returned, dict) and "error" in returned:
            raise _refusal(returned["error"])
        if time.monotonic() > call.deadline:
            raise ModelTimeout("The embedded model passed its deadline.", hint="Allow more time or fewer tokens.")
        if not finished and not call.over():
            raise ModelError("The embedded model stopped without saying why.")

    def _plain(self, text: str) -> str:
        """`text` with anything that the tokenizer would read as a control token broken up."""
        if not re.search(r"[<\[]", text) or self._tokens(text, special=True) == self._tokens(text, special=False):
            return text
        broken = re.sub(r"([<\[])(?=\S)", r"\1 ", text)
        if self._tokens(broken, special=True) != self._tokens(broken, special=False):
            raise ModelRefused(f"A message holds a control token of the model: {text[:80]!r}.")
        return broken

    def _tokens(self, text: str, *, special: bool) -> list[int]:
        body = {"content": text, "add_special": False, "parse_special": special}
        tokens: list[int] = self._ask("/tokenize", body)["tokens"]
        return tokens

    def _ask(self, path: str, body: dict[str, Any]) -> Any:
        address = urlsplit(self._loaded().listening_address)
        connection = http.client.HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=10)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        try:
            connection.request("POST", path, json.dumps(body), headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ModelUnavailable(f"The embedded model's engine did not answer {path}: {error}") from error
        finally:
            connection.close()
        if response.status != http.HTTPStatus.OK:
            raise _refusal(answer.get("error", answer))
        return answer

    def _loaded(self) -> Any:
        self.check_process()
        if self._server is None:
            self._server = self._load()
        return self._server

    def _load(self) -> Any:
        try:
            import xllamacpp
        except ImportError as error:
            raise MissingExtra("The embedded model", "embedded") from error
        _check_gguf(self.path)
        settings = xllamacpp.CommonParams()
        settings.verbosity = 0
        settings.model.path = str(self.path)
        settings.n_ctx = self.context_tokens
        settings.n_parallel = 1
        settings.cache_ram_mib = CACHE_MIB
        settings.cpuparams.n_threads = self._threads
        settings.cpuparams_batch.n_threads = self._threads
        settings.n_threads_http = 2
        settings.endpoint_slots = False
        settings.api_keys = [self._key]
        try:
            return xllamacpp.Server(settings)
        except (RuntimeError, ValueError) as error:
            raise InvalidFile(self.path, f"llama.cpp cannot load this model ({error}).") from error


def _check_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise InvalidFile(path, f"cannot be read ({error.strerror}).") from error
    if magic != b"GGUF":
        raise InvalidFile(path, "not a GGUF model file.", hint="Give the path of a .gguf file.")


def _refusal(error: Any) -> ModelError:
    said = error.get("message", error) if isinstance(error, dict) else error
    return ModelRefused(f"The embedded model refused the call: {said}")
