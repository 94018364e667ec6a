"""Conversation tests: the files, what they find, coverage, JUnit, cassettes, pass policy, Rasa's form."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dialoom.errors import CassetteMiss, InvalidFile, UsageError
from dialoom.models.scripted import ScriptedModel
from dialoom.testing.conversations import load_tests
from dialoom.testing.judging import Judge
from dialoom.testing.junit import junit
from dialoom.testing.suites import Options, Report, run_folder
from dialoom.testing.trials import policy

EXAMPLES = Path(__file__).parents[2] / "examples"
FLOW = """
flow: f
start: ask
slots: {size: {type: choice, choices: [small, large], recognise: choices}}
nodes:
  ask:
    prompt: Ask the size.
    ask: Which size?
    memory: [size]
    rules: [{filled: [size], go: done}]
    constraints: [{forbidden: [huge]}]
  done: {call: note, with: {size: "{{ size }}"}, go: bye}
  never: {say: x, go: end}
  bye: {say: "{{ size }}!", go: close}
"""
APP = """from dialoom.flows import Application

app = Application()


@app.function
def note(size: str) -> str:
    return size
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "f.yaml").write_text(FLOW)
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def run(folder: Path, tests: str, options: Options | None = None, name: str = "test_it.yaml") -> Report:
    (folder / name).write_text(tests)
    return asyncio.run(run_folder(folder, options))


def wrong(folder: Path, expect: str) -> list[str]:
    """What does not hold when a user answers 'large'."""
    text = f"flow: f.yaml\ntests:\n- name: t\n  turns:\n  - user: null\n  - user: large\n    expect: {expect}\n"
    return run(folder, text).outcomes[0].failures


@pytest.mark.parametrize(("name", "least"), [("shop", 40), ("appointments", 10), ("store", 7)])
def test_that_the_examples_pass_offline(name: str, least: int) -> None:
    if name == "store":
        pytest.importorskip("semantic_text_splitter", reason="the extra 'documents' is not installed")
    report = asyncio.run(run_folder(EXAMPLES / name))
    assert [(outcome.test.name, outcome.failures) for outcome in report.outcomes if not outcome.passed] == []
    assert len(report.outcomes) >= least
    assert all(coverage.untouched()["nodes"] == [] for coverage in report.coverage.values())


def test_that_every_repair_is_tested_in_the_shop() -> None:
    from dialoom.flows.nodes import REPAIRS

    report = asyncio.run(run_folder(EXAMPLES / "shop"))
    started = {e.data["repair"] for outcome in report.outcomes for e in outcome.events if e.kind == "repair_started"}
    assert started == set(REPAIRS)


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        ("{node: bye}", "{node: ask}", "the node is f.bye"),
        ("{node: f.bye}", "{node: g.bye}", "the node is f.bye"),
        ("{slots: {size: large}}", "{slots: {size: small}}", "slot size is 'large', not 'small'"),
        ("{filled: size}", "{slots: {size: null}}", "slot size is 'large', not None"),
        ("{contains: LARGE}", "{contains: [large, tiny]}", "lacks 'tiny'"),
        ("{lacks: tiny}", "{lacks: large}", "has 'large'"),
        ("{matches: '^l.*!$'}", "{matches: '^x'}", "does not match"),
        ("{says: [a, large!]}", "{says: [large]}", "is none of"),
        ("{holds: true}", "{violated: forbidden huge}", "was not violated"),
        ("{called: note}", "{called: other}", "other was not called"),
        ("{called: {note: {size: large}}}", "{called: {note: {size: small}}}", "was not called with"),
        ("{not_called: other}", "{not_called: note}", "note was called"),
        ("{closed: true, hand_off: false}", "{hand_off: true}", "not handed off"),
        ("{turns: 1}", "{turns: 0}", "1 turns, at most 0"),
        ("{model_calls: 0}", "{repair: chitchat}", "was not started"),
        ("{events: function_called}", "{events: model_called}", "no event model_called"),
        ("{queued: []}", "{queued: [a]}", "waiting requests"),
    ],
)
def test_that_expectations_tell_right_from_wrong(folder: Path, good: str, bad: str, words: str) -> None:
    assert wrong(folder, good) == []
    assert [words in problem for problem in wrong(folder, bad)] == [True]


def test_that_expectations_of_the_whole_conversation_count_over_it(folder: Path) -> None:
    text = "flow: f.yaml\ntests:\n- name: t\n  turns: [null, large]\n  expect: {called: note, turns: 0}\n"
    assert run(folder, text).outcomes[0].failures == ["at the end: 1 turns, at most 0"]


def test_that_coverage_tells_what_no_test_touched(folder: Path) -> None:
    report = run(folder, "flow: f.yaml\ntests:\n- {name: t, turns: [large]}\n")
    coverage = next(iter(report.coverage.values()))
    assert coverage.untouched() == {
        "nodes": ["f.never"],
        "transitions": ["f.never -> end"],
        "constraints": ["f.ask: forbidden huge"],
    }
    assert coverage.summary() == {"nodes": (3, 4), "transitions": (2, 3), "constraints": (0, 1)}


def test_that_results_are_written_as_junit(folder: Path) -> None:
    bad = '- {name: "b<d\\u0007", turns: [{user: x, expect: {node: "?"}}]}'
    report = run(folder, "flow: f.yaml\ntests:\n- {name: good, turns: [large]}\n" + bad)
    root = ElementTree.fromstring(junit(report.outcomes))
    assert root.attrib["tests"] == "2"
    assert [case.attrib["name"] for case in root.iter("testcase")] == ["good", "b<d?"]
    assert len(list(root.iter("failure"))) == 1


OUT = json.dumps({"ASSISTANT_UTTERANCE": "Large it is?", "NEXT_NODE": "ask"})
TAPED = """
flow: f.yaml
cassette: tapes/t.json
tests:
- name: t
  turns: [null, {user: the biggest, expect: {contains: Large it is}}]
"""


def test_that_a_cassette_is_recorded_once_and_replayed_without_a_model(folder: Path) -> None:
    live = ScriptedModel([OUT])
    assert run(folder, TAPED, Options(model=live, record=True)).passed
    assert len(live.requests) == 1
    assert run(folder, TAPED).passed
    assert len(live.requests) == 1
    changed = TAPED.replace("the biggest", "the very biggest")
    outcome = run(folder, changed).outcomes[0]
    assert "holds no generate call" in outcome.turns[-1].of("model_failed")[0].data["error"]
    assert CassetteMiss.__name__ in outcome.turns[-1].of("model_failed")[0].data["error"]


@pytest.mark.parametrize(("passes", "needed", "runs"), [("3 of 3", 3, 3), ("majority of 5", 3, 5), ("1 of 2", 1, 2)])
def test_that_a_pass_policy_is_read(passes: str, needed: int, runs: int) -> None:
    assert policy(passes) == (needed, runs)


@pytest.mark.parametrize(("passes", "passed"), [("3 of 3", False), ("majority of 3", True)])
def test_that_a_live_model_is_run_under_the_policy(folder: Path, passes: str, passed: bool) -> None:
    bad = json.dumps({"ASSISTANT_UTTERANCE": "Hm.", "NEXT_NODE": "ask"})
    text = TAPED.replace("cassette: tapes/t.json", f"passes: {passes}")
    report = run(folder, text, Options(model=ScriptedModel([OUT, bad, OUT])))
    assert report.passed is passed
    assert (report.outcomes[0].passed_runs, report.outcomes[0].runs) == (2, 3)


def test_that_judged_expectations_are_kept_apart(folder: Path) -> None:
    text = "flow: f.yaml\ntests:\n- name: t\n  turns: [{user: large, expect: {judged: the reply is short}}]\n"
    assert run(folder, text).outcomes[0].skipped == 1
    assert run(folder, text, Options(judge=Judge(ScriptedModel(["yes"])))).passed
    outcome = run(folder, text, Options(judge=Judge(ScriptedModel(["no"])))).outcomes[0]
    assert outcome.failures == []
    assert "the judge does not agree that the reply is short" in outcome.judged[0]
    assert not outcome.passed


RASA = """
test_cases:
- test_case: size
  steps:
  - user: hello
  - bot: Which size?
  - user: large
  - slot_was_set: [size: large]
  - slot_was_not_set: [colour]
  - bot: large!
"""


def test_that_rasa_end_to_end_tests_are_read(folder: Path) -> None:
    report = run(folder, RASA, Options(flow="f.yaml"))
    assert [outcome.failures for outcome in report.outcomes] == [[]]
    report = run(folder, RASA.replace("bot: large!", "bot: tiny!"), Options(flow="f.yaml"))
    assert "lacks 'tiny!'" in report.outcomes[0].failures[0]
    with pytest.raises(InvalidFile, match="--flow"):
        run(folder, RASA)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("flow: f.yaml\ntests:\n- name: t\n  turns: []\n", "line 4"),
        (
            "flow: f.yaml\ntests:\n- name: t\n  turns:\n  - user: x\n    expect: {nod: y}\n",
            "line 6: tests.0.turns.0.expect.nod",
        ),
        ("tests: []\n", "line 1"),
    ],
)
def test_that_a_mistake_in_a_test_file_is_named_with_its_line(folder: Path, text: str, words: str) -> None:
    (folder / "test_it.yaml").write_text(text)
    with pytest.raises(InvalidFile, match=words):
        load_tests(folder / "test_it.yaml")


def test_that_a_folder_without_tests_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no conversation tests"):
        asyncio.run(run_folder(tmp_path))
    with pytest.raises(InvalidFile, match="no such file"):
        asyncio.run(run_folder(tmp_path / "absent"))


def test_that_equal_constraints_of_two_nodes_are_covered_apart(folder: Path) -> None:
    text = FLOW.replace(
        "  never: {say: x, go: end}", "  never: {ask: x, constraints: [{forbidden: [huge]}], rules: [{go: end}]}"
    )
    (folder / "f.yaml").write_text(text)
    report = run(folder, "flow: f.yaml\ntests:\n- {name: t, model: ['{}'], turns: [null, large]}\n")
    coverage = next(iter(report.coverage.values()))
    assert coverage.untouched()["constraints"] == ["f.ask: forbidden huge", "f.never: forbidden huge"]
    huge = json.dumps({"ASSISTANT_UTTERANCE": "huge", "NEXT_NODE": "ask"})
    coverage = next(
        iter(run(folder, f"flow: f.yaml\ntests:\n- {{name: t, model: ['{huge}'], turns: [x]}}\n").coverage.values())
    )
    assert coverage.untouched()["constraints"] == ["f.never: forbidden huge"]


def test_that_junit_keeps_judged_failures_apart(folder: Path) -> None:
    text = "flow: f.yaml\ntests:\n- name: t\n  turns: [{user: large, expect: {node: ask, judged: it is short}}]\n"
    report = run(folder, text, Options(judge=Judge(ScriptedModel(["no"]))))
    root = ElementTree.fromstring(junit(report.outcomes))
    assert [failure.attrib["type"] for failure in root.iter("failure")] == ["expectation", "judged"]
    assert root.attrib["failures"] == "1"


def test_that_recording_needs_a_cassette_and_records_nothing_else(folder: Path) -> None:
    live = ScriptedModel([OUT])
    plain = "flow: f.yaml\ntests:\n- {name: plain, turns: [null, the biggest]}\n"
    with pytest.raises(UsageError, match="names a cassette"):
        run(folder, plain, Options(model=live, record=True))
    (folder / "test_other.yaml").write_text(plain)
    assert run(folder, TAPED, Options(model=live, record=True)).passed
    assert len(live.requests) == 1
