"""Evaluation with a model server: stopped runs, models that play the user, keys that nobody may see."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from ..models.server import Server, fails, says, slow
from .conftest import Run

EXPERIMENT = """
name: stopped and run again
datasets: [{{name: shop, data: [transcripts.jsonl], dialogues: 6}}]
systems:
  - {{name: bare, strategy: s-icl-zero-shot, model: "{url}#m"}}
  - {{name: one, strategy: s-icl-one-sample, selector: bm25, model: "{url}#m"}}
metrics: [rouge-l]
concurrency: {concurrency}
"""
GOALS = "- {id: parcel, opening: where is my parcel, wants: to know, reached: [never said]}"


def begun(folder: Path, server: Server, concurrency: int, corpus: Path) -> subprocess.Popen[str]:
    """The experiment under way: some answers are there, more are asked for."""
    (folder / "transcripts.jsonl").write_bytes(corpus.read_bytes())
    (folder / "experiment.yaml").write_text(EXPERIMENT.format(url=server.url, concurrency=concurrency))
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom dialoom.cli import main; main()"
    )
    arguments = [sys.executable, "-c", program, "eval", "dialogues", "experiment.yaml", "--out", "results"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    running = subprocess.Popen(arguments, cwd=folder, stderr=subprocess.PIPE, text=True, env=environment)
    until = time.monotonic() + 60
    while len(server.seen) < 2 * concurrency and time.monotonic() < until:
        time.sleep(0.02)
    assert running.poll() is None
    return running


@pytest.mark.parametrize(("stop", "concurrency"), [(signal.SIGKILL, 3), (signal.SIGINT, 1)])
def test_that_a_stopped_run_asks_again_only_for_what_was_under_way(
    stop: signal.Signals, concurrency: int, run: Run, corpus: Path, tmp_path: Path
) -> None:
    with Server([slow(0.05, says("It is on its way."))]) as server:
        running = begun(tmp_path, server, concurrency, corpus)
        running.send_signal(stop)
        told = running.communicate(timeout=60)[1]
        if stop is signal.SIGINT:
            assert running.returncode == 130
            assert "kept in results" in told
            assert "interrupted" in told
        else:
            assert running.returncode == -stop
        kept = len((tmp_path / "results" / "replies.jsonl").read_text(encoding="utf-8").splitlines())
        assert kept >= concurrency
        done = run("eval", "dialogues", "experiment.yaml", "--out", "results", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        asked = Counter(json.dumps(body["messages"]) for body in server.seen)
        found = json.loads(done.stdout)
        assert len(asked) == sum(line["replies"] for line in found["lines"]) > 2 * concurrency
        assert sum(asked.values()) - len(asked) <= concurrency
        assert all(line["failed"] == line["missing"] == 0 for line in found["lines"])


def test_that_a_model_plays_the_user_and_is_priced_apart(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "goals.yaml").write_text(GOALS)
    with Server([says("It is QF-1."), says("[END]")]) as server:
        name = f"{server.url}#player"
        (tmp_path / "prices.yaml").write_text(f'"{name}": {{prompt: 1000, completion: 0}}')
        arguments = ("eval", "simulate", str(model), "--goals", "goals.yaml", "--user", f"model:{name}")
        done = run(*arguments, "--prices", "prices.yaml", "--log", "talks.jsonl", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["completion"], found["turns_to_success"], found["bill"]["calls"]) == (0.0, None, 0)
    assert (found["players"]["calls"], found["players"]["unpriced"]) == (2, 0)
    assert found["players"]["dollars"] == pytest.approx(2 * 11 * 1000 / 1e6)
    (talk,) = (json.loads(line) for line in (tmp_path / "talks.jsonl").read_text(encoding="utf-8").splitlines())
    assert [said["text"] for said in talk["utterances"] if said["role"] == "user"] == [
        "where is my parcel",
        "It is QF-1.",
    ]
    assert "to know" in server.seen[0]["messages"][0]["content"]


def test_that_a_player_who_fails_breaks_the_talk_off_and_no_key_is_told(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "opensesame")
    (tmp_path / "goals.yaml").write_text(GOALS)
    with Server([fails(401, "opensesame is not a key of me:opensesame")]) as server:
        arguments = ("eval", "simulate", str(model), "--goals", "goals.yaml", "--user", f"model:{server.url}#player")
        done = run(*arguments, "--log", "talks.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert any(line.split()[:3] == ["broken", "off", "100.0%"] for line in done.stdout.splitlines())
    talks = (tmp_path / "talks.jsonl").read_text(encoding="utf-8")
    assert "answered 401" in talks
    assert "broken off: " in done.stderr
    assert "opensesame" not in talks + done.stdout + done.stderr


def test_that_a_failing_system_tells_why_and_keeps_its_key(
    run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "opensesame")
    (tmp_path / "transcripts.jsonl").write_bytes(corpus.read_bytes())
    with Server([fails(403, "opensesame may not, see http://me:opensesame@inside/?token=opensesame")]) as server:
        (tmp_path / "experiment.yaml").write_text(EXPERIMENT.format(url=server.url, concurrency=2))
        done = run("eval", "dialogues", "experiment.yaml", "--out", "results", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "answered 403" in done.stderr
    written = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "results").iterdir())
    assert "answered 403" in written
    assert "opensesame" not in written + done.stdout + done.stderr


def test_that_a_full_disk_is_told_in_a_line_and_the_results_there_were_stay(
    run: Run, corpus: Path, tmp_path: Path
) -> None:
    (tmp_path / "transcripts.jsonl").write_bytes(corpus.read_bytes())
    with Server([says("It is on its way.")]) as server:
        (tmp_path / "experiment.yaml").write_text(EXPERIMENT.format(url=server.url, concurrency=2))
        arguments = ["eval", "dialogues", "experiment.yaml", "--out", "results"]
        assert run(*arguments, cwd=tmp_path).returncode == 0
        before = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}
        asked = len(server.seen)
        limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))"
        program = f"{limit}\nfrom dialoom.cli import main; main()"
        full = subprocess.run(
            [sys.executable, "-c", program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert full.returncode == 1
        assert "cannot be written" in full.stderr
        assert "Make room" in full.stderr
        assert "Traceback" not in full.stderr
        assert {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()} == before
        assert len(server.seen) == asked
