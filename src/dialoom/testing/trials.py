"""Running conversation tests: against no model, the scripted double, a cassette or a live model."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dialoom.errors import DialoomError
from dialoom.flows.application import Application
from dialoom.flows.flow import Flow
from dialoom.flows.slots import empty
from dialoom.flows.state import Event, State, Turn
from dialoom.flows.step import begin, step
from dialoom.flows.work import Ports
from dialoom.models.base import LanguageModel
from dialoom.models.scripted import Fault, ScriptedModel
from dialoom.testing.conversations import Expect, FaultAnswer, Test, TestFile
from dialoom.testing.judging import Judge

Open = Callable[[Test], LanguageModel | None]


@dataclass
class Outcome:
    """How one test went: what failed, what was judged, all turns, and how long it took."""

    test: Test
    file: Path
    failures: list[str] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)
    """Judged statements a model did not agree with; they fail the test but are told apart."""
    skipped: int = 0
    """Judged statements nobody judged."""
    turns: list[Turn] = field(default_factory=list)
    seconds: float = 0.0
    runs: int = 1
    passed_runs: int = 0

    @property
    def passed(self) -> bool:
        """Whether everything held."""
        return not self.failures and not self.judged

    @property
    def events(self) -> list[Event]:
        """All events in order."""
        return [event for turn in self.turns for event in turn.events]


def scripted(test: Test) -> LanguageModel | None:
    """The scripted model of a test, or None where it has none."""
    if test.model is None:
        return None
    return ScriptedModel([_answer(item) for item in test.model] or ["{}"])


def _answer(item: str | FaultAnswer | dict[str, Any]) -> str | Fault:
    if isinstance(item, FaultAnswer):
        return Fault(item.fault, item.seconds, item.text)
    return item if isinstance(item, str) else json.dumps(item)


async def run_test(
    flow: Flow, app: Application, file: TestFile, path: Path, test: Test, open_model: Open, judge: Judge | None = None
) -> Outcome:
    """One conversation, once."""
    outcome, begun = Outcome(test, path), time.perf_counter()
    try:
        ports = Ports(app, open_model(test), signals={**file.signals, **test.signals})
        state = begin(flow, f"test-{test.name}")
        for index, say in enumerate(test.turns, 1):
            turn = await step(flow, state, say.user, ports, test.now or file.now)
            state = turn.state
            outcome.turns.append(turn)
            said = "opening" if say.user is None else f"turn {index} ({say.user!r})"
            outcome.failures += [f"{said}: {problem}" for problem in problems(say.expect, turn, _calls(turn))]
            await _judge(outcome, say.expect, say.user, turn, said, judge)
        whole = Turn(reply=outcome.turns[-1].reply, events=tuple(outcome.events), state=state)
        outcome.failures += [f"at the end: {item}" for item in problems(test.expect, whole, _calls(whole))]
    except DialoomError as error:
        outcome.failures.append(str(error))
    outcome.seconds = time.perf_counter() - begun
    return outcome


async def run_repeatedly(
    flow: Flow, app: Application, file: TestFile, path: Path, test: Test, open_model: Open, judge: Judge | None = None
) -> Outcome:
    """One test under the file's pass policy: `3 of 3`, or a majority of so many runs."""
    needed, runs = policy(file.passes)
    outcomes = [await run_test(flow, app, file, path, test, open_model, judge) for _ in range(runs)]
    good = [outcome for outcome in outcomes if outcome.passed]
    shown = next((item for item in outcomes if not item.passed), outcomes[0]) if len(good) < needed else good[0]
    shown.runs, shown.passed_runs = runs, len(good)
    shown.seconds = sum(outcome.seconds for outcome in outcomes)
    return shown


def policy(passes: str) -> tuple[int, int]:
    """How many of how many runs must pass."""
    needed, _, runs = passes.partition(" of ")
    return (int(runs) // 2 + 1 if needed == "majority" else int(needed)), int(runs)


async def _judge(
    outcome: Outcome, expect: Expect, user: str | None, turn: Turn, said: str, judge: Judge | None
) -> None:
    for statement in _many(expect.judged):
        if judge is None:
            outcome.skipped += 1
        elif not await judge.agrees(user or "", turn.text, statement):
            outcome.judged.append(f"{said}: the judge does not agree that {statement}")


def _calls(turn: Turn) -> int:
    return len(turn.of("model_called")) + len(turn.of("model_failed"))


def problems(expect: Expect, turn: Turn, calls: int) -> list[str]:
    """What does not hold after a turn, in words."""
    return [
        *_where(expect, turn),
        *_remembered(expect, turn.state),
        *_said(expect, turn),
        *_happened(expect, turn, calls),
    ]


def _where(expect: Expect, turn: Turn) -> list[str]:
    state, found = turn.state, []
    here = f"{state.top.flow}.{state.top.node}"
    if expect.node and expect.node not in (here, state.top.node):
        found.append(f"the node is {here}, not {expect.node}")
    for label, wanted, status in (("handed off", expect.hand_off, "handed_over"), ("closed", expect.closed, "closed")):
        if wanted is not None and wanted != (state.status == status):
            found.append(f"the conversation is {state.status}, {'not ' if wanted else 'that is '}{label}")
    if expect.turns is not None and state.turn > expect.turns:
        found.append(f"{state.turn} turns, at most {expect.turns}")
    waiting = [item.flow for item in state.queue]
    if expect.queued is not None and waiting != expect.queued:
        found.append(f"waiting requests are {waiting}, not {expect.queued}")
    return found


def _remembered(expect: Expect, state: State) -> list[str]:
    memory: dict[str, Any] = dict(state.memory)
    for frame in state.stack:
        memory |= frame.memory | frame.local
    found = [
        f"slot {name} is {memory.get(name)!r}, not {value!r}"
        for name, value in expect.slots.items()
        if (not empty(memory.get(name)) if empty(value) else memory.get(name) != value)
    ]
    return found + [f"slot {name} is empty" for name in _many(expect.filled) if empty(memory.get(name))]


def _said(expect: Expect, turn: Turn) -> list[str]:
    reply, folded = turn.text, turn.text.casefold()
    found = [f"the reply lacks {text!r}: {reply!r}" for text in _many(expect.contains) if text.casefold() not in folded]
    found += [f"the reply has {text!r}: {reply!r}" for text in _many(expect.lacks) if text.casefold() in folded]
    if expect.matches and not re.search(expect.matches, reply):
        found.append(f"the reply does not match {expect.matches}: {reply!r}")
    if _many(expect.says) and not set(_many(expect.says)) & set(turn.reply):
        found.append(f"the reply is none of {_many(expect.says)}: {reply!r}")
    return found


def _happened(expect: Expect, turn: Turn, calls: int) -> list[str]:
    violated = [str(event.data["constraint"]) for event in turn.of("constraint_violated")]
    repairs = [str(event.data["repair"]) for event in turn.of("repair_started")]
    kinds = {event.kind for event in turn.events}
    found = [f"{name!r} was not violated, only {violated}" for name in _many(expect.violated) if name not in violated]
    if expect.holds and violated:
        found.append(f"constraints were violated: {violated}")
    found += [
        f"the repair {name} was not started, only {repairs}" for name in _many(expect.repair) if name not in repairs
    ]
    found += [f"there is no event {kind}" for kind in _many(expect.events) if kind not in kinds]
    if expect.model_calls is not None and calls > expect.model_calls:
        found.append(f"{calls} model calls, at most {expect.model_calls}")
    made = turn.of("function_called")
    wanted = {expect.called: None} if isinstance(expect.called, str) else expect.called
    for name, arguments in wanted.items():
        given = [event.data.get("arguments", {}) for event in made if event.data["function"] == name]
        if not any(_includes(item, arguments or {}) for item in given):
            found.append(
                f"{name} was not called with {arguments}, but with {given}" if given else f"{name} was not called"
            )
    names = [event.data["function"] for event in made]
    return found + [f"{name} was called" for name in _many(expect.not_called) if name in names]


def _includes(given: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(name in given and given[name] == value for name, value in wanted.items())


def _many(texts: str | Sequence[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)
