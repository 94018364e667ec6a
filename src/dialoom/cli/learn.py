"""`dialoom learn`: transcripts in, a model out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dialoom.agent.learn import learn, update
from dialoom.agent.model import Model
from dialoom.agent.settings import LearnSettings, parse_settings
from dialoom.cli.console import Json, err, out, pairs, print_json, progress_of
from dialoom.cli.reading import Columns, Format, OnError, Rejects, Roles, Transcripts, corpus, read
from dialoom.cli.summary import print_summary, summary

SETTINGS = "\n\n".join(
    f"  {name} = {field.default}  {field.description}" for name, field in LearnSettings.model_fields.items()
)


def learn_command(
    transcripts: Transcripts,
    out_file: Annotated[Path, typer.Option("--out", "-o", help="Where to write the model.")] = Path("agent.dialoom"),
    format: Format = "auto",  # noqa: A002
    column: Columns = None,
    role: Roles = None,
    on_error: OnError = "raise",
    rejects: Rejects = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE, a setting listed above.", show_default=False)
    ] = None,
    update_file: Annotated[
        Path | None, typer.Option("--update", help="A model to add these transcripts to; its settings are kept.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Learn a conversation automaton from transcripts."""
    source = corpus(transcripts, format, column, role, on_error, rejects)
    if update_file is None:
        model = learn(read(source), parse_settings(pairs(setting or [], "--set")), progress=progress_of)
    else:
        model = update(Model.load(update_file), read(source), progress=progress_of)
    model.save(out_file)
    if as_json:
        print_json({**summary(model), "model": str(out_file)})
        return
    print_summary(model)
    out.print(f"\nWritten to [bold]{out_file}[/]. Talk to it: [bold]dialoom chat {out_file} --trace[/]")
    if source.counts.skipped and rejects is None:
        err.print("Name a file with --rejects to see which records were skipped.")


learn_command.__doc__ = f"""{learn_command.__doc__}

Example: dialoom learn transcripts/ --out support.dialoom

Settings (--set NAME=VALUE):

{SETTINGS}
"""
