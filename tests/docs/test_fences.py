"""Every ```python and ```bash fence of the README and the docs runs, page by page, in a scratch copy of the project.

```sh is for the set-up lines a machine without Dialoom needs; those are checked against a short list instead.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")), *sorted((ROOT / "examples").glob("*/README.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SET_UP = re.compile(
    r"(make (demo|test|check|bench|docs)|git clone .*|cd dialoom|(python3? -m )?pip install .*)(\s*#.*)?"
)
RUNNER = """
import json, subprocess
for language, body in json.load(open("fences.json")):
    if language == "bash":
        subprocess.run(["bash", "-euo", "pipefail", "-c", body], check=True, stdin=subprocess.DEVNULL)
    else:
        exec(compile(body, "<fence>", "exec"), globals())
"""
RUNNABLE = {"python", "bash"}
INERT = {"sh", "text", "json", "jsonl", "yaml", "csv", "mermaid", "toml", "xml", "jinja", "html", "lark", "sql"}


def fences(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in FENCE.finditer(page.read_text(encoding="utf-8"))]


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_that_every_fence_says_what_it_is(page: Path) -> None:
    for language, body in fences(page):
        assert language in RUNNABLE | INERT, f"a fence of {page.name} is marked '{language}'"
        if language == "sh":
            for line in body.strip().splitlines():
                assert SET_UP.fullmatch(line.strip()), f"mark this line as bash so that it runs: {line}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_that_the_fences_of_a_page_run_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    runnable = [(language, body) for language, body in fences(page) if language in RUNNABLE]
    if not runnable:
        pytest.skip("no runnable fence on this page")
    for name in ("examples", "docs", "benchmarks"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "fences.json").write_text(json.dumps(runnable), encoding="utf-8")
    (tmp_path / "run_page.py").write_text(RUNNER, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONWARNINGS": "ignore",
        "COLUMNS": "120",
    }
    done = subprocess.run(
        [sys.executable, "run_page.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, f"{page.name} stopped:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
