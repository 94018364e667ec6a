"""The runnable example answers from its CSV."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "own_transcripts" / "ask.py"


def test_that_the_desk_asks_who_is_calling(capsys: pytest.CaptureFixture[str]) -> None:
    script = runpy.run_path(str(SCRIPT))
    assert len(list(script["read"](SCRIPT.with_name("clinic.csv")))) == 15
    script["main"]("Hello, I have to move my appointment to another day.")
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3
    assert any("call 2103: Of course. What's your name and date of birth, please?" in line for line in printed)
