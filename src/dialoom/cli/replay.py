"""`dialoom replay`: a recorded session again, on another version of its flow."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.agent.model import Model
from dialoom.cli.console import out
from dialoom.flows.application import Application, load_application
from dialoom.flows.intents import Likeness
from dialoom.flows.load import load_flow
from dialoom.flows.recording import read_recording
from dialoom.testing.replay import hidden_words, replay


def replay_command(
    session: Annotated[Path, typer.Argument(help="A recorded session (JSON lines).", show_default=False)],
    flow: Annotated[Path, typer.Option(help="The flow to replay it on.", show_default=False)],
    app: Annotated[
        Path | None, typer.Option(help="The application module, for its recognisers and constraints.")
    ] = None,
    agent: Annotated[
        Path | None, typer.Option(help="The learned agent that stood beside the flow: its encoder hears intents.")
    ] = None,
) -> None:
    """Replay a recorded conversation and show the first turn that differs. Exit code 1 if one does.

    No function is called and no model is asked: the recorded results and answers are given instead.

    Example: dialoom replay session.jsonl --flow new.yaml
    """
    recording = read_recording(session)
    likeness = Likeness(Model.load(agent).encoder) if agent else None
    application = load_application(app) if app else Application()
    turns = asyncio.run(replay(recording, load_flow(flow).flow, application, likeness))
    if hidden_words(recording):
        out.print("Secret words were left out of this recording; the turns that need them differ.")
    first = next((turn for turn in turns if not turn.same), None)
    if first is None:
        out.print(f"{len(turns)} turns, all the same")
        return
    user = "the opening" if first.user is None else f"the user says {first.user!r}"
    out.print(escape(f"Turn {first.number} differs: {user}"))
    for difference in first.differences():
        out.print(escape(f"  {difference}"))
    out.print(f"{sum(turn.same for turn in turns)} of {len(turns)} turns are the same")
    raise typer.Exit(1)
