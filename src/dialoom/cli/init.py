"""`dialoom init`: a folder to start from."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from dialoom.cli.console import out
from dialoom.cli.project import NAME
from dialoom.corpora import write_jsonl
from dialoom.demo import transcripts
from dialoom.errors import UsageError
from dialoom.files import write_text

PROJECT = """\
# What `dialoom learn` does in this folder. Every path is relative to this file.
transcripts:
  - transcripts/        # files, folders, globs, .zip, .gz; `dialoom formats` lists what is read
format: auto            # or the name of a format
model: agent.dialoom    # where the learned agent goes

# Tables (CSV, Parquet): which column holds what, and who the speakers are.
# columns: {conversation: chat_id, role: sender, text: message}
# roles: {agent: system, customer: user}

# How to learn; `dialoom learn --help` explains every setting. These are the defaults.
learn:
  strategy: predictive
  tagger: embedded
  redact: true
"""
EVERY = 3
"""Of the bundled dialogues every third is a sample: some of each workflow."""


def init_command(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.", show_default=False)],
) -> None:
    """Start a project: a folder with a project file and sample transcripts to replace by yours.

    Example: dialoom init support && cd support && dialoom learn
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is not an empty folder.", hint="Name a new one; nothing was written.")
    write_jsonl(folder / "transcripts" / "sample.jsonl", islice(transcripts(), 0, None, EVERY))
    write_text(folder / NAME, PROJECT)
    out.print(f"Made [bold]{folder}[/] with {NAME} and transcripts/sample.jsonl. Next:\n")
    out.print(f"  cd {folder}\n  dialoom learn\n  dialoom chat agent.dialoom --trace\n")
    out.print("Then put your own transcripts into transcripts/ and learn again.")
