"""Replies on KBP turns: tables V to VII and figure 5 of UniMS-RAG for one planner, one ranker and any reader.

BLEU-1 and ROUGE-L count characters, the corpus being Chinese. Persona and knowledge consistency are the share of
turns resting on a persona entry (a document) whose reply agrees with it: a consistency of 0.5 or more. The scorer is
the lexical one unless another is given, not the paper's fine-tuned model, so rows compare with each other and not
with the paper's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from dialoom.evaluation.kbp import DOCUMENTS, PERSONA
from dialoom.knowledge.base import ConsistencyScorer, Evidence, Query, Reader, tenths
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.planning.evidence import EvidencePlanner
from dialoom.knowledge.ranking.ranker import Watch
from dialoom.knowledge.refinement import RefineSettings, draft, refine

_AGREES = 0.5


@dataclass(frozen=True, slots=True)
class ReplyScores:
    """One row, in percent."""

    bleu_1: float
    rouge_l: float
    persona_consistency: float
    knowledge_consistency: float

    def plain(self) -> dict[str, float]:
        """As JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class Ranked:
    """A turn with its predicted plan and every candidate, best first, by source."""

    turn: LabelledTurn
    plan: tuple[str, ...]
    found: Mapping[str, Sequence[Evidence]]

    def top(self, plan: Sequence[str], n: int) -> list[Evidence]:
        """The best `n` of each source of `plan`."""
        return [evidence for source in plan for evidence in self.found[source][:n]]

    def grounded(self, plan: Sequence[str]) -> list[Evidence]:
        """The gold evidence of each source of `plan`; the best found one where the turn rests on none."""
        chosen: list[Evidence] = []
        for source in plan:
            gold = [e for e in self.found[source] if e.id in self.turn.gold.get(source, ())]
            chosen += gold or self.found[source][:1]
        return chosen


Choice = Callable[[Ranked], Sequence[Evidence]]
ROWS: Mapping[str, Choice] = {
    "planned": lambda r: r.top(r.plan, 1),
    "ground_planning": lambda r: r.top(r.turn.plan, 1),
    "ground_retrieval": lambda r: r.grounded(r.plan),
    "ground_both": lambda r: r.grounded(r.turn.plan),
    "always": lambda r: r.top((PERSONA, DOCUMENTS), 1),
    "never": lambda _: (),
    "evidence_2": lambda r: r.top(r.plan, 2),
    "evidence_3": lambda r: r.top(r.plan, 3),
}
"""What each row shows the reader: table VII's ablations, and figure 5's two and three pieces a source."""

REFINEMENTS: Mapping[str, RefineSettings] = {
    **{f"refined_alpha_{n}": RefineSettings(alpha=n, steps=1) for n in (1, 2, 3)},
    **{f"refined_steps_{n}": RefineSettings(alpha=1, steps=n) for n in (2, 3)},
}
"""Table VI, from three pieces a source: within-step by alpha, multi-step by steps."""


def ranked(planner: EvidencePlanner, turns: Sequence[LabelledTurn]) -> list[Ranked]:
    """Plan and rank every turn once, for all rows."""
    found = []
    for turn in turns:
        look = planner.ranker.look(turn.context, turn.pools)
        orders = {source: (-p).argsort(kind="stable") for source, p in look.probabilities.items()}
        by_source = {
            source: [
                Evidence(source, turn.pools[source][i], float(look.probabilities[source][i]),
                         relevance=tenths(float(look.probabilities[source][i])))
                for i in order
            ]
            for source, order in orders.items()
        }  # fmt: skip
        found.append(Ranked(turn, planner.decide(turn.context, turn.pools, look), by_source))
    return found


async def reply_rows(
    turns: Sequence[Ranked], reader: Reader, consistency: ConsistencyScorer, watch: Watch | None = None
) -> dict[str, ReplyScores]:
    """Every row of `ROWS` and `REFINEMENTS`. Raises `ModelError` when the reader fails."""
    rows = {}
    for done, (name, choose) in enumerate(ROWS.items(), start=1):
        replies = [await reader.read(Query(r.turn.context), choose(r)) for r in turns]
        rows[name] = await scored(turns, replies, consistency)
        if watch is not None:
            watch("replies", done, len(ROWS) + len(REFINEMENTS))
    for done, (name, settings) in enumerate(REFINEMENTS.items(), start=len(ROWS) + 1):
        replies = [await _refined(r, reader, consistency, settings) for r in turns]
        rows[name] = await scored(turns, replies, consistency)
        if watch is not None:
            watch("replies", done, len(ROWS) + len(REFINEMENTS))
    return rows


async def _refined(r: Ranked, reader: Reader, consistency: ConsistencyScorer, settings: RefineSettings) -> str:
    query = Query(r.turn.context)
    first = await draft(query, r.top(r.plan, 3), reader, consistency)
    reserve = [evidence for source in r.plan for evidence in r.found[source][3:]]
    drafts = [first, *await refine(query, first, reserve, reader, consistency, settings)]
    return max(drafts, key=lambda d: d.score).text


async def scored(turns: Sequence[Ranked], replies: Sequence[str], consistency: ConsistencyScorer) -> ReplyScores:
    """One row from its replies."""
    gold = [r.turn.reply for r in turns]
    agreed: dict[str, list[bool]] = {PERSONA: [], DOCUMENTS: []}
    for r, reply in zip(turns, replies, strict=True):
        for source, held in agreed.items():
            texts = [e.text for e in r.found.get(source, ()) if e.id in r.turn.gold.get(source, ())]
            if texts:
                held.append(max(await consistency.consistency(reply, texts)) >= _AGREES)
    shares = {source: 100 * sum(held) / len(held) if held else 0.0 for source, held in agreed.items()}
    rouge = sum(rouge_l(a, b) for a, b in zip(replies, gold, strict=True)) / max(len(gold), 1)
    return ReplyScores(100 * bleu_1(replies, gold), 100 * rouge, shares[PERSONA], shares[DOCUMENTS])


def bleu_1(replies: Sequence[str], gold: Sequence[str]) -> float:
    """Corpus BLEU with unigrams: clipped precision of characters x brevity penalty, in [0, 1]."""
    said = [Counter("".join(reply.split())) for reply in replies]
    wanted = [Counter("".join(text.split())) for text in gold]
    total, reference = sum(s.total() for s in said), sum(w.total() for w in wanted)
    if not total:
        return 0.0
    matched = sum((s & w).total() for s, w in zip(said, wanted, strict=True))
    return matched / total * min(1.0, math.exp(1 - reference / total))


def rouge_l(reply: str, gold: str) -> float:
    """F1 of the longest common subsequence of characters, in [0, 1]."""
    a, b = "".join(reply.split()), "".join(gold.split())
    if not a or not b:
        return 0.0
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b, start=1):
            before, row[j] = row[j], before + 1 if x == y else max(row[j], row[j - 1])
    return 2 * row[-1] / (len(a) + len(b))
