"""A planner that looks at the evidence before it decides: text models, the ranker's view and past turns, stacked.

Whether a source is worth calling depends on whether it holds anything for this turn, so the strongest columns are the
ranker's best probabilities. Every model that feeds the stack is cross-fitted by dialogue: the stack only ever learns
from predictions for turns that the feeding model had not seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue, Role
from dialoom.files import Parts, pack_json, unpack_json
from dialoom.knowledge.base import Plan, Query, Source
from dialoom.knowledge.labelled import LabelledTurn, Pools
from dialoom.knowledge.planning.offsets import tune
from dialoom.knowledge.planning.pools import candidate_pools
from dialoom.knowledge.planning.text import Classes, TextModel, choose, folds, plan_classes
from dialoom.knowledge.ranking.features import OWN
from dialoom.knowledge.ranking.ranker import (
    LearnedRanker,
    Look,
    RankerSettings,
    Watch,
    below,
    fit_models,
    new_featuriser,
)
from dialoom.knowledge.ranking.trees import Growth, Trees, softmax
from dialoom.knowledge.terms import words

Floats = NDArray[np.float64]
VIEWS = (1, 3)
"""Turns that each text model reads."""


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """How to learn ranker and planner; `models` are averaged.

    The offsets between plans are tuned on unseen folds: `balance` weighs mean F1 (1) against accuracy (0); with
    `aims`, an F1 in [0, 1] for each plan that matters, the smallest margin over them is made as large as possible.
    """

    ranker: RankerSettings = field(default_factory=RankerSettings)
    balance: float = 0.5
    aims: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    models: int = 3
    growth: Growth = field(default_factory=lambda: Growth(rate=0.03, leaves=31, least=20, share=0.2, l2=5.0))
    seed: int = 0


class EvidencePlanner:
    """Plans from the conversation and from what the sources hold for it."""

    def __init__(
        self,
        ranker: LearnedRanker,
        texts: Sequence[TextModel],
        stack: Sequence[Trees],
        classes: Classes,
        offsets: Floats,
    ) -> None:
        self.ranker = ranker
        self.texts = texts
        self.stack = stack
        self.classes = classes
        self.offsets = offsets

    @classmethod
    def fit(
        cls, turns: Sequence[LabelledTurn], settings: EvidenceSettings | None = None, watch: Watch | None = None
    ) -> EvidencePlanner:
        """Learn ranker and planner from labelled turns on one CPU core.

        Raises `NothingToLearn` when the turns hold fewer than two plans or no evidence.
        """
        settings = settings or EvidenceSettings()
        classes, labels = plan_classes(turns)
        featuriser = new_featuriser(turns, remember=settings.ranker.remember)
        looks = _look_at_all(turns, LearnedRanker(featuriser, {}), watch)
        contexts = [turn.context for turn in turns]
        logits = [np.zeros((len(turns), len(classes))) for _ in VIEWS]
        quick = replace(settings.ranker, models=1)
        splits = folds([context.id for context in contexts], seed=settings.seed)
        for train, test in splits:
            models = fit_models([turns[i] for i in train], [looks[i].columns for i in train], quick, watch)
            part = LearnedRanker(featuriser, models)
            for i in test:
                looks[i] = replace(looks[i], probabilities=part.judge(looks[i].columns))
            for view, found in zip(VIEWS, logits, strict=True):
                model = TextModel.fit(
                    [contexts[i] for i in train], labels[train], len(classes), featuriser.lexicon, view
                )
                found[test] = model.logits([contexts[i] for i in test])
        rows = np.vstack(
            [
                stack_row(turn.context, turn.pools, look, [found[i] for found in logits])
                for i, (turn, look) in enumerate(zip(turns, looks, strict=True))
            ]
        )
        offsets = _tuned(rows, labels, splits, settings, classes)
        stack = [_trees(rows, labels, settings, settings.seed + i) for i in range(settings.models)]
        ranker = LearnedRanker(featuriser, fit_models(turns, [look.columns for look in looks], settings.ranker, watch))
        texts = [TextModel.fit(contexts, labels, len(classes), featuriser.lexicon, view) for view in VIEWS]
        return cls(ranker, texts, stack, classes, offsets)

    def probabilities(self, context: Dialogue, pools: Pools, look: Look | None = None) -> Floats:
        """Of each of `classes`, before the offsets; `look` saves looking again."""
        look = look or self.ranker.look(context, pools)
        logits = [model.logits([context])[0] for model in self.texts]
        row = stack_row(context, pools, look, logits)[None]
        found: Floats = _averaged(self.stack, row, len(self.classes))[0]
        return found

    async def plan(self, query: Query, sources: Sequence[Source]) -> Plan:
        """See `Planner`; asks every source for candidates first, so calling it costs a search of each."""
        pools = await candidate_pools(query, sources)
        return choose(self.classes, self.probabilities(query.context, pools), self.offsets, sources)

    def decide(self, context: Dialogue, pools: Pools, look: Look | None = None) -> tuple[str, ...]:
        """The chosen plan for given candidates, whatever sources they came from."""
        scores = np.log(np.maximum(self.probabilities(context, pools, look), 1e-9)) + self.offsets
        return self.classes[int(scores.argmax())]

    def parts(self) -> Parts:
        """What a saved planner consists of."""
        found: dict[str, bytes] = {f"ranker/{name}": value for name, value in self.ranker.parts().items()}
        for i, text in enumerate(self.texts):
            found |= {f"text/{i}/{name}": value for name, value in text.parts().items()}
        for i, trees in enumerate(self.stack):
            found |= {f"stack/{i}/{name}": value for name, value in trees.parts().items()}
        settings = {
            "classes": self.classes,
            "offsets": self.offsets.tolist(),
            "texts": len(self.texts),
            "stack": len(self.stack),
        }
        return found | {"planner.json": pack_json(settings)}

    @classmethod
    def from_parts(cls, parts: Parts) -> EvidencePlanner:
        """The inverse of `parts`."""
        settings = unpack_json(parts, "planner.json")
        ranker = LearnedRanker.from_parts(below(parts, "ranker"))
        lexicon = ranker.featuriser.lexicon
        return cls(
            ranker,
            [TextModel.from_parts(below(parts, f"text/{i}"), lexicon) for i in range(settings["texts"])],
            [Trees.from_parts(below(parts, f"stack/{i}")) for i in range(settings["stack"])],
            tuple(tuple(plan) for plan in settings["classes"]),
            np.array(settings["offsets"]),
        )


def stack_row(
    context: Dialogue,
    pools: Pools,
    look: Look,
    logits: Sequence[Floats],
) -> NDArray[np.float32]:
    """What the stack sees of one turn: text models, each source's best candidates, past turns' plans, plain counts."""
    values: list[float] = []
    for raw in logits:
        values += np.log(np.maximum(softmax(raw[None])[0], 1e-9)).tolist()
    for source in look.sources:
        values += _source_view(source, pools, look)
    values += look.neighbours.tolist()
    spoken = [u for u in context.utterances if u.role is not Role.TOOL]
    last = spoken[-1].text if spoken else ""
    before = spoken[-2].text if len(spoken) > 1 else ""
    values += [
        float(sum(1 for u in spoken if u.role is Role.USER)),
        float(len(words(last))),
        float("?" in last or "？" in last),
        float(len(words(before))),
        float("?" in before or "？" in before),
    ]
    return np.array(values, dtype=np.float32)


_TOP, _SHAPE = 3, 6
"""Best probabilities, and numbers about them, that each source gives to a row."""


def _source_view(source: str, pools: Pools, look: Look) -> list[float]:
    """Best probabilities, how sharp they are, and the best candidate's columns; zeros for an empty pool."""
    if source not in look.columns:
        return [0.0] * (_TOP + _SHAPE + len(look.neighbours) + 2 * look.width)
    probabilities, columns = look.probabilities[source], look.columns[source]
    order = np.argsort(-probabilities, kind="stable")
    top = np.zeros(_TOP)
    top[: len(order)] = probabilities[order[:_TOP]]
    shares = probabilities / max(float(probabilities.sum()), 1e-9)
    entropy = float(-(shares * np.log(shares + 1e-9)).sum())
    none = float(np.log1p(-np.minimum(probabilities, 0.999)).sum())
    best = pools[source][int(order[0])]
    above = [
        float(look.probabilities[other][j])
        for other in sorted(pools)
        if other in look.probabilities
        for j, passage in enumerate(pools[other])
        if passage.id in best.parents
    ]
    below = [
        float(look.probabilities[other][j])
        for other in sorted(pools)
        if other in look.probabilities
        for j, passage in enumerate(pools[other])
        if best.id in passage.parents
    ]
    own = columns[:, OWN : OWN + look.width]
    used = look.plans[source][order[0]].tolist() if source in look.plans else []
    return [
        *top.tolist(),
        float(top[0] - top[1]),
        float(probabilities.sum()),
        entropy,
        none,
        max(above, default=0.0),
        max(below, default=0.0),
        *used,
        *own[order[0]].tolist(),
        *own.max(axis=0).tolist(),
    ]


def _look_at_all(turns: Sequence[LabelledTurn], ranker: LearnedRanker, watch: Watch | None) -> list[Look]:
    looks = []
    for done, turn in enumerate(turns, start=1):
        looks.append(ranker.look(turn.context, turn.pools))
        if watch is not None:
            watch("columns", done, len(turns))
    return looks


def _trees(rows: NDArray[np.float32], labels: NDArray[np.int64], settings: EvidenceSettings, seed: int) -> Trees:
    return Trees.fit(rows, labels, settings.growth, seed)


def _averaged(stack: Sequence[Trees], rows: NDArray[np.float32], classes: int) -> Floats:
    found: Floats = np.mean([trees.probabilities(rows) for trees in stack], axis=0)
    return np.hstack([1 - found, found]) if classes == 2 else found


def _tuned(
    rows: NDArray[np.float32],
    labels: NDArray[np.int64],
    splits: Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]],
    settings: EvidenceSettings,
    classes: Classes,
) -> Floats:
    held = np.full((len(rows), len(classes)), 1 / len(classes))
    for train, test in splits:
        stack = [_trees(rows[train], labels[train], settings, settings.seed)]
        held[test] = _averaged(stack, rows[test], len(classes))
    aims = np.array([settings.aims.get(plan, np.nan) for plan in classes])
    return tune(np.log(np.maximum(held, 1e-9)), labels, balance=settings.balance, aims=aims)
