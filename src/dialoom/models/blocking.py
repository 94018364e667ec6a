"""The one synchronous face of language models: coroutines run on a background event loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from dialoom.models.base import Completion, LanguageModel, Message, Request, Scorer

T = TypeVar("T")

_lock = threading.Lock()
_loops: dict[tuple[int, int], asyncio.AbstractEventLoop] = {}


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of `coroutine`, awaited on a loop that lives in a thread of its own.

    Works inside and outside a running event loop, nested too; it blocks the calling thread. Connections stay open from
    one call to the next. An interrupt of the caller, Ctrl-C for one, cancels the coroutine.
    """
    future = start_sync(coroutine)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def start_sync(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """`coroutine`, started on the background loop; several may run at once."""
    return asyncio.run_coroutine_threadsafe(coroutine, _loop())


def generate_sync(model: LanguageModel, request: Request) -> Completion:
    """`model.generate(request)`, blocking."""
    return run_sync(model.generate(request))


def score_sync(model: Scorer, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
    """`model.score(messages, candidates)`, blocking."""
    return run_sync(model.score(messages, candidates))


def _loop() -> asyncio.AbstractEventLoop:
    # A forked child inherits no threads, so each process has its own loops. A coroutine on one of them that blocks on
    # another coroutine would wait for itself, so what it starts runs one level deeper.
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    process = os.getpid()
    with _lock:
        level = next((level for (_, level), loop in _loops.items() if loop is running), -1) + 1
        if (process, level) not in _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="dialoom-models", daemon=True).start()
            _loops[process, level] = loop
        return _loops[process, level]
