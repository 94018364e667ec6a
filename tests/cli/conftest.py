from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from dialoom.corpora import write_jsonl
from dialoom.demo import transcripts

Run = Callable[..., subprocess.CompletedProcess[str]]


def command(*arguments: str, cwd: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    program = [sys.executable, "-W", "error", "-c", "from dialoom.cli import main; main()", *arguments]
    environment = {**os.environ, "COLUMNS": "160", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        program, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=300, check=False, env=environment
    )


@pytest.fixture(scope="session")
def run() -> Run:
    return command


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "transcripts.jsonl"
    write_jsonl(path, islice(transcripts(), 0, None, 6))
    return path


@pytest.fixture(scope="session")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "agent.dialoom"
    done = command("learn", str(corpus), "--out", str(path))
    assert done.returncode == 0, done.stderr
    return path
