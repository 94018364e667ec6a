"""Options of every command that reads transcripts, and the reading itself with its report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from dialoom.cli.console import err, progress
from dialoom.cli.project import Project
from dialoom.corpora import Corpus, ReadOptions, open_corpus
from dialoom.corpora.roles import role_of
from dialoom.corpora.tables import NAMES
from dialoom.dialogue import Dialogue, Role
from dialoom.errors import UnknownName, UsageError

Transcripts = Annotated[list[str], typer.Argument(help="Files, folders, globs, .zip or .gz.", show_default=False)]
Format = Annotated[str, typer.Option("--format", "-f", help="`auto`, or a name that `dialoom formats` lists.")]
Columns = Annotated[
    list[str] | None, typer.Option("--column", help="Tables: FIELD=COLUMN, such as text=message.", show_default=False)
]
Roles = Annotated[
    list[str] | None, typer.Option("--role", help="SPEAKER=user|system|tool, such as bot=system.", show_default=False)
]
OnError = Annotated[str, typer.Option(help="`raise` stops at a bad record; `skip` counts it and goes on.")]
Rejects = Annotated[Path | None, typer.Option(help="With --on-error skip: a file that lists the bad records.")]


def corpus(project: Project, on_error: str = "raise", rejects: Path | None = None) -> Corpus:
    """The corpus that a command line or a project file asks for."""
    if on_error not in ("raise", "skip"):
        raise UsageError(f"--on-error is '{on_error}'.", hint="Valid: raise, skip.")
    for field in project.columns:
        if field not in NAMES:
            raise UnknownName("field of --column", field, NAMES)
    for role in project.roles.values():
        if role_of(role) is None:
            raise UnknownName("role", role, Role)
    options = ReadOptions(columns=project.columns, roles=project.roles)
    how: Literal["raise", "skip"] = "skip" if on_error == "skip" else "raise"
    return open_corpus(project.transcripts, project.format, options, on_error=how, rejects=rejects)


def read(source: Corpus) -> Iterator[Dialogue]:
    """The dialogues with a progress bar, then one line for everything that was left out."""
    yield from progress(source, "reading")
    counts = source.counts
    left_out = {
        "bad records skipped": counts.skipped,
        "empty dialogues": counts.empty,
        "blank utterances": counts.blank,
        "files in no known format": len(counts.ignored),
    }
    told = ", ".join(f"{number} {what}" for what, number in left_out.items() if number)
    if told:
        err.print(f"Left out: {told}.")
