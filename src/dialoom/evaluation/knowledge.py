"""Measure planning and retrieval on labelled turns: one planner and ranker trained on train alone, and what it owes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dialoom.errors import MissingExtra
from dialoom.evaluation.kbp import (
    Scores,
    bm25_scores,
    disjoint_scores,
    learned_scores,
    persona_disjoint,
    read_turns,
    train_planner,
)
from dialoom.evaluation.kbp_consistency import Judge, accuracy, fitted_judge
from dialoom.evaluation.kbp_replies import (
    NO_MASK,
    WITH_BM25,
    WITH_LEARNED,
    Ranked,
    ReplyScores,
    ranked,
    reply_rows,
    with_bm25,
)
from dialoom.evaluation.kbp_unified import unified_ranked, unified_scores
from dialoom.knowledge.base import ConsistencyScorer, Reader
from dialoom.knowledge.consistency import LexicalConsistency
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.planning.evidence import EvidencePlanner
from dialoom.knowledge.ranking.ranker import Watch
from dialoom.knowledge.reading import ExtractiveReader, RememberingReader
from dialoom.knowledge.unified.model import UnifiedModel
from dialoom.knowledge.unified.using import UnifiedReader

LEARNED, FORGETFUL, DISJOINT, BM25, UNIMS = "learned", "without_memory", "persona_disjoint", "bm25", "unims"


@dataclass(frozen=True)
class ReplySettings:
    """Whose replies are scored: `unified`'s own (then planner and retriever too), else `reader`'s.

    Without either, evidence is quoted, and turns without any are answered as a like turn was in training. `turns` of
    each split are scored, evenly spaced; 0 scores all.
    """

    reader: Reader | None = None
    unified: UnifiedModel | None = None
    consistency: ConsistencyScorer = field(default_factory=LexicalConsistency)
    turns: int = 300

    def sample(self, turns: Sequence[LabelledTurn]) -> list[LabelledTurn]:
        """The turns that are replied to."""
        number = min(self.turns or len(turns), len(turns))
        return [turns[i * len(turns) // number] for i in range(number)]


@dataclass
class KnowledgeReport:
    """Rows of the paper's tables III and IV by split, then by method, and `replies` with those of tables V to VII.

    `notes` say what is missing and how replies were judged.
    """

    rows: dict[str, dict[str, Scores]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    replies: dict[str, dict[str, ReplyScores]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def headline(self) -> str:
        """The split whose learned row the report leads with: test where there is one."""
        return "test" if "test" in self.rows else "dev"

    def plain(self) -> dict[str, Any]:
        """As JSON values: the headline's `planning` and `recall_at_1` first, then every row; figures in percent."""
        rows = {split: {name: scores.plain() for name, scores in found.items()} for split, found in self.rows.items()}
        return {
            "split": self.headline,
            **rows[self.headline][LEARNED],
            "rows": rows,
            "replies": {s: {name: row.plain() for name, row in found.items()} for s, found in self.replies.items()},
            "turns": self.counts,
            "notes": self.notes,
        }


def evaluate_kbp(
    train: Sequence[str],
    dev: Sequence[str],
    test: Sequence[str] = (),
    *,
    ablations: bool = True,
    replies: ReplySettings | None = None,
    watch: Watch | None = None,
) -> KnowledgeReport:
    """Train on `train` alone and report on the rest. Raises `InvalidFile` or `InvalidRecord` for other files.

    With `replies`, also tables V to VII; raises `ModelError` when a reader fails. With `ablations`, also a
    planner without training memory, and one on a split whose evidence was never seen.
    """
    learning = read_turns(train, split="train")
    held = {"dev": read_turns(dev, split="dev")}
    if test:
        held["test"] = read_turns(test, split="test")
    report = KnowledgeReport(counts={"train": len(learning), **{name: len(turns) for name, turns in held.items()}})
    report.rows = {name: {} for name in held}
    _add_bm25(report, held)
    planner = train_planner(learning, watch=watch)
    for name, turns in held.items():
        report.rows[name][LEARNED] = learned_scores(planner, turns)
    if replies is not None:
        asyncio.run(_add_replies(report, planner, learning, held, replies, watch))
    if ablations:
        planner = train_planner(learning, remember=False, watch=watch)
        for name, turns in held.items():
            report.rows[name][FORGETFUL] = learned_scores(planner, turns)
        split = persona_disjoint(learning, held["dev"])
        if split.train and split.retrieved:
            report.rows["dev"][DISJOINT] = disjoint_scores(train_planner(split.train, watch=watch), split)
            for name, turns in (("train", split.train), ("planned", split.planned), ("retrieved", split.retrieved)):
                report.counts[f"disjoint {name}"] = len(turns)
    return report


async def _add_replies(
    report: KnowledgeReport,
    planner: EvidencePlanner,
    learning: Sequence[LabelledTurn],
    held: Mapping[str, Sequence[LabelledTurn]],
    settings: ReplySettings,
    watch: Watch | None,
) -> None:
    judge = await fitted_judge(settings.consistency, learning)
    quoting = RememberingReader(learning, ExtractiveReader(pieces=3, small_talk=""))
    for name, all_turns in held.items():
        turns = settings.sample(all_turns)
        report.counts[f"{name} replies"] = len(turns)
        learned = ranked(planner, turns)
        if settings.unified is None:
            reader = settings.reader or quoting
            others = _with_bm25(report, learned, reader)
            report.replies[name] = await reply_rows(learned, reader, judge, others=others, watch=watch)
        else:
            own = unified_ranked(settings.unified, turns, watch)
            report.rows[name][UNIMS] = unified_scores(settings.unified, own)
            report.replies[name] = await _unified_rows(report, settings.unified, own, learned, judge, watch)
        report.notes += await _told(name, judge, turns)


async def _unified_rows(
    report: KnowledgeReport,
    model: UnifiedModel,
    own: Sequence[Ranked],
    learned: Sequence[Ranked],
    judge: Judge,
    watch: Watch | None,
) -> dict[str, ReplyScores]:
    reader = UnifiedReader(model)
    retrieved = [replace(mine, found=other.found) for mine, other in zip(own, learned, strict=True)]
    others: dict[str, tuple[Sequence[Ranked], Reader]] = {
        **_with_bm25(report, own, reader),
        WITH_LEARNED: (retrieved, reader),
        NO_MASK: (own, UnifiedReader(replace(model, masked=False))),
    }
    return await reply_rows(own, reader, judge, others=others, watch=watch)


def _with_bm25(
    report: KnowledgeReport, turns: Sequence[Ranked], reader: Reader
) -> dict[str, tuple[Sequence[Ranked], Reader]]:
    return {WITH_BM25: (with_bm25(turns), reader)} if any(BM25 in rows for rows in report.rows.values()) else {}


async def _told(name: str, judge: Judge, turns: Sequence[LabelledTurn]) -> list[str]:
    if not all(any(source in turn.plan for turn in turns) for source in judge.thresholds):
        return []
    right = await accuracy(judge, turns)
    shares = ", ".join(f"{share:.1f} % for {source}" for source, share in right.items())
    return [f"The judge of consistency tells own from other evidence of {name}'s gold replies in {shares}."]


def _add_bm25(report: KnowledgeReport, held: dict[str, list[LabelledTurn]]) -> None:
    try:
        for name, turns in held.items():
            report.rows[name][BM25] = bm25_scores(turns)
    except MissingExtra as error:
        report.notes.append(f"BM25 is left out. {error}")
