"""`dialoom say`, `dialoom rules check` and `dialoom bench smcalflow`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialoom.cli.application import run

NEXT = "(Yield (FindNumNextEvent (^(Event) EmptyStructConstraint) 1L))"
APP = """
from dialoom.dataflow import Library
from dialoom.generation import Domain, Rules

library = Library()
rules = Rules()

@library.function
def add(x: int, y: int) -> int:
    return x + y

@rules.rule("S", "It is {<n>}.")
def total(node, graph):
    return {"n": node}

@rules.rule("LOST", "never")
def lost(node, graph):
    return {}

domain = Domain(library, rules)
"""


def test_that_say_prints_a_reply_and_why_it_is_true(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["say", "calendar", NEXT, "--alternatives", "2"]) == 0
    said = capsys.readouterr().out
    assert "budget review" in said
    assert said.count("  or: ") == 2
    assert "<- rule 'say_output'" in said
    assert run(["say", "calendar", NEXT, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"reply", "alternatives", "derivations", "explanation", "events"}


def test_that_a_model_chooses_and_cannot_lie(capsys: pytest.CaptureFixture[str]) -> None:
    # The double says what it always says, which is no true reply.
    assert run(["say", "calendar", NEXT, "--model", "scripted", "--words", "What is next?", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "All right" not in document["reply"]
    assert len(document["events"]) == 1
    assert run(["say", "calendar", NEXT, "--model", "scripted"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[0] == document["reply"]
    assert "The model's reply was replaced" in said.err
    assert run(["say", "calendar", NEXT, "--model", "scriptd"]) == 2


def test_that_an_own_application_is_checked_and_speaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "app.py"
    path.write_text(APP)
    assert run(["say", str(path), "(add 1L 2L)"]) == 0
    assert capsys.readouterr().out.startswith("It is 3.")
    assert run(["rules", "check", str(path), "--computation", "(add 1L 2L)"]) == 1
    said = capsys.readouterr().out
    assert "never fires: nothing that starts at S asks for LOST" in said
    assert "2 rules, 1 to mend." in said
    assert "rule 'total' (app.py, line 12)" in said


@pytest.mark.parametrize(
    ("text", "problem"),
    [("x = 1", "defines no `domain`"), ("raise ValueError('no')", "ValueError: no"), (None, "no such Python file")],
)
def test_that_a_wrong_application_is_the_users_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str | None, problem: str
) -> None:
    path = tmp_path / "app.py"
    if text is not None:
        path.write_text(text)
    assert run(["say", str(path), NEXT]) == 2
    assert problem in capsys.readouterr().err


def test_that_an_unknown_function_is_the_users_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["say", "calendar", "(Yield (Tomorow))"]) == 2
    assert "Did you mean 'Tomorrow'" in capsys.readouterr().err


def test_that_the_bench_prints_shares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    turn = {
        "skip": False,
        "turn_index": 0,
        "lispress": NEXT,
        "agent_utterance": {"original_text": 'The next event is "tea" tomorrow from 3:00 to 3:30 PM.'},
    }
    odd = {**turn, "agent_utterance": {"original_text": "Something else entirely."}}
    path = tmp_path / "turns.jsonl"
    path.write_text(json.dumps({"dialogue_id": "d", "turns": [turn, odd]}) + "\n")
    lost = tmp_path / "lost.jsonl"
    assert run(["bench", "smcalflow", str(path), "--json", "--failures", str(lost)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [document[key] for key in ("parsed", "executed", "described", "derived")] == [1, 1, 1, 0.5]
    assert json.loads(lost.read_text())["reply"] == "Something else entirely."
    assert run(["bench", "smcalflow", str(path)]) == 0
    said = capsys.readouterr().out
    assert "50.0 %" in said
    assert "level 4" in said
    assert document["levels"] == {"1": 0.5, "2": 0.5, "3": 0.5, "4": 0.5}


def test_that_truth_is_measured_with_a_model_of_ones_own(tiny_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "truth", "--model", str(tiny_model), "--limit", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = {row["system"]: row for row in document["systems"]}
    assert set(rows) == {
        "unconstrained",
        "unconstrained sampled",
        "random derivation",
        "constrained, greedy",
        "constrained, beam 5",
    }
    assert all(rows[name]["truthful"] == 1 for name in rows if not name.startswith("unconstrained"))
    assert document["verifier"]["truths"] == 6
    assert run(["bench", "truth", "--model", str(tiny_model), "--limit", "2"]) == 0
    said = capsys.readouterr().out
    assert "informative" in said
    assert "The verifier caught" in said
    assert max(map(len, said.splitlines())) < 130
