"""Self-refinement (UniMS-RAG algorithm 1): swap the worst evidence for the next unseen, write again, keep the best."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from dialoom.errors import ModelError, UsageError
from dialoom.knowledge.base import ConsistencyScorer, Evidence, Query, Reader


@dataclass(frozen=True, slots=True)
class RefineSettings:
    """`alpha` pieces are swapped in each of at most `steps` steps; `steps` 0 refines nothing.

    One step with a larger alpha is the paper's within-step mode, alpha 1 with several steps its multi-step mode.
    No new reply is asked for after `calls` replies, and one that is not there after `milliseconds` is not waited for.
    """

    alpha: int = 1
    steps: int = 1
    calls: int = 3
    milliseconds: float = 20_000.0

    def __post_init__(self) -> None:
        if self.alpha < 1 or self.steps < 0:
            raise UsageError("Refinement swaps at least one piece of evidence (alpha) in zero or more steps.")


@dataclass(frozen=True, slots=True)
class Draft:
    """A reply with the evidence it was written from, the consistency with each piece, and its score in [0, 1].

    The score is the mean, over the sources in the evidence, of the best relevance x consistency of each.
    """

    text: str
    evidence: tuple[Evidence, ...]
    consistency: tuple[float, ...]
    score: float


async def draft(query: Query, evidence: Sequence[Evidence], reader: Reader, consistency: ConsistencyScorer) -> Draft:
    """Write a reply and score it."""
    text = await reader.read(query, evidence)
    agreement = await consistency.consistency(text, [found.text for found in evidence])
    best: dict[str, float] = {}
    for found, agreed in zip(evidence, agreement, strict=True):
        best[found.source] = max(best.get(found.source, 0.0), (found.relevance or 0.0) * agreed)
    score = sum(best.values()) / len(best) if best else 0.0
    return Draft(text, tuple(evidence), tuple(agreement), score)


async def refine(
    query: Query,
    first: Draft,
    reserve: Sequence[Evidence],
    reader: Reader,
    consistency: ConsistencyScorer,
    settings: RefineSettings,
) -> list[Draft]:
    """The drafts written after `first`, in order; empty for a turn without evidence.

    Stops when nothing unseen is left, when a swap changes nothing, when the budget is spent or a model call fails.
    Whoever chooses among the drafts takes the best: a later draft may score lower.
    """
    ends = time.perf_counter() + settings.milliseconds / 1000
    drafts: list[Draft] = []
    current, unseen = first, list(reserve)
    while current.evidence and len(drafts) < min(settings.steps, settings.calls):
        evidence = _swapped(current, unseen, settings.alpha)
        remaining = ends - time.perf_counter()
        if evidence == current.evidence or remaining <= 0:
            break
        try:
            current = await asyncio.wait_for(draft(query, evidence, reader, consistency), remaining)
        except (ModelError, TimeoutError):
            break
        drafts.append(current)
    return drafts


def _swapped(current: Draft, unseen: list[Evidence], alpha: int) -> tuple[Evidence, ...]:
    """The evidence with its `alpha` worst pieces replaced by the next of the same source, taken out of `unseen`."""
    quality = [(e.relevance or 0.0) * c for e, c in zip(current.evidence, current.consistency, strict=True)]
    worst = sorted(range(len(quality)), key=lambda i: quality[i])[:alpha]
    evidence = list(current.evidence)
    for place in sorted(worst):
        following = next((found for found in unseen if found.source == evidence[place].source), None)
        if following is not None:
            unseen.remove(following)
            evidence[place] = following
    return tuple(evidence)
