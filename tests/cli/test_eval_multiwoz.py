from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run


@pytest.mark.parametrize("command", ["multiwoz", "multiwoz-policy"])
def test_that_the_commands_have_help_with_an_example(command: str, run: Run) -> None:
    done = run("eval", command, "--help")
    assert done.returncode == 0
    assert f"Example: dialoom eval {command} " in done.stdout


def test_that_a_missing_folder_is_the_users_mistake(run: Run, tmp_path: Path) -> None:
    done = run("eval", "multiwoz", "mine.json", "--data", str(tmp_path))
    assert done.returncode == 2
    assert "goals.json is missing" in done.stderr


@pytest.mark.data
def test_that_the_json_has_the_official_figures_of_a_published_system(run: Run, data: Path) -> None:
    folder = data / "multiwoz"
    done = run("eval", "multiwoz", str(folder / "predictions" / "labes.json"), "--data", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["inform"], found["success"], found["bleu"]) == (68.5, 58.1, None)
    assert found["richness"]["trigrams"] == 3228
    assert found["dialogues"] == 944
