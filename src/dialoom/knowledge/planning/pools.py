"""Candidates of every source for one turn, for planners that look before they decide."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from dialoom.knowledge.base import Evidence, Passage, Query, Source
from dialoom.knowledge.gather import in_thread
from dialoom.knowledge.order import call_order


async def candidate_pools(
    query: Query, sources: Sequence[Source], *, candidates: int = 20, deadline: float = 1.0
) -> dict[str, list[Passage]]:
    """At most `candidates` passages of every source, those it depends on asked first.

    A source that fails or takes longer than `deadline` seconds has an empty pool: a planner then sees nothing in it.
    """
    by_name = {source.name: source for source in sources}
    tasks: dict[str, asyncio.Task[Sequence[Evidence]]] = {}

    async def ask(source: Source) -> Sequence[Evidence]:
        earlier = [found for name in source.depends_on for found in await tasks[name]]
        asked = replace(query, evidence=(*query.evidence, *earlier))
        try:
            return await asyncio.wait_for(in_thread(lambda: source.search(asked, candidates)), deadline)
        except Exception:  # foreign code: no candidates is what a planner needs to know
            return []

    for name in call_order(sources):
        tasks[name] = asyncio.create_task(ask(by_name[name]))
    await asyncio.gather(*tasks.values())
    return {name: [found.passage for found in task.result()] for name, task in tasks.items()}
