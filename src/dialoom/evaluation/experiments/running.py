"""Running an experiment: every item to every system, several at a time, within a budget, nothing asked twice."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dialoom.dialogue import as_json
from dialoom.errors import RunError, StoreError, UsageError
from dialoom.evaluation.experiments.definition import Budget, Experiment, System
from dialoom.evaluation.experiments.items import Data, Item, read_dataset
from dialoom.evaluation.experiments.ledger import Ledger, digest
from dialoom.evaluation.experiments.systems import Answering, Opener, Reply
from dialoom.models.scrubbing import scrubbed

FREE = (None, "retrieve")  # models of systems that ask none
GIVE_UP = 10  # failures of one system in a row, after which it is not asked any more

Advance = Callable[["Spent"], None]


@dataclass(slots=True)
class Spent:
    """What an experiment has used: `calls` and `dollars` of all runs; done and total of this one."""

    calls: int = 0
    dollars: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total: int = 0
    done: int = 0
    known: int = 0
    failed: int = 0
    what: str = "asking"

    def add(self, record: dict[str, Any]) -> None:
        """Count what a record of a ledger says it used."""
        self.calls += int(record.get("calls", 0))
        self.dollars += float(record.get("dollars") or 0.0)
        self.prompt_tokens += int(record.get("prompt_tokens", 0))
        self.completion_tokens += int(record.get("completion_tokens", 0))


class BudgetSpent(Exception):
    """The budget is spent; the text says which part of it."""


@dataclass(slots=True)
class Purse:
    """Watches the budget. Replies under way count as a call each; they are waited for when it is spent."""

    budget: Budget
    spent: Spent
    started: float = field(default_factory=time.monotonic)
    underway: int = 0

    @contextmanager
    def asking(self, *, free: bool = False) -> Iterator[None]:
        """Around one reply; what is `free` asks no model. Raises `BudgetSpent` when it must not be asked for."""
        self._check(free=free)
        self.underway += 1
        try:
            yield
        finally:
            self.underway -= 1

    def _check(self, *, free: bool) -> None:
        if self.budget.minutes is not None and time.monotonic() - self.started >= 60 * self.budget.minutes:
            raise BudgetSpent(f"{self.budget.minutes} minutes")
        if free:
            return
        if self.budget.calls is not None and self.spent.calls + self.underway >= self.budget.calls:
            raise BudgetSpent(f"{self.budget.calls} calls")
        if self.budget.dollars is not None and self.spent.dollars >= self.budget.dollars:
            raise BudgetSpent(f"{self.budget.dollars} dollars")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of an experiment and where its answer is kept."""

    system: str
    seed: int
    item: Item
    key: str


@dataclass(slots=True)
class Replies:
    """All answers there are, by question, and what stands in the way of the rest."""

    asked: list[Asked]
    ledger: Ledger
    spent: Spent
    stopped: str = ""
    missing: Counter[str] = field(default_factory=Counter)
    given_up: dict[str, str] = field(default_factory=dict)

    def reply(self, asked: Asked) -> Reply | None:
        """The answer to a question, None where it failed or was not asked."""
        record = self.ledger.records.get(asked.key)
        if record is None or "error" in record:
            return None
        known = {name: record[name] for name in Reply.__dataclass_fields__ if name in record}
        listed = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
        return Reply(**{**known, **listed})

    @property
    def stale(self) -> int:
        """Answers in the folder that no question of this experiment matches: of other code, data or settings."""
        return len(self.ledger.records.keys() - {asked.key for asked in self.asked})

    def error(self, asked: Asked) -> str:
        """Why there is no answer; empty where there is one or it was not asked."""
        return str(self.ledger.records.get(asked.key, {}).get("error", ""))


@dataclass(frozen=True)
class Plan:
    """An experiment with its data read and its questions listed. Nothing has been asked yet."""

    experiment: Experiment
    data: tuple[Data, ...]
    opener: Opener
    folder: Path

    @classmethod
    def make(cls, experiment: Experiment, opener: Opener, folder: Path) -> Plan:
        """Read the data of `experiment`; replies and results go into `folder`."""
        data = tuple(read_dataset(spec, opener.folder) for spec in experiment.datasets)
        return cls(experiment, data, opener, folder)

    def questions(self) -> Iterator[tuple[System, Data, int, list[Asked]]]:
        """Questions by system, data set and seed."""
        for system in self.experiment.systems:
            for data in self.data:
                for seed in self.experiment.seeds:
                    identity = self.opener.identity(system, data, seed)
                    yield system, data, seed, [_asked(system.name, seed, item, identity) for item in data.items]

    def pending(self) -> dict[str, dict[str, int]]:
        """Per system how many replies the experiment asks for, and how many there are not yet."""
        ledger = Ledger(self.folder / "replies.jsonl")
        counts: dict[str, dict[str, int]] = {}
        for system, _, _, listed in self.questions():
            of_system = counts.setdefault(system.name, {"asked": 0, "pending": 0})
            of_system["asked"] += len(listed)
            of_system["pending"] += sum("text" not in ledger.records.get(asked.key, {}) for asked in listed)
        return counts

    async def run(self, advance: Advance | None = None) -> Replies:
        """Ask what is not answered yet.

        A failing call is recorded and asked again in the next run; a system that fails ten times in a row is left
        alone. Raises `UsageError` for a system that cannot be opened and `StoreError` when answers cannot be kept.
        """
        blocks = list(self.questions())
        ledger = Ledger(self.folder / "replies.jsonl")
        replies = Replies([asked for *_, listed in blocks for asked in listed], ledger, Spent())
        for record in ledger.records.values():
            replies.spent.add(record)
        replies.spent.total = len(replies.asked)
        tell = advance or (lambda _: None)
        worker = _Worker(replies, Purse(self.experiment.budget, replies.spent), tell, self.experiment.concurrency)
        for system, data, seed, listed in blocks:
            pending = list({a.key: a for a in listed if replies.reply(a) is None}.values())
            replies.spent.known += len(listed) - len(pending)
            replies.spent.done += len(listed) - len(pending)
            tell(replies.spent)
            if not pending:
                continue
            replies.spent.what = f"{system.name} on {data.spec.name}"
            try:
                await worker.ask(self.opener.open(system, data, seed), pending, free=system.model in FREE)
            except BudgetSpent as spent:
                replies.stopped = f"the budget of {spent} is spent"
        return replies


@dataclass(slots=True)
class _Worker:
    """Asks a system's questions, several at a time."""

    replies: Replies
    purse: Purse
    advance: Advance
    concurrency: int
    row: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    async def ask(self, system: Answering, pending: list[Asked], *, free: bool) -> None:
        waiting = iter(pending)

        async def work() -> None:
            for asked in waiting:
                if asked.system in self.replies.given_up:
                    return
                with self.purse.asking(free=free):
                    await self._one(system, asked)

        await together(work() for _ in range(min(self.concurrency, len(pending))))

    async def _one(self, system: Answering, asked: Asked) -> None:
        spent = self.replies.spent
        try:
            reply = await system.reply(asked.item)
        except (UsageError, StoreError):
            raise
        except (RunError, TimeoutError) as error:
            self._failed(asked, str(error) or type(error).__name__)
        else:
            if reply is None:
                self.replies.missing[asked.system] += 1
            else:
                record = {"system": asked.system, "item": asked.item.id, **asdict(reply), "note": scrubbed(reply.note)}
                self.replies.ledger.add(asked.key, record)
                spent.add(record)
                self.row[asked.system] = 0
        spent.done += 1
        self.advance(spent)

    def _failed(self, asked: Asked, why: str) -> None:
        told = scrubbed(why)
        record = {"system": asked.system, "item": asked.item.id, "error": told, "calls": 1}
        self.replies.ledger.add(asked.key, record)
        self.replies.spent.add(record)
        self.replies.spent.failed += 1
        self.row[asked.system] += 1
        if self.row[asked.system] >= GIVE_UP:
            self.replies.given_up[asked.system] = told


async def together(tasks: Any) -> None:
    """Await all. When one fails the others are cancelled and its error raised; a spent budget lets them end first."""
    running = [asyncio.ensure_future(task) for task in tasks]
    spent: BudgetSpent | None = None
    try:
        for task in asyncio.as_completed(running):
            try:
                await task
            except BudgetSpent as error:
                spent = error
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    if spent is not None:
        raise spent


def _asked(system: str, seed: int, item: Item, identity: str) -> Asked:
    return Asked(system, seed, item, digest([identity, item.id, as_json(item.context)]))
