"""`dialoom chat FLOW.yaml`: talk to an authored flow; an edit of the file takes effect at the next turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

from rich.markup import escape

from dialoom.agent.agent import Agent
from dialoom.agent.flow_agent import FlowChat
from dialoom.cli.console import err, out
from dialoom.flows import Application, Event, Ports, Runner, Turn, load_application
from dialoom.flows.runner import load_sound
from dialoom.models.opening import open_model

NO_MODEL = ("retrieve", "")
SUFFIXES = (".yaml", ".yml")


def chat_flow(
    flow: Path, app: Path | None, model: str, lines: Iterable[str], *, trace: bool, record: Path | None, echo: bool
) -> None:
    """A conversation with a flow, line by line; it ends with the lines, or when the flow closes it."""
    ports = Ports(load_application(app) if app else Application(), None if model in NO_MODEL else open_model(model))
    runner = Runner(flow, ports, record=record)
    with asyncio.Runner() as loop:
        _show(loop.run(runner.open()), runner, trace=trace)
        for line in lines:
            if echo:
                out.print(f"[bold cyan]you>[/] {escape(line.strip())}")
            _show(loop.run(runner.say(line)), runner, trace=trace)
            if runner.state.status == "closed":
                return


def chat_flow_beside(flow: Path, app: Path | None, agent: Agent, lines: Iterable[str], *, echo: bool) -> None:
    """A conversation with a flow; what it does not understand is answered by the learned agent."""
    ports = Ports(load_application(app) if app else Application())
    chat = FlowChat(load_sound(flow, ports).flow, agent, ports)
    with asyncio.Runner() as loop:
        out.print(f"[bold green]agent>[/] {escape(loop.run(chat.open()).text)}")
        for line in lines:
            if echo:
                out.print(f"[bold cyan]you>[/] {escape(line.strip())}")
            reply = loop.run(chat.say(line))
            out.print(f"[bold green]{reply.source}>[/] {escape(reply.text)}")
            if chat.state.status == "closed":
                return


def _show(turn: Turn, runner: Runner, *, trace: bool) -> None:
    if runner.notice:
        err.print(f"[yellow]{escape(runner.notice)}[/]")
    if trace:
        for event in turn.events:
            out.print(f"[dim]  {escape(_told(event))}[/]", no_wrap=True, overflow="ellipsis")
    out.print(f"[bold green]agent>[/] {escape(turn.text)}")


def _told(event: Event) -> str:
    facts = ", ".join(f"{name} {value!r}" for name, value in event.data.items())
    return f"{event.offset:4} {event.kind} ({event.cause or '-'}) {facts}"
