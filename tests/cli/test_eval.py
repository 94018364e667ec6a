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
    done = run("eval", "simulate", str(model), "--user", "sampled", "--count", "3", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["talks"] == 3
    assert run("eval", "simulate", str(model), cwd=tmp_path).returncode == 2


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
