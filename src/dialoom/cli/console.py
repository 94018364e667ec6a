"""What commands share: two consoles, a progress bar that shows itself only when work is slow, options used twice."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from dialoom.errors import UsageError

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Terminal(Console):
    """A console that shows what people said as it is: control characters cannot reach the terminal."""

    def render_str(self, text: str, **options: Any) -> Text:
        """As rich renders it, without control characters other than line breaks and tabs."""
        return super().render_str(CONTROL.sub("\N{REPLACEMENT CHARACTER}", text), **options)


out = Terminal(highlight=False, emoji=False)
"""Results: standard output."""
err = Terminal(stderr=True, highlight=False, emoji=False)
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
