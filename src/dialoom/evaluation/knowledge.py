"""Measure planning and retrieval on labelled turns: one planner and ranker trained on train alone, and what it owes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from dialoom.errors import MissingExtra
from dialoom.evaluation.kbp import (
    Scores,
    bm25_scores,
    learned_scores,
    persona_disjoint,
    read_turns,
    train_planner,
)
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.ranking.ranker import Watch

LEARNED, FORGETFUL, DISJOINT, BM25 = "learned", "without_memory", "persona_disjoint", "bm25"


@dataclass
class KnowledgeReport:
    """Rows of the paper's tables III and IV. `rows` are by split, then by method; `notes` say what is missing."""

    rows: dict[str, dict[str, Scores]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
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
            "turns": self.counts,
            "notes": self.notes,
        }


def evaluate_kbp(
    train: Sequence[str],
    dev: Sequence[str],
    test: Sequence[str] = (),
    *,
    ablations: bool = True,
    watch: Watch | None = None,
) -> KnowledgeReport:
    """Train on `train` alone and report on the rest. Raises `InvalidFile` or `InvalidRecord` for other files.

    With `ablations`, also a planner without training memory, and one on a split whose evidence was never seen.
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
    if ablations:
        planner = train_planner(learning, remember=False, watch=watch)
        for name, turns in held.items():
            report.rows[name][FORGETFUL] = learned_scores(planner, turns)
        kept, tested = persona_disjoint(learning, held["dev"])
        if kept and tested:
            report.rows["dev"][DISJOINT] = learned_scores(train_planner(kept, watch=watch), tested)
            report.counts["disjoint train"], report.counts["disjoint dev"] = len(kept), len(tested)
    return report


def _add_bm25(report: KnowledgeReport, held: dict[str, list[LabelledTurn]]) -> None:
    try:
        for name, turns in held.items():
            report.rows[name][BM25] = bm25_scores(turns)
    except MissingExtra as error:
        report.notes.append(f"BM25 is left out. {error}")
