"""The runnable example learns from its CSV and answers."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "own_transcripts" / "ask.py"


def test_that_the_desk_answers_and_shows_the_calls_that_guided_it(capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(SCRIPT))
    script["main"](["Hello, I have to move my appointment to another day."])
    said, answered, *guides = capsys.readouterr().out.splitlines()
    assert said.startswith("you> Hello")
    assert answered.removeprefix("desk> ")
    assert len(guides) == 3
    assert answered.removeprefix("desk> ") in guides[0]
