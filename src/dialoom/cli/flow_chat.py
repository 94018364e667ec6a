"""`dialoom chat FLOW.yaml`: talk to an authored flow; an edit of its files takes effect at the next turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rich.markup import escape

from dialoom.agent.agent import Agent
from dialoom.agent.flow_agent import FlowChat, FlowReply
from dialoom.agent.model import Model
from dialoom.agent.responders import open_responder
from dialoom.cli.console import err, out
from dialoom.cli.turn_trace import print_trace
from dialoom.flows import Event, Ports, Runner, State
from dialoom.models.opening import open_model

SUFFIXES = (".yaml", ".yml")
NO_MODEL = ("retrieve", "")
AGENT_ONLY = (*NO_MODEL, "ranked")
"""Ways an agent replies in which it asks no model for words; a flow beside it then has no model."""


@dataclass(frozen=True)
class FlowOptions:
    """What a person chose for a conversation with a flow."""

    app: Path | None = None
    model: str = "retrieve"
    agent: Path | None = None
    trace: bool = False
    record: Path | None = None
    echo: bool = False


class Conversation(Protocol):
    """A flow, alone or beside an agent."""

    @property
    def notice(self) -> str:
        """What was reloaded, or why it was not."""
        ...

    @property
    def state(self) -> State:
        """Where it stands."""
        ...

    async def open(self) -> FlowReply:
        """What is said first."""
        ...

    async def say(self, text: str) -> FlowReply:
        """One turn."""
        ...


class Alone:
    """A flow without an agent, speaking as one."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    @property
    def notice(self) -> str:
        """What was reloaded, or why it was not."""
        return self._runner.notice

    @property
    def state(self) -> State:
        """Where it stands."""
        return self._runner.state

    async def open(self) -> FlowReply:
        """What is said first."""
        turn = await self._runner.open()
        return FlowReply(turn.text, "agent", turn.events)

    async def say(self, text: str) -> FlowReply:
        """One turn."""
        turn = await self._runner.say(text)
        return FlowReply(turn.text, "agent", turn.events)


def converse(flow: Path, options: FlowOptions, lines: Iterable[str]) -> None:
    """A conversation with a flow, line by line; it ends with the lines, or when the flow closes it."""
    chat, trace = _opened(flow, options), options.trace
    with asyncio.Runner() as loop:
        _show(loop.run(chat.open()), chat, trace=trace)
        for line in lines:
            if line.strip() == "/trace":
                trace = not trace
                err.print(f"[dim]trace {'on' if trace else 'off'}[/]")
                continue
            if options.echo:
                out.print(f"[bold cyan]you>[/] {escape(line.strip())}")
            _show(loop.run(chat.say(line)), chat, trace=trace)
            if chat.state.status == "closed":
                return


def _opened(flow: Path, options: FlowOptions) -> Conversation:
    without = AGENT_ONLY if options.agent else NO_MODEL
    ports = Ports(model=None if options.model in without else open_model(options.model))
    if options.agent is None:
        return Alone(Runner(flow, ports, app=options.app, record=options.record))
    agent = Agent(Model.load(options.agent), open_responder(options.model))
    return FlowChat(flow, agent, ports, app=options.app, record=options.record)


def _show(reply: FlowReply, chat: Conversation, *, trace: bool) -> None:
    if chat.notice:
        err.print(f"[yellow]{escape(chat.notice)}[/]")
    if trace:
        for event in reply.events:
            out.print(f"[dim]  {escape(_told(event))}[/]", no_wrap=True, overflow="ellipsis")
        if reply.answer is not None:
            print_trace(reply.answer)
    out.print(f"[bold green]{reply.source}>[/] {escape(reply.text)}")


def _told(event: Event) -> str:
    facts = ", ".join(f"{name} {value!r}" for name, value in event.data.items())
    return f"{event.offset:4} {event.kind} ({event.cause or '-'}) {facts}"
