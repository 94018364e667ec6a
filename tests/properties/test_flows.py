"""Laws of the step, for any user and any model."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.flows import Application, Ports, State, begin, load_application, load_flow, parse_flow, step
from dialoom.models.scripted import Fault, ScriptedModel

SHOP = Path(__file__).parents[2] / "examples" / "shop"
FLOW = load_flow(SHOP / "shop.yaml").flow
APP = load_application(SHOP / "app.py")
NOW = datetime(2026, 11, 21, 9, 0)
LINES = [
    "a large pepperoni pizza and a greek salad",
    "pizza",
    "salad with ranch",
    "yes",
    "no",
    "no, make it small",
    "cancel",
    "what are my options",
    "how late are you open?",
    "is there gluten in it",
    "veggie",
    "something meatless",
    "4111 1111 1111 1111 12/29",
    "hello",
    "pay",
    "xyzzy",
    "",
    "get me a human",
]
NODES = ["greeting", "take_pizza", "farewell", "choose", "confirm", "end", "hand_off", "nowhere"]
OUTPUTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from([Fault("error"), Fault("malformed"), Fault("empty")]),
    st.fixed_dictionaries(
        {
            "ASSISTANT_UTTERANCE": st.sampled_from(["Fine.", "", "It is free of charge"]),
            "NEXT_NODE": st.sampled_from(NODES),
        },
        optional={
            "MEMORY": st.dictionaries(
                st.sampled_from(["pizza", "size", "basket", "total", "card"]),
                st.sampled_from(["Veggie", "large", [], 0, None, {"item": 1}]),
            ),
            "INTERRUPT": st.sampled_from([None, "cancellation", "opening_hours", "shop", "chitchat"]),
            "ALSO": st.lists(st.sampled_from(["salad", "pizza", "shop"]), max_size=3),
        },
    ).map(json.dumps),
)


def talk(lines: list[str], outputs: list[Any] | None, order: list[str] | None = None) -> list[State]:
    flow = FLOW.model_copy(update={"understand": order}) if order else FLOW
    model = ScriptedModel(outputs) if outputs else None
    states = [begin(flow, "s")]
    for line in lines:
        turn = asyncio.run(step(flow, states[-1], line, Ports(APP, model), NOW))
        assert turn.text
        assert not turn.of("turn_failed"), turn.of("turn_failed")
        assert [event.offset for event in turn.events] == list(range(states[-1].events, turn.state.events))
        states.append(turn.state)
    return states


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=40)), max_size=8))
def test_that_every_message_has_a_reply_and_leaves_a_sound_state(lines: list[str]) -> None:
    for state in talk(lines, None):
        assert len(state.stack) >= 1
        for frame in state.stack:
            assert frame.node in FLOW.graph(frame.flow).nodes
        assert State.model_validate_json(state.model_dump_json()) == state


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(LINES), min_size=1, max_size=5),
    st.lists(OUTPUTS, min_size=1, max_size=8),
    st.sampled_from([["model"], ["recognisers", "model"], ["model", "recognisers"]]),
)
def test_that_no_model_output_fills_what_is_out_of_reach(
    lines: list[str], outputs: list[Any], order: list[str]
) -> None:
    for state in talk(lines, outputs, order):
        for entry in state.memory.get("basket") or []:
            assert set(entry) == {"item", "size", "extras"}
        assert state.memory.get("total") is None or state.memory["total"] > 0
        assert state.memory.get("card") is None or state.memory["card"].isdigit()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=6))
def test_that_the_same_words_give_the_same_conversation(lines: list[str]) -> None:
    assert talk(lines, None) == talk(lines, None)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_that_user_text_is_never_a_template(text: str) -> None:
    flow = parse_flow(
        "flow: f\nstart: a\nslots: {said: {type: text, recognise: text}}\nnodes:\n"
        "  a: {ask: Say it., memory: [said], understand: [recognisers], rules: [{filled: [said], go: b}],\n"
        "      repair: {cannot_handle: false, cancellation: false, hand_off: false, chitchat: false}}\n"
        '  b: {say: "<{{ said }}>", go: close}\n'
    ).flow
    turn = asyncio.run(step(flow, begin(flow, "s"), text, Ports(Application()), NOW))
    if turn.state.memory.get("said"):
        assert turn.text == f"<{text.strip()}>"
