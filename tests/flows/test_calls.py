"""Functions of the application: checked, bounded in time, tried again, never twice for one order."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from dialoom.errors import InvalidFile, UsageError
from dialoom.flows import Application, Ports, begin, load_application, step

from .talking import Talk, flow_of, kinds

FLOW = """
flow: f
start: ask
slots:
  amount: {type: integer, recognise: number}
  receipt: {type: text}
  fee: {type: number}
nodes:
  ask: {ask: How much?, memory: [amount], rules: [{filled: [amount], go: pay}]}
  pay:
    call: pay
    with: {amount: "{{ amount }}"}
    into: {receipt: id, fee: fee}
    timeout: 0.2
    retry: 2
    on_error: {say: That failed., go: again}
    go: done
  again: {set: {amount: null}, go: ask}
  done: {say: "Receipt {{ receipt }}, fee {{ fee }}.", go: close}
"""


def test_that_results_fill_slots_and_are_events() -> None:
    app = Application()

    @app.function
    async def pay(amount: int) -> dict[str, object]:
        return {"id": f"r{amount}", "fee": 0.5, "ignored": True}

    turn = Talk(FLOW, app).say("12")
    assert turn.text == "Receipt r12, fee 0.5."
    event = turn.of("function_called")[0]
    assert event.data["arguments"] == {"amount": 12}
    assert event.data["result"] == {"id": "r12", "fee": 0.5, "ignored": True}


def test_that_a_failure_is_tried_again_with_the_same_key() -> None:
    app, keys = Application(), []

    @app.function
    def pay(amount: int, idempotency_key: str) -> dict[str, object]:
        keys.append(idempotency_key)
        if len(keys) < 3:
            raise ConnectionError("down")
        return {"id": "r", "fee": 0}

    turn = Talk(FLOW, app).say("12")
    assert turn.text.startswith("Receipt r")
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert kinds(turn).count("function_failed") == 2


@pytest.mark.parametrize("trouble", ["raises", "hangs", "wrong type", "not a mapping", "unknown", "not plain data"])
def test_that_every_failure_takes_the_declared_way_out(trouble: str) -> None:
    app = Application()

    def pay(amount: int) -> dict[str, object]:
        match trouble:
            case "raises":
                raise RuntimeError("boom")
            case "hangs":
                time.sleep(5)
            case "wrong type":
                return "text"  # type: ignore[return-value]
            case "not plain data":
                return {"id": object()}
        return {"id": 5, "fee": 0}

    def pay_oddly(amount: int) -> str:
        return "text"

    pay_oddly.__name__ = "pay"
    if trouble != "unknown":
        app.function(pay_oddly if trouble == "not a mapping" else pay)
    talk = Talk(FLOW.replace("retry: 2", "retry: 0"), app)
    turn = talk.say("12")
    assert turn.reply == ("That failed.", "How much?")
    assert {"function_failed", "fallback_taken"} <= set(kinds(turn))
    assert talk.memory == {"amount": None}


def test_that_a_call_made_in_a_turn_that_failed_is_not_made_again() -> None:
    app, calls = Application(), []

    @app.function
    def pay(amount: int) -> dict[str, object]:
        calls.append(amount)
        return {"id": "r", "fee": 0}

    looping = FLOW.replace(
        'done: {say: "Receipt {{ receipt }}, fee {{ fee }}.", go: close}',
        "done: {say: x, go: loop}\n  loop: {say: y, go: done}",
    )
    talk = Talk(looping, app)
    talk.say(None)
    turn = talk.say("12")
    assert "turn_failed" in kinds(turn)
    assert talk.state.memory == {}
    talk.flow = flow_of(FLOW)
    turn = talk.say("12")
    assert turn.text == "Receipt r, fee 0."
    assert calls == [12]
    assert turn.of("function_called")[0].cause == "remembered"


async def test_that_a_cancelled_turn_leaves_the_state_as_it_was() -> None:
    import asyncio

    app = Application()

    @app.function
    async def pay(amount: int) -> dict[str, object]:
        await asyncio.sleep(60)
        return {}

    flow = flow_of(FLOW.replace("timeout: 0.2", "timeout: 60"))
    state = begin(flow, "s")
    before = state.model_dump()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(step(flow, state, "12", Ports(app), datetime(2026, 1, 1)), 0.05)
    assert state.model_dump() == before


def test_that_an_application_is_loaded_from_the_file_one_names(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    good = folder / "app.py"
    good.write_text(
        "from dialoom.flows import Application\napp = Application()\n@app.function\ndef f() -> int:\n    return 1\n"
    )
    assert list(load_application(good).functions) == ["f"]
    for text, words in (("x = 1", "defines no `app`"), ("1 / 0", "ZeroDivisionError")):
        good.write_text(text)
        with pytest.raises(InvalidFile, match=words):
            load_application(good)
    with pytest.raises(InvalidFile, match="no such Python file"):
        load_application(folder / "absent.py")


def test_that_a_name_is_registered_once() -> None:
    app = Application()
    app.function(test_that_a_name_is_registered_once)
    with pytest.raises(UsageError, match="registered twice"):
        app.function(test_that_a_name_is_registered_once)
