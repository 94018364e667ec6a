"""Retries with back-off for calls that may succeed the next time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from dialoom.errors import DialoomError, ModelUnavailable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retries:
    """At most `attempts` calls; waits double from `first` seconds up to `longest`, jittered."""

    attempts: int = 4
    first: float = 0.3
    longest: float = 20.0


async def retried(call: Callable[[], Awaitable[T]], retries: Retries) -> T:
    """The first result of `call`, repeated after errors that say they are `retryable`.

    A server's own wish (`ModelUnavailable.retry_after`) is waited for as well, up to `longest`. The last error is
    raised as it is.
    """
    import stamina

    attempts = stamina.retry_context(
        on=_is_retryable,
        attempts=retries.attempts,
        timeout=None,
        wait_initial=retries.first,
        wait_max=retries.longest,
        wait_jitter=retries.first,
    )
    async for attempt in attempts:
        with attempt:
            try:
                return await call()
            except ModelUnavailable as error:
                if error.retry_after and attempt.num < retries.attempts:
                    await asyncio.sleep(min(error.retry_after, retries.longest))
                raise
    raise AssertionError("stamina ended without a result or an error")  # pragma: no cover


def _is_retryable(error: Exception) -> bool:
    return isinstance(error, DialoomError) and error.retryable
