"""Running the author's functions: checked arguments and results, timeout, retry, idempotency key."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pydantic import ConfigDict, ValidationError, validate_call
from pydantic_core import PydanticSerializationError, to_jsonable_python

from dialoom.errors import CallError, DialoomError, UnknownName
from dialoom.flows.application import accepts
from dialoom.flows.expressions import TemplateFailed, fill, render
from dialoom.flows.nodes import STAY, CallNode, Fallback
from dialoom.flows.stack import go
from dialoom.flows.state import LEDGER
from dialoom.flows.work import SlotRefused, Work

PAUSE = 0.05
"""Seconds before the first repetition; each further one waits twice as long."""


async def run_call(work: Work, node: CallNode) -> None:
    """Do a `call` node: the function's result becomes an event and slots, a failure takes the declared way out."""
    work.state.calls += not node.read_only
    work.model_spoke = False  # it spoke before the result was known
    try:
        arguments = fill(node.arguments, work.values())
        key = _key(work, node, arguments)
        result = await _result(work, node, arguments, key)
        for slot, value in _slots(node, result).items():
            work.set(slot, value, f"returned by {node.call}")
    except (CallError, TemplateFailed, SlotRefused, UnknownName) as error:
        work.record("function_failed", "call", function=node.call, error=str(error), node=work.frame.node)
        take_way_out(work, node.on_error, node.go)
        return
    go(work, node.go, "called")


async def _result(work: Work, node: CallNode, arguments: Mapping[str, Any], key: str) -> Any:
    ledger = work.state.ledger
    if key in ledger:
        work.record("function_called", "remembered", function=node.call, key=key, result=ledger[key])
        return ledger[key]
    problem: CallError | None = None
    for attempt in range(node.retry + 1):
        if attempt:
            await asyncio.sleep(min(PAUSE * 2 ** (attempt - 1), 2.0))
        try:
            result = await invoke(work, node.call, arguments, node.timeout, key)
        except CallError as error:
            problem = error
            work.record("function_failed", "attempt", function=node.call, error=str(error), attempt=attempt + 1)
            continue
        ledger[key] = result
        for old in list(ledger)[:-LEDGER]:
            del ledger[old]
        shown = _shown(work, arguments)
        work.record("function_called", "call", function=node.call, arguments=shown, key=key, result=result)
        return result
    raise problem or CallError(f"{node.call} was not called.")


async def invoke(work: Work, name: str, arguments: Mapping[str, Any], timeout: float, key: str = "") -> Any:
    """One call of a registered function; the result as JSON values.

    Raises `UnknownName` for a function nobody registered, and `CallError` when it raises, hangs, or returns the wrong
    type.
    """
    functions = work.ports.app.functions
    if name not in functions:
        raise UnknownName("function", name, functions, hint="Register it in the application module: @app.function.")
    function = functions[name]
    given = dict(arguments)
    if key and accepts(function, "idempotency_key"):
        given["idempotency_key"] = key
    try:
        result = await asyncio.wait_for(_run(_checked(function), given), timeout)
        return to_jsonable_python(result)
    except TimeoutError as error:
        raise CallError(f"{name} gave no answer within {timeout:g} s.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise CallError(f"{name}: {where}: {first['msg']}.") from error
    except PydanticSerializationError as error:
        raise CallError(f"{name} returned something that is not plain data: {error}.") from error
    except DialoomError as error:
        raise CallError(f"{name}: {error}") from error
    except Exception as error:
        raise CallError(f"{name} raised {type(error).__name__}: {error}.") from error


@lru_cache(maxsize=512)
def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    return validate_call(config=ConfigDict(arbitrary_types_allowed=True), validate_return=True)(function)


async def _run(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(**arguments)
    return await in_thread(lambda: function(**arguments))


async def in_thread(function: Callable[[], Any]) -> Any:
    """Run a plain function in a thread of its own that cannot keep the process from ending if it hangs."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if not future.done():
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    def work() -> None:
        try:
            outcome: tuple[Any, BaseException | None] = (function(), None)
        except Exception as error:
            outcome = (None, error)
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=work, daemon=True).start()
    return await future


def _key(work: Work, node: CallNode, arguments: Any) -> str:
    """By default the same call at the same visit of the same node has the same key: a turn that is tried again after
    a failure does not order twice.
    """
    if node.key:
        return render(node.key, work.values())
    frame = work.frame
    facts = [
        work.state.session,
        frame.flow,
        frame.node,
        frame.visits.get(frame.node, 0),
        work.state.restarts,
        arguments,
    ]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
    return f"{node.call}-{digest[:16]}"


def _slots(node: CallNode, result: Any) -> dict[str, Any]:
    if isinstance(node.into, str):
        return {node.into: result} if node.into else {}
    if not isinstance(result, Mapping):
        raise CallError(f"{node.call} returned {type(result).__name__}, and `into` names fields.")
    return {slot: result.get(name) for slot, name in node.into.items()}


def _shown(work: Work, arguments: Mapping[str, Any]) -> dict[str, Any]:
    secrets = [work.memory().get(name) for name, slot in work.declared().items() if slot.secret]
    hidden = [value for value in secrets if value]
    return {name: "[hidden]" if value in hidden else value for name, value in arguments.items()}


def take_way_out(work: Work, on_error: Fallback | None, onward: str) -> None:
    """Leave a node that failed: by its own way out, else by the flow's; where nobody listens, to stay is to go on."""
    way_out = on_error or work.flow.fallback
    work.say_template(way_out.say, "fallback")
    work.record("fallback_taken", "function", node=work.frame.node, go=way_out.go)
    if way_out.go == STAY and not work.frame.waited_at:
        go(work, onward, "fallback")
    else:
        go(work, way_out.go, "fallback")
