"""A conversation in a line: for tests that only care what is said and where it ends."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

from dialoom.flows import Application, Flow, Ports, State, Turn, begin, parse_flow, step
from dialoom.models.base import LanguageModel

NOW = datetime(2026, 11, 21, 9, 0)  # a Saturday


def flow_of(text: str) -> Flow:
    return parse_flow(text).flow


class Talk:
    def __init__(
        self, flow: Flow | str, app: Application | None = None, model: LanguageModel | None = None, **signals: Any
    ) -> None:
        self.flow = flow_of(flow) if isinstance(flow, str) else flow
        self.ports = Ports(app or Application(), model, signals=signals)
        self.state: State = begin(self.flow, "s")
        self.turns: list[Turn] = []

    def say(self, text: str | None) -> Turn:
        turn = asyncio.run(step(self.flow, self.state, text, self.ports, NOW))
        self.state = turn.state
        self.turns.append(turn)
        return turn

    def all(self, *texts: str | None) -> Turn:
        for text in texts:
            turn = self.say(text)
        return turn

    @property
    def where(self) -> str:
        return f"{self.state.top.flow}.{self.state.top.node}"

    @property
    def memory(self) -> dict[str, Any]:
        return {**self.state.memory, **self.state.top.memory, **self.state.top.local}


def kinds(turn: Turn) -> list[str]:
    return [event.kind for event in turn.events]
