"""The example store, run as a customer would run it."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "store" / "app.py"


def test_that_the_store_answers_remembers_and_admits_what_it_does_not_know() -> None:
    pytest.importorskip("semantic_text_splitter", reason="the extra 'documents' is not installed")
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, timeout=120, check=True)
    lines = done.stdout.splitlines()
    replies = dict(zip(lines[::2], lines[1::2], strict=True))
    assert "30 days" in replies["ann: Can I return shoes that I have not worn?"]
    assert "95 euros" in replies["ann: How much is the Birch running shoe?"]
    assert "dry mud" in replies["ann: How do I clean the Alder hiking boot?"]
    assert "could not find" in replies["bob: Do you remember my size?"]
    assert "41" in replies["ann: Do you remember my size?"]
    assert "forgotten shoe size" in replies["ann: Please forget my shoe size."]
    assert "could not find" in replies["ann: Do you sell umbrellas?"]
    assert "welcome" in replies["ann: Thank you!"]
