"""One turn's knowledge work: plan, ask the sources side by side, weigh what came back.

Every source has a deadline. One that fails or is slow is left out with an event, and so is a source that depends on
it; the turn goes on. Nothing that a passage says can change the plan: the plan is made before any passage is shown to
a model, and passages reach models only as quoted data.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from dialoom.errors import UsageError
from dialoom.knowledge.base import Evidence, Plan, Planner, Query, RelevanceScorer, Source
from dialoom.knowledge.order import call_order, closed
from dialoom.knowledge.sources.asked import AskedOnce, Underway

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SourceEvent:
    """A source that gave nothing: it `failed`, was `slow`, or `skipped` because one that it needs did.

    It was planned, or asked by a planner that looks at evidence and could not see what it holds.
    """

    source: str
    kind: Literal["failed", "slow", "skipped"]
    reason: str


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a turn found. `evidence` is in plan order, best first inside a source; `reserve` is what was found but not
    kept, in the same order; `milliseconds` by stage and source.
    """

    plan: Plan
    evidence: tuple[Evidence, ...] = ()
    reserve: tuple[Evidence, ...] = ()
    events: tuple[SourceEvent, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GatherSettings:
    """`top` pieces of evidence are kept a source, of `candidates` asked for; `deadline` seconds each, or by source in
    `deadlines`. Evidence under `least` relevance is not kept.
    """

    top: int = 3
    candidates: int = 10
    deadline: float = 2.0
    deadlines: Mapping[str, float] = field(default_factory=dict)
    least: float = 0.0

    def __post_init__(self) -> None:
        if self.top < 1 or self.candidates < self.top:
            raise UsageError("A turn keeps at least 1 piece of evidence and asks for at least as many as it keeps.")
        if min((self.deadline, *self.deadlines.values())) <= 0:
            raise UsageError("A source without any time would never answer.", hint="Give deadlines above 0 seconds.")


class Knowledge:
    """Sources, a planner and a relevance scorer, ready to answer what a turn needs.

    Raises `UsageError` for sources that share a name or depend on each other in a circle.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        planner: Planner,
        relevance: RelevanceScorer,
        settings: GatherSettings | None = None,
    ) -> None:
        self.order = call_order(sources)
        self.sources = {source.name: source for source in sources}
        self.planner = planner
        self.relevance = relevance
        self.settings = settings or GatherSettings()
        closed(self.settings.deadlines, sources)
        self._underway = {source.name: Underway(self._deadline(source.name)) for source in sources}

    def _deadline(self, source: str) -> float:
        return self.settings.deadlines.get(source, self.settings.deadline)

    async def gather(self, query: Query, sources: Sequence[str] | None = None) -> Gathered:
        """Evidence for the turn; `sources` names them (a flow node may), None leaves it to the planner."""
        started = time.perf_counter()
        once = {name: AskedOnce(source, self._underway[name]) for name, source in self.sources.items()}
        if sources is None:
            plan = await self.planner.plan(query, list(once.values()))
        else:
            plan = Plan(closed(sources, list(once.values())), reason="named by the flow")
        spent = {"plan": _since(started)}
        events = [
            SourceEvent(name, trouble[0], f"while planning: {trouble[1]}")
            for name, source in once.items()
            if name not in plan.sources and (trouble := source.trouble()) is not None
        ]
        found = await self._ask_all(query, plan, once, events, spent)
        started = time.perf_counter()
        weighed = await self._weigh(query, [evidence for name in plan.sources for evidence in found.get(name, ())])
        spent["relevance"] = _since(started)
        kept: list[Evidence] = []
        reserve: list[Evidence] = []
        for name in plan.sources:
            mine = sorted((e for e in weighed if e.source == name), key=lambda e: (-(e.relevance or 0.0), -e.score))
            good = [e for e in mine if (e.relevance or 0.0) >= self.settings.least][: self.settings.top]
            kept += good
            reserve += [e for e in mine if e not in good and (e.relevance or 0.0) >= self.settings.least]
        return Gathered(plan, tuple(kept), tuple(reserve), tuple(events), spent)

    async def _ask_all(
        self,
        query: Query,
        plan: Plan,
        sources: Mapping[str, Source],
        events: list[SourceEvent],
        spent: dict[str, float],
    ) -> dict[str, Sequence[Evidence]]:
        tasks: dict[str, asyncio.Task[Sequence[Evidence] | None]] = {}
        for name in plan.sources:
            needed = {other: tasks[other] for other in sources[name].depends_on if other in tasks}
            tasks[name] = asyncio.create_task(self._ask(sources[name], query, needed, events, spent))
        results = await asyncio.gather(*tasks.values())
        return {name: result for name, result in zip(tasks, results, strict=True) if result is not None}

    async def _ask(
        self,
        source: Source,
        query: Query,
        needed: Mapping[str, asyncio.Task[Sequence[Evidence] | None]],
        events: list[SourceEvent],
        spent: dict[str, float],
    ) -> Sequence[Evidence] | None:
        earlier: list[Evidence] = []
        for name, task in needed.items():
            result = await task
            if result is None:
                events.append(SourceEvent(source.name, "skipped", f"it needs {name}, which gave nothing"))
                return None
            earlier += result[: self.settings.top]
        started = time.perf_counter()
        asked = replace(query, evidence=(*query.evidence, *earlier))
        deadline = self._deadline(source.name)
        try:
            return await asyncio.wait_for(in_thread(lambda: source.search(asked, self.settings.candidates)), deadline)
        except TimeoutError:
            events.append(SourceEvent(source.name, "slow", f"no answer within {deadline:g} s"))
        except Exception as error:  # a source is foreign code: whatever it raises must not end the turn
            events.append(SourceEvent(source.name, "failed", f"{type(error).__name__}: {error}"))
        finally:
            spent[source.name] = _since(started)
        return None

    async def _weigh(self, query: Query, evidence: Sequence[Evidence]) -> list[Evidence]:
        if not evidence:
            return []
        scores = await self.relevance.relevance(query, evidence)
        return [replace(found, relevance=score) for found, score in zip(evidence, scores, strict=True)]


async def in_thread(call: Callable[[], T]) -> T:
    """Run a blocking call in a daemon thread, so that one that never returns can be left behind."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        try:
            result, error = call(), None
        except Exception as raised:
            result, error = None, raised
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name="dialoom-source", daemon=True).start()
    return await future


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
