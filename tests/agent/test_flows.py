"""Flows and learned automata together: a first flow from an automaton, and an automaton behind a flow."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from pathlib import Path

import pytest

from dialoom.agent.agent import Agent
from dialoom.agent.flow_agent import FlowChat
from dialoom.agent.model import Model
from dialoom.agent.scaffold import scaffold
from dialoom.automata.automaton import Automaton, State, Transition, pack_visits
from dialoom.errors import NothingToLearn, UnknownName
from dialoom.flows import Application, Ports, begin, parse_flow, step
from dialoom.flows.checking import check
from dialoom.flows.intents import Likeness
from dialoom.flows.recording import read_recording
from dialoom.testing.replay import replay

NOW = datetime(2026, 11, 21, 9, 0)


def automaton() -> Automaton:
    """Hello -> (order -> which one? -> done) or (track -> where? -> done), with a rare joke."""
    states = (
        State(0, "q0", "", "", 9),
        State(1, "q1", "system", "greet", 9, samples=("Hello {{ name }}, how can I help?",)),
        State(2, "q2", "user", "order", 6, samples=("I want to order a chair",)),
        State(3, "q3", "user", "track", 3, samples=("Where is my parcel",)),
        State(4, "q4", "system", "ask which", 6, samples=("Which one?",)),
        State(5, "q5", "tool", "look up", 3),
        State(6, "q6", "system", "tell where", 3, ends=3, samples=("It is on its way: 50% done {% x %}",)),
        State(7, "q7", "user", "joke", 1, samples=("tell me a joke",)),
        State(8, "q8", "system", "laugh", 1, ends=1, samples=("Ha.",)),
        State(9, "q9", "user", "name it", 6),
        State(10, "q10", "system", "thank", 6, ends=6, samples=("Thank you.",)),
    )
    moves = (
        (0, "system:greet", 1, 9),
        (1, "user:order", 2, 6),
        (1, "user:track", 3, 3),
        (1, "user:joke", 7, 1),
        (2, "system:ask which", 4, 6),
        (3, "tool:look up", 5, 3),
        (5, "system:tell where", 6, 3),
        (7, "system:laugh", 8, 1),
        (4, "user:name it", 9, 6),
        (9, "system:thank", 10, 6),
    )
    offsets, dialogue, round_ = pack_visits([[] for _ in states])
    return Automaton(states, tuple(Transition(*move) for move in moves), ("d1", "d2"), offsets, dialogue, round_)


def test_that_a_scaffold_checks_clean_and_runs() -> None:
    loaded = parse_flow(scaffold(automaton(), name="My shop"))
    flow = loaded.flow
    assert check(loaded, Application()) == []
    assert flow.flow == "my_shop"
    assert list(flow.nodes) == ["begin", "at_greet", "at_ask_which", "at_tell_where", "at_laugh", "at_thank"]
    assert flow.intents["order"].examples == ["I want to order a chair"]
    state = begin(flow, "s")
    replies: list[tuple[str, ...]] = []
    for text in (None, "I want to order", "name it: the blue one"):
        turn = asyncio.run(step(flow, state, text, Ports(Application()), NOW))
        state, replies = turn.state, [*replies, turn.reply]
    assert replies[0] == ("How can I help you?", "Hello { { name }}, how can I help?")
    assert replies[1] == ("Which one?",)
    assert replies[2][0] == "Thank you."


def test_that_a_part_may_be_drawn_and_traffic_is_told() -> None:
    text = scaffold(automaton(), minimum=2)
    assert "at_laugh" not in text
    assert "- {intent: order, go: at_ask_which}  # 6" in text
    assert "- {intent: track, go: at_tell_where}  # 3" in text
    assert list(parse_flow(scaffold(automaton(), depth=1)).flow.nodes) == ["begin", "at_greet"]
    assert parse_flow(scaffold(automaton(), state=4)).flow.start == "at_ask_which"


def test_that_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(NothingToLearn, match="at least 50 dialogues"):
        scaffold(automaton(), minimum=50)
    with pytest.raises(UnknownName):
        scaffold(automaton(), state=99)


def test_that_a_learned_model_gives_a_flow_that_checks_clean(model: Model) -> None:
    loaded = parse_flow(scaffold(model.readable(), depth=4))
    assert check(loaded, Application()) == []
    assert len(loaded.flow.nodes) > 1


FLOW = """
flow: desk
start: hello
intents: {opening: {words: [opening hours]}}
nodes:
  hello:
    ask: Welcome to the desk.
    rules: [{intent: opening, go: hours}]
  hours: {say: From nine to five., go: hello}
"""


def test_that_the_flow_answers_what_it_knows_and_the_automaton_the_rest(model: Model) -> None:
    chat = FlowChat(parse_flow(FLOW).flow, Agent(model))
    assert asyncio.run(chat.open()).text == "Welcome to the desk."
    known = asyncio.run(chat.say("your opening hours please", NOW))
    assert (known.source, known.text) == ("flow", "From nine to five.\nWelcome to the desk.")
    before = chat.state
    outside = asyncio.run(chat.say("I forgot my password and cannot log in", NOW))
    assert outside.source == "automaton"
    assert outside.text
    assert "did not understand" not in outside.text
    assert (chat.state.stack, chat.state.memory, chat.state.misses) == (before.stack, before.memory, before.misses)
    assert [item.text for item in chat.state.history[-2:]] == ["I forgot my password and cannot log in", outside.text]
    assert [event.kind for event in outside.events] == ["user_said", "answered_outside"]
    assert asyncio.run(chat.say("opening hours", NOW)).source == "flow"
    assert len(chat.dialogue) == 7


def test_that_rules_of_the_flow_see_the_automatons_state(model: Model) -> None:
    flow = parse_flow(
        FLOW.replace("go: hours}]", "go: hours}, {go: spot}]") + '  spot: {say: "{{ signals.automaton }}", go: close}\n'
    ).flow
    chat = FlowChat(flow, Agent(model))
    reply = asyncio.run(chat.say("I forgot my password", NOW))
    assert reply.text in {state.name for state in model.automaton.states}


def test_that_a_flow_beside_an_agent_is_reloaded_recorded_and_replayed(model: Model, tmp_path: Path) -> None:
    path, record = tmp_path / "desk.yaml", tmp_path / "s.jsonl"
    path.write_text(FLOW)
    os.utime(path, (1, 1))
    agent = Agent(model)
    chat = FlowChat(path, agent, record=record)
    asyncio.run(chat.open())
    assert asyncio.run(chat.say("I forgot my password and cannot log in", NOW)).answer is not None
    path.write_text(FLOW.replace("nine to five", "ten to six"))
    assert asyncio.run(chat.say("opening hours", NOW)).text == "From ten to six.\nWelcome to the desk."
    assert chat.notice == "desk.yaml was reloaded."
    path.write_text("flow: [")
    assert asyncio.run(chat.say("opening hours", NOW)).source == "flow"
    assert "the old version keeps running" in chat.notice
    recording = read_recording(record)
    assert [event.offset for event in recording.events] == list(range(len(recording.events)))
    new = parse_flow(FLOW.replace("nine to five", "ten to six")).flow
    turns = asyncio.run(replay(recording, new, Application(), Likeness(model.encoder)))
    assert [turn.differences() for turn in turns if not turn.same] == []


def test_that_a_rule_on_the_automatons_state_replays_with_the_state_of_its_turn(model: Model, tmp_path: Path) -> None:
    flow = parse_flow(
        FLOW.replace("go: hours}]", "go: hours}, {go: spot}]") + '  spot: {say: "{{ signals.automaton }}", go: hello}\n'
    ).flow
    chat = FlowChat(flow, Agent(model), record=tmp_path / "s.jsonl")
    said = {asyncio.run(chat.say(text, NOW)).text for text in ("I forgot my password", "hello there")}
    assert len(said) == 2
    turns = asyncio.run(replay(read_recording(tmp_path / "s.jsonl"), flow, Application(), Likeness(model.encoder)))
    assert [turn.same for turn in turns] == [True, True]
