"""`dialoom chat`: talk to a learned agent in the terminal and see why it answers as it does."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.agent.agent import Agent, Chat
from dialoom.agent.model import Model
from dialoom.agent.responders import open_responder
from dialoom.cli.console import ModelFile, err, out
from dialoom.cli.flow_chat import SUFFIXES, FlowOptions, converse
from dialoom.cli.turn_trace import print_trace
from dialoom.errors import InvalidFile, UsageError
from dialoom.flows import load_application

ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        help="Who replies: `retrieve` (no model), `ranked` (the embedded model ranks vetted replies), `embedded`, "
        "`openai:NAME`, `http://HOST/v1#NAME`, `cassette:FILE`. A flow asks this model at its prompts; with --agent, "
        "flow and agent share it, and `retrieve` or `ranked` (ways for the agent to reply) leave the flow without.",
    ),
]
Trace = Annotated[bool, typer.Option("--trace", help="Show tags, state and examples of every turn.")]


def chat_command(
    model_file: ModelFile,
    model: ModelName = "retrieve",
    trace: Trace = False,
    script: Annotated[Path | None, typer.Option(help="Read what the user says from a file, a line a turn.")] = None,
    log: Annotated[Path | None, typer.Option(help="Append every turn to this file as a line of JSON.")] = None,
    app: Annotated[
        Path | None, typer.Option(help="The application module: functions of a flow, computations, knowledge sources.")
    ] = None,
    user: Annotated[str, typer.Option(help="With a learned agent: whose memory and profile may be read.")] = "",
    agent_file: Annotated[
        Path | None, typer.Option("--agent", help="The learned agent that answers what a flow does not understand.")
    ] = None,
) -> None:
    """Talk to an agent, or to an authored flow (a .yaml file). Empty line, Ctrl-D or /quit ends.

    /trace switches the trace on and off. A flow and its application are read again whenever their files change.

    Example: dialoom chat support.dialoom --trace

    Example: dialoom chat examples/shop/shop.yaml --app examples/shop/app.py
    """
    if model_file.suffix in SUFFIXES:
        lines, echo = spoken(script)
        converse(model_file, FlowOptions(app, model, agent_file, trace, log, echo), lines)
        return
    if agent_file is not None:
        raise UsageError(
            "--agent stands beside a flow.", hint="Name a .yaml file first: dialoom chat FLOW --agent FILE."
        )
    facts = load_application(app) if app is not None else None
    chat = Agent(Model.load(model_file), open_responder(model), app=facts).chat(user=user, log=log)
    lines, echo = spoken(script)
    talk(chat, lines, trace=trace, echo=echo)


def spoken(script: Path | None) -> tuple[Iterator[str], bool]:
    """The lines of the user, and whether they are to be shown: typed, piped in, or read from a file."""
    if script is not None:
        return scripted(script), True
    if sys.stdin.isatty():
        return typed(), False
    return (line for line in sys.stdin if line.strip()), True


def typed() -> Iterator[str]:
    """Lines a person types, until an empty one or the end of input."""
    while True:
        try:
            line = out.input("[bold cyan]you>[/] ")
        except EOFError:
            out.print()
            return
        if not line.strip() or line.strip() in ("/quit", "/exit"):
            return
        yield line


def scripted(path: Path) -> Iterator[str]:
    """The lines of a file that are not blank."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidFile(path, f"cannot be read ({error}).") from error
    yield from (line for line in lines if line.strip())


def talk(chat: Chat, lines: Iterable[str], *, trace: bool, echo: bool = False) -> None:
    """Say each line and print the reply; with `echo`, print the line as well."""
    for line in lines:
        if line.strip() == "/trace":
            trace = not trace
            err.print(f"[dim]trace {'on' if trace else 'off'}[/]")
            continue
        if echo:
            out.print(f"[bold cyan]you>[/] {escape(line.strip())}")
        turn = chat.say(line)
        for stage in ("describe", "knowledge", "reply"):
            if failed := turn.trace.decided(stage).get("failed"):
                err.print(f"[yellow]{escape(failed)} The best past reply is said instead.[/]")
        if trace:
            print_trace(turn)
        out.print(f"[bold green]agent>[/] {escape(turn.text)}")
