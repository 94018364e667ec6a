"""`dialoom conform`: how much of some transcripts a model explains."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from dialoom.agent.conformance import conform_model
from dialoom.agent.model import Model
from dialoom.cli.console import Json, ModelFile, out, pairs, print_json
from dialoom.cli.project import Project
from dialoom.cli.reading import Columns, Format, OnError, Rejects, Roles, Transcripts, corpus, read


def conform_command(
    model_file: ModelFile,
    transcripts: Transcripts,
    format: Format = "auto",  # noqa: A002
    column: Columns = None,
    role: Roles = None,
    on_error: OnError = "raise",
    rejects: Rejects = None,
    top: Annotated[int, typer.Option(help="How many departures to list.", min=0)] = 10,
    as_json: Json = False,
) -> None:
    """Replay transcripts: what share the automaton explains, and where they leave it.

    Example: dialoom conform support.dialoom this-week.jsonl
    """
    project = Project(
        transcripts=tuple(transcripts),
        format=format,
        columns=pairs(column or [], "--column"),
        roles=pairs(role or [], "--role"),
    )
    found = conform_model(Model.load(model_file), read(corpus(project, on_error, rejects)), top=top)
    if as_json:
        shares = {"turn_share": found.turn_share, "dialogue_share": found.dialogue_share}
        print_json({**asdict(found), **shares})
    else:
        out.print(found.report(), markup=False)
