from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

EXPERIMENT = """
name: from the command line
datasets: [{name: shop, data: [transcripts.jsonl], dialogues: 4}]
systems:
  - {name: random, strategy: s-icl-search, selector: random}
  - {name: bm25, strategy: s-icl-search, selector: bm25}
metrics: [rouge-l, exact-match]
"""
COMMANDS = ("dialogues", "compare", "split", "label", "agreement", "simulate", "next-action")


@pytest.mark.parametrize("command", COMMANDS)
def test_that_every_evaluation_has_help_with_an_example(command: str, run: Run) -> None:
    done = run("eval", command, "--help")
    assert done.returncode == 0
    assert f"Example: dialoom eval {command}" in done.stdout


def test_that_an_experiment_is_run_continued_and_compared(run: Run, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "transcripts.jsonl").write_bytes(corpus.read_bytes())
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    done = run("eval", "dialogues", "experiment.yaml", "--out", "results", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = json.loads(done.stdout)["lines"]
    assert [line["system"] for line in lines] == ["random", "bm25"]
    assert lines[0]["replies"] == lines[1]["replies"] > 0
    page = (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
    assert "from the command line" in page
    planned = run("eval", "dialogues", "experiment.yaml", "--out", "results", "--plan", "--json", cwd=tmp_path)
    assert {counts["pending"] for counts in json.loads(planned.stdout).values()} == {0}
    found = run("eval", "compare", "results#bm25", "results#random", "--json", cwd=tmp_path)
    assert [comparison["metric"] for comparison in json.loads(found.stdout)] == ["rouge-l", "exact-match"]
    wrong = run("eval", "compare", "results", "results#random", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "results#bm25" in wrong.stderr


def test_that_a_split_is_written_and_reported(run: Run, corpus: Path, tmp_path: Path) -> None:
    arguments = ("--side", "user", "--test", "0.3", "--out", "parts", "--json")
    done = run("eval", "split", str(corpus), *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    lines = (tmp_path / "parts" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == report["test"] > 0


def test_that_users_are_simulated_from_the_automaton(run: Run, model: Path, tmp_path: Path) -> None:
    logs = []
    for number, seed in enumerate(("0", "0", "1")):
        arguments = ("--user", "sampled", "--count", "3", "--seed", seed, "--log", f"talks-{number}.jsonl", "--json")
        done = run("eval", "simulate", str(model), *arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["talks"] == 3
        lines = (tmp_path / f"talks-{number}.jsonl").read_text(encoding="utf-8").splitlines()
        logs.append([json.loads(line)["utterances"] for line in lines])
    assert logs[0] == logs[1] != logs[2]
    assert run("eval", "simulate", str(model), cwd=tmp_path).returncode == 2


TABLE = """
flow: table
start: ask
slots:
  guests: {type: integer, min: 1, recognise: number}
nodes:
  ask:
    ask: {guests: For how many guests?}
    rules: [{filled: [guests], go: booked}]
  booked: {say: "A table for {{ guests }}.", go: end}
"""
GOALS = """
- id: two
  opening: a table please
  answers: [{when: [how many], say: for two}]
  reached: [a table for]
  memory: {guests: 2}
- {id: nine, domain: large, opening: a table for 9, reached: [a table for], memory: {guests: 8}}
"""


def test_that_flows_are_simulated_and_compared_in_one_table(run: Run, model: Path, tmp_path: Path) -> None:
    for name, text in {"a.yaml": TABLE, "b.yaml": TABLE.replace("min: 1", "min: 3"), "goals.yaml": GOALS}.items():
        (tmp_path / name).write_text(text)
    arguments = ("eval", "simulate", "a.yaml", "b.yaml", "--goals", "goals.yaml", "--log", "talks.jsonl")
    done = run(*arguments, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    one, other = json.loads(done.stdout)
    assert (one["file"], one["talks"], one["completion"], one["domains"]) == (
        "a.yaml",
        2,
        0.5,
        {"all": 1.0, "large": 0.0},
    )
    assert other["completion"] == 0.0
    logged = [json.loads(line) for line in (tmp_path / "talks.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(talk["file"], talk["goal"], talk["reached"]) for talk in logged][:2] == [
        ("a.yaml", "two", True),
        ("a.yaml", "nine", False),
    ]
    table = run(*arguments, cwd=tmp_path).stdout
    for row in (
        "goals reached",
        "turns to success",
        "repairs",
        "handed off",
        "conformance",
        "model calls",
        "ms a turn",
    ):
        assert row in table
    refused = run("eval", "simulate", "a.yaml", str(model), "--goals", "goals.yaml", cwd=tmp_path)
    assert refused.returncode == 2
    assert "remembers no slots" in refused.stderr
    nobody = run("eval", "simulate", "a.yaml", "--user", "sampled", cwd=tmp_path)
    assert nobody.returncode == 2
    assert "--agent" in nobody.stderr
    beside = run(
        "eval", "simulate", "a.yaml", "--user", "sampled", "--agent", str(model), "--count", "2", "--json", cwd=tmp_path
    )
    assert json.loads(beside.stdout)["talks"] == 2


def test_that_repairs_hand_offs_and_conformance_of_a_flow_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(TABLE)
    (tmp_path / "goals.yaml").write_text(
        """
- {id: plain, opening: for two, reached: [a table for]}
- {id: person, opening: I want to speak to a human agent, reached: [never said]}
- {id: slow, opening: blorb, answers: [{when: [how many], say: two}], reached: [a table for]}
"""
    )
    done = run("eval", "simulate", "a.yaml", "--goals", "goals.yaml", "--log", "talks.jsonl", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    lines = (tmp_path / "talks.jsonl").read_text(encoding="utf-8").splitlines()
    talks = {talk["goal"]: talk for talk in map(json.loads, lines)}
    assert [talks[name]["hand_off"] for name in ("plain", "person", "slow")] == [False, True, False]
    assert [talks[name]["repairs"] for name in ("plain", "slow")] == [0, 1]
    assert [talks[name]["turns"] for name in ("plain", "slow")] == [1, 2]
    assert (found["completion"], found["handed_off"]) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert found["turns_to_success"] == 1.5
    conforming, turns = (sum(talk[name] for talk in talks.values()) for name in ("conforming", "turns"))
    assert found["conformance"] == pytest.approx(conforming / turns)
    assert (talks["plain"]["conforming"], talks["slow"]["conforming"]) == (1, 1)
    assert 0 < found["p50"] <= found["p95"]
    assert found["low"] < found["completion"] < found["high"]


def test_that_calls_are_priced_by_a_table(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "goals.yaml").write_text("- {id: a, opening: where is my parcel, reached: [zzz]}")
    (tmp_path / "prices.yaml").write_text("scripted: {prompt: 1, completion: 1}")
    arguments = ("eval", "simulate", str(model), "--goals", "goals.yaml", "--model", "scripted", "--turns", "2")
    told = json.loads(run(*arguments, "--prices", "prices.yaml", "--json", cwd=tmp_path).stdout)
    assert told["bill"]["calls"] == 2
    assert told["bill"]["unpriced"] == 0
    assert "unknown" in run(*arguments, cwd=tmp_path).stdout
    (tmp_path / "prices.yaml").write_text("scripted: 3")
    wrong = run(*arguments, "--prices", "prices.yaml", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "no table of prices" in wrong.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("dialogues", "nowhere.yaml"),
        ("compare", "nowhere", "nowhere"),
        ("label", "nowhere"),
        ("agreement", "nowhere", "x.csv"),
        ("split", "nowhere.jsonl"),
    ],
)
def test_that_a_mistake_is_told_in_a_line(arguments: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    done = run("eval", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
