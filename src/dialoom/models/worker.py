"""Blocking engines run their calls here, one after another, and stay cancellable from asyncio."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from dialoom.errors import ModelTimeout

T = TypeVar("T")


class Call:
    """One piece of work: it ends at its deadline, when cancelled, or when the interpreter exits."""

    def __init__(self, work: Callable[[Call], None], timeout: float) -> None:
        self.work = work
        self.deadline = time.monotonic() + timeout
        self.cancelled = False

    def over(self) -> bool:
        """Whether to stop now."""
        late = time.monotonic() > self.deadline
        return late or self.cancelled or not threading.main_thread().is_alive()


class Worker:
    """Runs calls one after another on a thread that lives while there is work and keeps the interpreter waiting."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Call] = deque()
        self._running = False

    def submit(self, call: Call) -> None:
        """Queue a call; it is skipped if it is over before its turn."""
        with self._lock:
            self._waiting.append(call)
            if not self._running:
                self._running = True
                threading.Thread(target=self._work, name="dialoom-model", daemon=False).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._running = False
                    return
                call = self._waiting.popleft()
            call.work(call)

    async def run(self, name: str, work: Callable[[Call], T], timeout: float) -> T:
        """The result of `work`; a deadline or a cancelled task makes its `Call` be over.

        Raises `ModelTimeout` naming `name` at the deadline, even while `work` cannot look at its call.
        """
        loop = asyncio.get_running_loop()
        result: asyncio.Future[T] = loop.create_future()

        def run(call: Call) -> None:
            try:
                if call.over():
                    raise ModelTimeout(f"{name} was busy past the call's deadline.")
                value = work(call)
            except Exception as error:
                failure = error
                post(loop, lambda: None if result.done() else result.set_exception(failure))
            else:
                post(loop, lambda: None if result.done() else result.set_result(value))

        call = Call(run, timeout)
        self.submit(call)
        try:
            async with asyncio.timeout(timeout):
                return await result
        except TimeoutError:
            raise ModelTimeout(
                f"{name} gave no answer within {timeout:g} s.", hint="Allow more time or fewer tokens."
            ) from None
        finally:
            call.cancelled = True


def post(loop: asyncio.AbstractEventLoop, action: Callable[[], object]) -> None:
    """Run `action` on `loop` from another thread; a loop that has closed has nobody left to hear it."""
    try:
        loop.call_soon_threadsafe(action)
    except RuntimeError:
        return
