"""`dialoom learn`: transcripts in, a model out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dialoom.agent.learn import learn, update
from dialoom.agent.model import Model
from dialoom.agent.settings import LearnSettings, parse_settings
from dialoom.cli.console import Json, err, out, pairs, print_json, progress
from dialoom.cli.project import Project, find_project
from dialoom.cli.reading import Columns, Format, OnError, Rejects, Roles, corpus, read
from dialoom.cli.summary import print_summary, summary
from dialoom.errors import UsageError

SETTINGS = "\n\n".join(
    f"  {name} ({field.default}): {field.description}" for name, field in LearnSettings.model_fields.items()
)
HELP = f"""Learn a conversation automaton from transcripts.

Without transcripts, the project file dialoom.yaml of this folder says what to learn from and how.

Example: dialoom learn transcripts/ --out support.dialoom --set max_states=100

Settings, with their defaults:

{SETTINGS}
"""


def learn_command(
    transcripts: Annotated[
        list[str] | None, typer.Argument(help="Files, folders, globs, .zip or .gz.", show_default=False)
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write the model (agent.dialoom).", show_default=False)
    ] = None,
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
    tag_cache: Annotated[
        Path, typer.Option(help="Where tags of a language model are kept, so that a stopped run goes on.")
    ] = Path(".dialoom-tags.sqlite"),
    as_json: Json = False,
) -> None:
    """Learn a conversation automaton from transcripts (see HELP)."""
    project = _project(transcripts, out_file, format, column, role)
    source = corpus(project, on_error, rejects)
    if update_file is None:
        settings = parse_settings({**_words(project.learn), **pairs(setting or [], "--set")})
        model = learn(read(source), settings, tag_cache=_cache(settings, tag_cache), progress=progress)
    elif setting:
        raise UsageError("--update keeps the settings of the model.", hint="Leave --set out, or learn anew.")
    else:
        known = Model.load(update_file)
        model = update(known, read(source), tag_cache=_cache(known.settings, tag_cache), progress=progress)
    model.save(project.model)
    if as_json:
        print_json({**summary(model), "model": project.model})
        return
    print_summary(model)
    out.print(f"\nWritten to [bold]{project.model}[/]. Talk to it: [bold]dialoom chat {project.model} --trace[/]")
    if source.counts.skipped and rejects is None:
        err.print("Name a file with --rejects to see which records were skipped.")


def _project(
    transcripts: list[str] | None,
    out_file: Path | None,
    format: str,  # noqa: A002
    column: list[str] | None,
    role: list[str] | None,
) -> Project:
    """What to learn from: the command line's transcripts, or those of the project file of this folder."""
    if transcripts:
        return Project(
            transcripts=tuple(transcripts),
            format=format,
            columns=pairs(column or [], "--column"),
            roles=pairs(role or [], "--role"),
            model=str(out_file or "agent.dialoom"),
        )
    if format != "auto" or column or role:
        raise UsageError(
            "--format, --column and --role belong to transcripts named on the command line.",
            hint="Name transcripts, or write format, columns and roles into dialoom.yaml.",
        )
    project = find_project(Path())
    return project.model_copy(update={"model": str(out_file)}) if out_file else project


def _cache(settings: LearnSettings, path: Path) -> Path | None:
    """The tag cache, if a language model is asked at all."""
    return path if settings.tagger.partition(":")[0] in ("llm", "distil") else None


def _words(settings: LearnSettings) -> dict[str, str]:
    """Settings that differ from the defaults, as `parse_settings` takes them."""
    told = settings.model_dump(exclude_defaults=True).items()
    return {name: ",".join(value) if isinstance(value, tuple) else str(value) for name, value in told}
