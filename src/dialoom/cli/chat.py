"""`dialoom chat`: talk to a learned agent in the terminal and see why it answers as it does."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.agent.agent import Agent, Chat, Turn
from dialoom.agent.model import Model
from dialoom.agent.responders import open_responder
from dialoom.cli.console import ModelFile, err, out
from dialoom.cli.flow_chat import SUFFIXES, chat_flow, chat_flow_beside
from dialoom.errors import InvalidFile, UsageError
from dialoom.flows import load_application

ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        help="Who replies: `retrieve` (no model), `ranked` (the embedded model ranks vetted replies), `embedded`, "
        "`openai:NAME`, `http://HOST/v1#NAME`, `cassette:FILE`.",
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

    With an agent, /trace switches the trace on and off. A flow is read again whenever its file changes.

    Example: dialoom chat support.dialoom --trace

    Example: dialoom chat examples/shop/shop.yaml --app examples/shop/app.py
    """
    if agent_file is not None:
        if model_file.suffix not in SUFFIXES or trace or log:
            raise UsageError("--agent stands beside a flow (a .yaml file), without --trace and --log.")
        lines, echo = spoken(script)
        beside = Agent(Model.load(agent_file), open_responder(model))
        chat_flow_beside(model_file, app, beside, lines, echo=echo)
        return
    if model_file.suffix in SUFFIXES:
        lines, echo = spoken(script)
        chat_flow(model_file, app, model, lines, trace=trace, record=log, echo=echo)
        return
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


def print_trace(turn: Turn) -> None:
    """The turn's path in a few dim lines: tags, state, what comes next, the examples, the time of each stage."""
    said = turn.trace.decided("route")
    path = " → ".join(dict.fromkeys(step["state"] for step in said["path"][-3:]))
    flag = f"  [yellow]{turn.route.fallback}: {escape(turn.route.reason)}[/]" if turn.route.fallback else ""
    out.print(f"[dim]  tags      {escape(', '.join(turn.tags) or '-')}[/]")
    out.print(f"[dim]  state     {escape(path or turn.state.name)}  ({turn.route.confidence:.2f})[/]{flag}")
    if turn.route.next_tags:
        likely = ", ".join(f"{tag} {share:.0%}" for tag, share in turn.route.next_tags[:3])
        out.print(f"[dim]  next      {escape(likely)}[/]")
    if spans := turn.trace.decided("describe").get("spans"):
        out.print(f"[dim]  described {escape(spans[0]['node'])} = {escape(spans[0]['value'])}[/]")
    for number, kept in enumerate(turn.trace.decided("evidence").get("kept", ())):
        label = "evidence" if number == 0 else "        "
        told = f"{kept['source']}#{kept['id']}  {kept['relevance'] or 0.0:.1f}  {kept['text']}"
        out.print(f"[dim]  {label}  {escape(told)}[/]", no_wrap=True, overflow="ellipsis")
    for number, example in enumerate(turn.examples):
        label = "examples" if number == 0 else "        "
        told = f"{example.dialogue.id}#{example.reply}  {example.score:.2f}  {example.reply_text}"
        out.print(f"[dim]  {label}  {escape(told)}[/]", no_wrap=True, overflow="ellipsis")
    times = ", ".join(f"{stage.name} {stage.milliseconds:.1f}" for stage in turn.trace.stages)
    calls = f"; {len(turn.trace.calls)} model calls" if turn.trace.calls else ""
    out.print(f"[dim]  {turn.trace.milliseconds:.1f} ms  ({times}){calls}[/]")
