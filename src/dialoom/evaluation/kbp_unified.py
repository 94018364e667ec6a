"""A trained unified model on KBP turns: its own rows of tables III and IV, and its own evidence for replies."""

from __future__ import annotations

from collections.abc import Sequence

from dialoom.evaluation.kbp import DOCUMENTS, PERSONA, Scores, planning_f1, recall_at_1
from dialoom.evaluation.kbp_replies import Ranked
from dialoom.knowledge.base import Evidence, Query, tenths
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.ranking.ranker import Watch
from dialoom.knowledge.unified.model import UnifiedModel
from dialoom.knowledge.unified.using import UnifiedPlanner, UnifiedRelevance

_BOTH = (PERSONA, DOCUMENTS)


def unified_ranked(model: UnifiedModel, turns: Sequence[LabelledTurn], watch: Watch | None = None) -> list[Ranked]:
    """Every turn as the model plans it and ranks the candidates of both sources, given its plan or else all sources."""
    planner, found = UnifiedPlanner(model), []
    for done, turn in enumerate(turns, start=1):
        plan = planner.acted(Query(turn.context), _BOTH)
        plan = _BOTH if DOCUMENTS in plan else plan  # a document hangs from a persona entry
        found.append(Ranked(turn, plan, {source: _weighed(model, turn, plan or _BOTH, source) for source in _BOTH}))
        if watch is not None:
            watch("the unified model plans and ranks", done, len(turns))
    return found


def unified_scores(model: UnifiedModel, turns: Sequence[Ranked]) -> Scores:
    """Both tables; evidence is ranked anew where the gold plan is another than the model's own."""
    chosen = []
    for r in turns:
        first = {}
        for source in r.turn.plan:
            same = r.plan == r.turn.plan
            best = (r.found[source] if same else _weighed(model, r.turn, r.turn.plan, source))[0]
            first[source] = next(i for i, passage in enumerate(r.turn.pools[source]) if passage is best.passage)
        chosen.append(first)
    plans = planning_f1([r.turn for r in turns], [r.plan for r in turns])
    return Scores(recall_at_1([r.turn for r in turns], chosen), plans.f1, plans.gold, plans.predicted)


def _weighed(model: UnifiedModel, turn: LabelledTurn, plan: Sequence[str], source: str) -> list[Evidence]:
    given = plan if source in plan else _BOTH
    pool = turn.pools[source]
    scores = UnifiedRelevance(model).expected(Query(turn.context), given, [passage.text for passage in pool])
    found = [Evidence(source, p, s, relevance=tenths(s)) for p, s in zip(pool, scores, strict=True)]
    return sorted(found, key=lambda evidence: -evidence.score)
