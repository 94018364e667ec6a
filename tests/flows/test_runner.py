"""The runner: hot reload, migration of a running session, recording and replay."""

from __future__ import annotations

import asyncio
import os
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from dialoom.errors import InvalidFile, InvalidFlow
from dialoom.flows import Application, Ports, Runner, begin, load_flow, parse_flow
from dialoom.flows.migration import migrate
from dialoom.flows.recording import Header, append, read_recording
from dialoom.flows.state import Event, Frame, Queued
from dialoom.models.scripted import ScriptedModel
from dialoom.testing.replay import hidden_words, replay

FLOW = """
flow: table
start: ask
title: your table
slots:
  guests: {type: integer, recognise: number}
  area: {type: choice, choices: [inside, outside], recognise: choices}
nodes:
  ask:
    ask: {guests: For how many?, area: Inside or outside?}
    rules: [{filled: [guests, area], go: done}]
  done: {call: reserve, with: {guests: "{{ guests }}"}, go: bye}
  bye: {say: "A table {{ area }} for {{ guests }}.", go: close}
"""
NOW = datetime(2026, 11, 21, 9, 0)


def application() -> Application:
    app = Application()

    @app.function
    def reserve(guests: int) -> str:
        return f"t{guests}"

    return app


class Clock:
    def __init__(self, path: Path) -> None:
        self.path, self.tick = path, 1_700_000_000

    def write(self, text: str) -> None:
        """An edit whose time stamp certainly differs."""
        self.path.write_text(text)
        self.tick += 10
        os.utime(self.path, (self.tick, self.tick))


@pytest.fixture
def edited(tmp_path: Path) -> Clock:
    clock = Clock(tmp_path / "table.yaml")
    clock.write(FLOW)
    return clock


def runner(clock: Clock, **options: Any) -> Runner:
    return Runner(clock.path, Ports(application()), clock=lambda: NOW, **options)


def say(run: Runner, text: str) -> str:
    return asyncio.run(run.say(text)).text


def test_that_an_edit_takes_effect_at_the_next_turn(edited: Clock) -> None:
    run = runner(edited)
    assert asyncio.run(run.open()).text == "For how many?"
    edited.write(FLOW.replace("Inside or outside?", "Where?"))
    assert say(run, "four") == "Where?"
    assert run.notice == "table.yaml was reloaded."
    assert say(run, "inside") == "A table inside for 4."
    assert run.notice == ""


@pytest.mark.parametrize(
    ("broken", "words"),
    [("flow: [", "not YAML"), (FLOW.replace("go: done}", "go: dnoe}"), "Unknown node 'dnoe'"), ("", "empty")],
)
def test_that_a_broken_edit_keeps_the_old_version_and_says_why(edited: Clock, broken: str, words: str) -> None:
    run = runner(edited)
    asyncio.run(run.open())
    edited.write(broken)
    assert say(run, "four") == "Inside or outside?"
    assert "the old version keeps running" in run.notice
    assert words in run.notice
    edited.write(FLOW.replace("A table", "One table"))
    assert say(run, "inside") == "One table inside for 4."


def test_that_a_deleted_file_keeps_the_old_version(edited: Clock) -> None:
    run = runner(edited)
    edited.path.unlink()
    assert say(run, "inside for four") == "A table inside for 4."
    assert "cannot be read" in run.notice


def test_that_a_flow_with_errors_does_not_start(edited: Clock) -> None:
    edited.write(FLOW.replace("call: reserve", "call: resreve"))
    with pytest.raises(InvalidFlow, match="Did you mean 'reserve'"):
        runner(edited)


def test_that_a_session_goes_on_where_its_node_was_renamed(edited: Clock) -> None:
    run = runner(edited)
    say(run, "four")
    edited.write(
        FLOW.replace("start: ask", "start: hello\nmoved: {ask: collect}").replace(
            "  ask:\n", "  hello: {say: Hi., go: collect}\n  collect:\n"
        )
    )
    assert say(run, "inside") == "A table inside for 4."
    assert "The node table.ask is gone; the session continues at collect." in run.notice


def test_that_migration_follows_its_rule() -> None:
    old = parse_flow(FLOW).flow
    state = begin(old, "s").model_copy(
        update={
            "fingerprint": "old",
            "memory": {"guests": 4, "area": "outside", "gone": 1},
            "stack": [
                Frame(flow="table", node="vanished", arrived=True, waited_at="vanished"),
                Frame(flow="extra", node="a", cause="digression"),
                Frame(flow="chitchat", node="smile", cause="repair", repair="chitchat"),
            ],
            "queue": [Queued(flow="extra", text="x")],
        }
    )
    new = parse_flow(FLOW.replace("[inside, outside]", "[inside, terrace]")).flow
    moved, events = migrate(new, state, "new")
    assert [(frame.flow, frame.node, frame.arrived) for frame in moved.stack] == [("table", "ask", False)]
    assert moved.memory == {"guests": 4}
    assert moved.queue == []
    assert len(events[0].data["notes"]) == 5
    assert state.memory["area"] == "outside"
    assert migrate(new, moved, "new") == (moved, ())


def test_that_a_flow_of_another_name_takes_the_session_over() -> None:
    state = begin(parse_flow(FLOW).flow, "s")
    moved, _ = migrate(parse_flow(FLOW.replace("flow: table", "flow: desk")).flow, state, "x")
    assert (moved.flow, moved.stack[0].flow, moved.stack[0].node) == ("desk", "desk", "ask")


def test_that_a_recording_holds_every_event_and_survives_a_torn_last_line(edited: Clock, tmp_path: Path) -> None:
    record = tmp_path / "s.jsonl"
    run = runner(edited, record=record)
    asyncio.run(run.open())
    say(run, "four")
    whole = read_recording(record)
    assert [event.offset for event in whole.events] == list(range(len(whole.events)))
    assert len(whole.turns()) == 2
    with record.open("a") as file:
        file.write('{"offset": 99, "ki')
    assert read_recording(record) == whole
    record.write_text("x\n")
    with pytest.raises(InvalidFile, match="line 1"):
        read_recording(record)


def test_that_a_replay_on_the_same_flow_is_the_same_and_calls_nothing(edited: Clock, tmp_path: Path) -> None:
    record = tmp_path / "s.jsonl"
    run = runner(edited, record=record)
    asyncio.run(run.open())
    for text in ("four", "what are my options", "sorry, 5", "inside"):
        say(run, text)
    app = Application()

    @app.function
    def reserve(guests: int) -> str:
        raise AssertionError("called for real")

    turns = asyncio.run(replay(read_recording(record), load_flow(edited.path).flow, app))
    assert [turn.differences() for turn in turns if not turn.same] == []
    assert len(turns) == 5


def test_that_a_replay_shows_the_first_turn_that_differs(edited: Clock, tmp_path: Path) -> None:
    record = tmp_path / "s.jsonl"
    run = runner(edited, record=record)
    asyncio.run(run.open())
    say(run, "four")
    say(run, "inside")
    new = parse_flow(FLOW.replace("choices: [inside", "choices: [indoors")).flow
    turns = asyncio.run(replay(read_recording(record), new, Application()))
    assert [turn.same for turn in turns] == [True, True, False]
    assert any(difference.startswith("slots:") for difference in turns[2].differences())


def test_that_model_answers_are_replayed_too(tmp_path: Path) -> None:
    text = "flow: f\nstart: a\nnodes:\n  a: {prompt: Talk., understand: [model], next: [end]}\n"
    path = tmp_path / "f.yaml"
    path.write_text(text)
    answers = [
        '{"ASSISTANT_UTTERANCE": "One.", "NEXT_NODE": "a"}',
        "broken",
        '{"ASSISTANT_UTTERANCE": "Two.", "NEXT_NODE": "a"}',
    ]
    run = Runner(path, Ports(model=ScriptedModel(answers)), clock=lambda: NOW, record=tmp_path / "s.jsonl")
    assert [say(run, "x"), say(run, "y")] == ["One.", "Two."]
    turns = asyncio.run(replay(read_recording(tmp_path / "s.jsonl"), parse_flow(text).flow, Application()))
    assert all(turn.same for turn in turns)


def test_that_hidden_words_are_told(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    append(
        path, Header(session="s", flow="f"), [Event(offset=0, kind="user_said", data={"text": "[hidden]", "now": ""})]
    )
    assert hidden_words(read_recording(path))


APP = """from dialoom.flows import Application

app = Application()


@app.function
def reserve(guests: int) -> str:
    return "PLACE"
"""
TOLD = FLOW.replace("slots:", "slots:\n  place: {type: text}").replace("}, go: bye}", "}, into: place, go: bye}")
TOLD = TOLD.replace("for {{ guests }}", "at {{ place }}").replace("go: close", "go: ask_again") + (
    "  ask_again: {set: {guests: null}, go: ask}\n"
)


@pytest.fixture
def application_file(tmp_path: Path) -> Clock:
    clock = Clock(tmp_path / "app.py")
    clock.write(APP)
    return clock


def test_that_an_edit_of_the_application_takes_effect_at_the_next_turn(edited: Clock, application_file: Clock) -> None:
    edited.write(TOLD)
    run = Runner(edited.path, app=application_file.path, clock=lambda: NOW)
    assert say(run, "inside for 4").startswith("A table inside at PLACE.")
    application_file.write(APP.replace("PLACE", "the window"))
    assert say(run, "5").startswith("A table inside at the window.")
    assert run.notice == "app.py was reloaded."
    assert say(run, "5").startswith("A table inside at the window.")
    assert run.notice == ""


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("def (", "SyntaxError"),
        ("raise SystemExit", "SystemExit"),
        ("x = 1", "defines no `app`"),
        (APP.replace("def reserve", "def book"), "Unknown function 'reserve'"),
    ],
)
def test_that_a_broken_edit_of_the_application_keeps_the_old_one_and_says_why(
    edited: Clock, application_file: Clock, broken: str, words: str
) -> None:
    edited.write(TOLD)
    run = Runner(edited.path, app=application_file.path, clock=lambda: NOW)
    application_file.write(broken)
    assert say(run, "inside for 4").startswith("A table inside at PLACE.")
    assert run.notice.startswith("The edit of app.py does not work, and the old version keeps running:")
    assert words in run.notice
    assert say(run, "5").startswith("A table inside at PLACE.")
    assert run.notice == ""
    application_file.write(APP.replace("PLACE", "the window"))
    assert say(run, "5").startswith("A table inside at the window.")


def test_that_flow_and_application_are_edited_together(edited: Clock, application_file: Clock) -> None:
    edited.write(TOLD)
    run = Runner(edited.path, app=application_file.path, clock=lambda: NOW)
    edited.write(TOLD.replace("call: reserve", "call: book"))
    assert say(run, "inside").startswith("For how many?")
    assert "Unknown function 'book'" in run.notice
    application_file.write(APP.replace("def reserve", "def book").replace("PLACE", "the bar"))
    assert say(run, "4").startswith("A table inside at the bar.")
    assert run.notice.startswith("table.yaml and app.py were reloaded.")


def test_that_an_edit_of_the_flow_does_not_run_the_application_again(edited: Clock, application_file: Clock) -> None:
    edited.write(TOLD)
    application_file.write(APP.replace('return "PLACE"', "seen.append(1)\n    return str(len(seen))") + "\nseen = []\n")
    run = Runner(edited.path, app=application_file.path, clock=lambda: NOW)
    assert say(run, "inside for 4").startswith("A table inside at 1.")
    edited.write(TOLD.replace("A table", "One table"))
    assert say(run, "5").startswith("One table inside at 2.")


def test_that_a_flow_without_a_file_runs_as_well() -> None:
    run = Runner(parse_flow(FLOW).flow, Ports(application()), clock=lambda: NOW)
    assert say(run, "inside for 4") == "A table inside for 4."
