"""Replies on KBP turns: tables V to VII and figure 5 of UniMS-RAG, for any planner, retriever and reader.

BLEU-1 and ROUGE-L count characters, the corpus being Chinese; white space is left out. Consistency is counted as in
the paper, by another judge than its fine-tuned model (see `kbp_consistency`), so those columns compare with each
other and not with the paper's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass

from dialoom.evaluation.kbp import DOCUMENTS, PERSONA, bm25_first
from dialoom.evaluation.kbp_consistency import Judge
from dialoom.knowledge.base import Evidence, Query, Reader, tenths
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.planning.evidence import EvidencePlanner
from dialoom.knowledge.ranking.ranker import Watch
from dialoom.knowledge.refinement import RefineSettings, draft, refine


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
NO_MASK, WITH_BM25, WITH_LEARNED = "no_mask", "with_bm25", "with_learned"
"""Rows that only some systems have: table VII without the evidence mask, table V with another retriever."""

REFINEMENTS: Mapping[str, RefineSettings] = {
    **{f"refined_alpha_{n}": RefineSettings(alpha=n, steps=1) for n in (1, 2, 3)},
    **{f"refined_steps_{n}": RefineSettings(alpha=1, steps=n, calls=n) for n in (1, 2, 3)},
}
"""Table VI, from three pieces a source: within-step by alpha, multi-step by steps."""

TABLES: Mapping[str, Sequence[str]] = {
    "Table V: replies, by retriever": ("planned", WITH_BM25, WITH_LEARNED),
    "Figure 5: pieces of evidence a source": ("planned", "evidence_2", "evidence_3"),
    "Table VI: refinement, from three pieces a source": ("evidence_3", *REFINEMENTS),
    "Table VII: ablations": (
        "planned", "ground_planning", "ground_retrieval", "ground_both", NO_MASK, "always", "never",
    ),
}  # fmt: skip
"""The rows of each table of the paper."""


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


def with_bm25(turns: Sequence[Ranked]) -> list[Ranked]:
    """The same plans with the paper's BM25 as retriever: its first candidate before the others."""
    found = []
    for r in turns:
        first = bm25_first(r.turn)
        by_source = {
            source: sorted(evidence, key=lambda e, best=r.turn.pools[source][first[source]]: e.passage is not best)  # type: ignore[misc]
            for source, evidence in r.found.items()
        }
        found.append(Ranked(r.turn, r.plan, by_source))
    return found


async def reply_rows(
    turns: Sequence[Ranked],
    reader: Reader,
    judge: Judge,
    *,
    others: Mapping[str, tuple[Sequence[Ranked], Reader]] | None = None,
    watch: Watch | None = None,
) -> dict[str, ReplyScores]:
    """Every row of `ROWS` and `REFINEMENTS`, and `others` with their own evidence and reader.

    Raises `ModelError` when the reader fails.
    """
    others = others or {}
    reader = _Recorded(reader)
    number = len(ROWS) + len(REFINEMENTS) + len(others)
    rows: dict[str, ReplyScores] = {}

    def told() -> None:
        if watch is not None:
            watch("replies", len(rows), number)

    for name, choose in ROWS.items():
        rows[name] = await _row(turns, choose, reader, judge)
        told()
    for name, (ranked_otherwise, other) in others.items():
        rows[name] = await _row(ranked_otherwise, ROWS["planned"], other, judge)
        told()
    for name, settings in REFINEMENTS.items():
        replies = [await _refined(r, reader, judge, settings) for r in turns]
        rows[name] = await scored(turns, replies, [frozenset(r.plan) for r in turns], judge)
        told()
    return rows


async def _row(turns: Sequence[Ranked], choose: Choice, reader: Reader, judge: Judge) -> ReplyScores:
    shown = [choose(r) for r in turns]
    replies = [await reader.read(Query(r.turn.context), evidence) for r, evidence in zip(turns, shown, strict=True)]
    return await scored(turns, replies, [frozenset(e.source for e in evidence) for evidence in shown], judge)


async def _refined(r: Ranked, reader: Reader, judge: Judge, settings: RefineSettings) -> str:
    query = Query(r.turn.context)
    first = await draft(query, r.top(r.plan, 3), reader, judge.scorer)
    reserve = [evidence for source in r.plan for evidence in r.found[source][3:]]
    drafts = [first, *await refine(query, first, reserve, reader, judge.scorer, settings)]
    return max(drafts, key=lambda d: d.score).text


class _Recorded:
    """A reader that is not asked the same twice: many rows show a turn the same evidence."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._said: dict[tuple[object, ...], str] = {}

    async def read(self, query: Query, evidence: Sequence[Evidence]) -> str:
        key = (query.context.id, len(query.context.utterances), *((e.source, e.id, e.relevance) for e in evidence))
        if key not in self._said:
            self._said[key] = await self._reader.read(query, evidence)
        return self._said[key]


async def scored(
    turns: Sequence[Ranked], replies: Sequence[str], called: Sequence[AbstractSet[str]], judge: Judge
) -> ReplyScores:
    """One row from its replies and the sources called for each."""
    gold = [r.turn.reply for r in turns]
    shares = {}
    for source in (PERSONA, DOCUMENTS):
        held = [await _held(r, reply, source, c, judge) for r, reply, c in zip(turns, replies, called, strict=True)]
        shares[source] = 100 * sum(held) / max(len(held), 1)
    rouge = sum(rouge_l(a, b) for a, b in zip(replies, gold, strict=True)) / max(len(gold), 1)
    return ReplyScores(100 * bleu_1(replies, gold), 100 * rouge, shares[PERSONA], shares[DOCUMENTS])


async def _held(r: Ranked, reply: str, source: str, called: AbstractSet[str], judge: Judge) -> bool:
    """Whether a turn counts as consistent: see `kbp_consistency`."""
    needed = r.turn.gold.get(source, frozenset())
    if not needed or source not in called:
        return not needed and source not in called
    return await judge.agrees(source, reply, [p.text for p in r.turn.pools[source] if p.id in needed])


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
