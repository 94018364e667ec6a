from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .conftest import Run


def test_that_control_characters_in_a_message_do_not_reach_the_terminal(run: Run, model: Path) -> None:
    ended = run("chat", str(model), stdin="hello \x1b[31m :warning: my parcel\n")
    assert ended.returncode == 0
    assert "\x1b" not in ended.stdout
    assert ":warning: my parcel" in ended.stdout


def test_that_a_model_server_that_is_away_is_told_without_a_trace(run: Run, model: Path) -> None:
    ended = run("chat", str(model), "--model", "http://127.0.0.1:9/v1#none", stdin="my parcel is late\n")
    assert ended.returncode == 0
    assert "The best past reply is said instead" in ended.stderr


def test_that_a_line_nested_too_deep_is_an_error_with_its_place(run: Run, model: Path) -> None:
    ended = run("route", str(model), stdin="[" * 100_000 + "\n")
    assert ended.returncode == 2
    assert "line 1: not a JSON object" in ended.stderr


def test_that_routing_ends_quietly_when_its_reader_goes_away(model: Path, tmp_path: Path) -> None:
    turns = tmp_path / "turns.jsonl"
    line = json.dumps({"id": "a", "utterances": [{"role": "user", "text": "where is my parcel"}]})
    turns.write_text(f"{line}\n" * 2000, encoding="utf-8")
    program = [sys.executable, "-c", "from dialoom.cli import main; main()", "route", str(model), str(turns)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as routing:
        assert routing.stdout is not None
        assert routing.stderr is not None
        routing.stdout.readline()
        routing.stdout.close()
        assert routing.stderr.read() == ""


def test_that_options_a_project_file_would_override_are_refused(run: Run, tmp_path: Path) -> None:
    run("init", str(tmp_path / "new"))
    ended = run("learn", "--role", "bot=system", cwd=tmp_path / "new")
    assert ended.returncode == 2
    assert "dialoom.yaml" in ended.stderr
