"""Running a user's own Python file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dialoom.applications import run_file
from dialoom.errors import InvalidFile, UsageError


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_that_a_file_may_import_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "prices_of_a_shop.py").write_text("MARGHERITA = 7\n")
    (tmp_path / "json.py").write_text("raise RuntimeError('this shadows a module')\n")
    (tmp_path / "app.py").write_text("import json\nfrom prices_of_a_shop import MARGHERITA\n")
    assert run_file(tmp_path / "app.py", "shop_app").MARGHERITA == 7


def test_that_an_edit_is_seen_and_a_failure_leaves_the_module_before_it(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
    )
    first = run_file(path, "edited_app")
    assert first.A(1).x == 1
    for text, error in (("1 / 0", "ZeroDivisionError"), ("raise SystemExit(3)", "SystemExit"), ("(", "SyntaxError")):
        path.write_text(text)
        with pytest.raises(InvalidFile, match=error):
            run_file(path, "edited_app")
        assert sys.modules["edited_app"] is first
    path.write_text("x = 2")
    assert run_file(path, "edited_app").x == 2


def test_that_its_own_usage_errors_are_told_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "app.py"
    path.write_text("from dialoom.errors import UsageError\nraise UsageError('Two rules of one name.')\n")
    with pytest.raises(UsageError, match=r"^Two rules"):
        run_file(path, "mistaken_app")
    assert "mistaken_app" not in sys.modules
    with pytest.raises(InvalidFile, match="no such Python file"):
        run_file(tmp_path / "app.txt", "absent_app")
