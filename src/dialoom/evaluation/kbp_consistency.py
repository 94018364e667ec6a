"""Persona and knowledge consistency (P.C, K.C) as UniMS-RAG counts them, with any consistency scorer as the judge.

How the paper counts follows from its own table VII: never calling a source scores exactly the share of turns that need
none (DuLeMon 69.78, KBP 14.73 and 24.89), always calling all of them next to nothing where none is needed (DuLeMon
1.23). So every turn counts: one that needs the source when it was called and the reply agrees with the gold evidence,
one that does not need it when it was left alone.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dialoom.evaluation.kbp import DOCUMENTS, PERSONA
from dialoom.knowledge.base import ConsistencyScorer
from dialoom.knowledge.encoding.pairs import Pair, consistency_pairs
from dialoom.knowledge.labelled import LabelledTurn

_PAIRS = 2000
"""Pairs a source that thresholds are fitted, and the judge is checked, on."""


@dataclass(frozen=True)
class Judge:
    """Says whether a reply agrees with evidence: a scorer and, by source, the least score that counts as agreement."""

    scorer: ConsistencyScorer
    thresholds: Mapping[str, float]

    async def agrees(self, source: str, reply: str, evidence: Sequence[str]) -> bool:
        """Whether the reply agrees with at least one of the texts."""
        return max(await self.scorer.consistency(reply, evidence)) >= self.thresholds[source]


async def fitted_judge(scorer: ConsistencyScorer, turns: Sequence[LabelledTurn]) -> Judge:
    """Thresholds that best tell the evidence of `turns`' replies from other evidence (the pairs of sec. V-D)."""
    thresholds = {}
    for source in (PERSONA, DOCUMENTS):
        own, other = await _scores(scorer, turns, source)
        candidates = np.unique(np.concatenate([own, other]))
        shares = [(own >= least).mean() + (other < least).mean() for least in candidates]
        thresholds[source] = float(candidates[int(np.argmax(shares))])
    return Judge(scorer, thresholds)


async def accuracy(judge: Judge, turns: Sequence[LabelledTurn]) -> dict[str, float]:
    """By source, how often the judge is right on gold replies beside own and other evidence, in percent."""
    found = {}
    for source, least in judge.thresholds.items():
        own, other = await _scores(judge.scorer, turns, source)
        found[source] = 50 * float((own >= least).mean() + (other < least).mean())
    return found


async def _scores(
    scorer: ConsistencyScorer, turns: Sequence[LabelledTurn], source: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    pairs = consistency_pairs([replace(turn, plan=(source,)) for turn in turns if source in turn.plan])
    random.Random(0).shuffle(pairs)  # noqa: S311 - sampling
    own, other = [], []
    for pair in pairs[:_PAIRS]:
        mine, theirs = await _both(scorer, pair)
        own.append(mine)
        other.append(theirs)
    return np.array(own), np.array(other)


async def _both(scorer: ConsistencyScorer, pair: Pair) -> tuple[float, float]:
    own, other = await scorer.consistency(pair.anchor, [pair.positive, pair.negative])
    return own, other
