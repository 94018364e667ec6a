"""What commands share: two consoles, a progress bar that shows itself only when work is slow, options used twice."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from dialoom.errors import UsageError

out = Console(highlight=False)
"""Results: standard output."""
err = Console(stderr=True, highlight=False)
"""Progress, warnings and everything else that is no result: standard error."""

Item = TypeVar("Item")

Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts instead of text for people.")]
ModelFile = Annotated[Path, typer.Argument(help="A learned model, as `dialoom learn` writes it.", show_default=False)]


def print_json(value: Any) -> None:
    """JSON on standard output, one document."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """`items` as they are, with a progress bar on standard error where that is a terminal."""
    if not err.is_terminal:
        yield from items
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        yield from bar.track(items, total=total, description=what)


def pairs(options: list[str], flag: str) -> dict[str, str]:
    """`KEY=VALUE` options as a mapping. Raises `UsageError` for one without `=`."""
    parsed: dict[str, str] = {}
    for option in options:
        key, sign, value = option.partition("=")
        if not sign or not key or not value:
            raise UsageError(f"{flag} takes KEY=VALUE, and got '{option}'.", hint=f"For example: {flag} text=message")
        parsed[key] = value
    return parsed
