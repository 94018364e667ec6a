"""The synchronous face of models."""

from __future__ import annotations

import asyncio
import threading

import pytest

from dialoom.models.base import Request
from dialoom.models.blocking import generate_sync, run_sync, score_sync, start_sync
from dialoom.models.scripted import ScriptedModel
from dialoom.testing.models import ASKED


async def _name_after(seconds: float) -> str:
    await asyncio.sleep(seconds)
    return threading.current_thread().name


def test_that_calls_share_a_loop_on_a_thread_of_its_own() -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert run_sync(loop()) is run_sync(loop())
    assert run_sync(_name_after(0)) != threading.current_thread().name
    assert generate_sync(ScriptedModel(), Request(ASKED)).text == "All right."
    assert len(score_sync(ScriptedModel(), ASKED, ["a", "b"])) == 2


def test_that_a_blocking_call_inside_a_blocking_call_does_not_wait_for_itself() -> None:
    async def outer(depth: int) -> int:
        return depth if depth == 3 else run_sync(outer(depth + 1))

    assert start_sync(outer(0)).result(timeout=10) == 3


async def test_that_it_works_inside_a_running_loop() -> None:
    assert generate_sync(ScriptedModel(), Request(ASKED)).text == "All right."


def test_that_errors_reach_the_caller_and_interrupts_the_coroutine(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_sync(fails())

    cancelled = threading.Event()

    async def waits() -> None:
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    started = start_sync(waits())

    with monkeypatch.context() as patched:
        patched.setattr("dialoom.models.blocking.start_sync", lambda coroutine: (coroutine.close(), started)[1])
        patched.setattr(started, "result", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run_sync(waits())
    assert cancelled.wait(5)
