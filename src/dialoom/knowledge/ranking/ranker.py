"""Ranks the passages of a pool by how likely the turn rests on each; learned from labelled turns on a CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue
from dialoom.errors import NothingToLearn
from dialoom.files import Parts, pack_json, unpack_json
from dialoom.knowledge.base import Evidence, Passage, Query, tenths
from dialoom.knowledge.labelled import LabelledTurn, Pools
from dialoom.knowledge.ranking.experience import Experience
from dialoom.knowledge.ranking.features import Featuriser, Kinship, kinship
from dialoom.knowledge.ranking.trees import Growth, Trees
from dialoom.knowledge.terms import Lexicon

Floats = NDArray[np.float64]
T = TypeVar("T")
Watch = Callable[[str, int, int], None]
"""Told (what, done, of) as a fit goes on."""


@dataclass(frozen=True, slots=True)
class RankerSettings:
    """`remember` keeps what past turns tell about each passage; `models` are averaged; `seed` fixes everything."""

    remember: bool = True
    models: int = 3
    growth: Growth = field(default_factory=Growth)
    seed: int = 0


@dataclass(frozen=True)
class Look:
    """What the ranker saw in one turn, by source.

    `sources` are all that the ranker knows, whether or not this turn had candidates there. `columns` and
    `probabilities` have a row a candidate; the first `OWN` columns belong to the turn, the next `width` to the
    candidate itself. `plans` are rows of `Experience.plan_shares` over the past turns that used the candidate,
    `neighbours` one such row over the past turns nearest to this one; both empty without experience.
    """

    columns: Mapping[str, NDArray[np.float32]]
    probabilities: Mapping[str, Floats]
    sources: tuple[str, ...]
    width: int
    plans: Mapping[str, NDArray[np.float32]]
    neighbours: NDArray[np.float32]


class LearnedRanker:
    """P(the turn rests on this passage), for each passage of each pool; also a `RelevanceScorer`."""

    def __init__(self, featuriser: Featuriser, models: Mapping[str, Sequence[Trees]]) -> None:
        self.featuriser = featuriser
        self.models = models

    @classmethod
    def fit(
        cls, turns: Sequence[LabelledTurn], settings: RankerSettings | None = None, watch: Watch | None = None
    ) -> LearnedRanker:
        """Learn from `turns`, those that used nothing included: they teach when no passage fits.

        Raises `NothingToLearn` when no turn has a candidate.
        """
        settings = settings or RankerSettings()
        featuriser = new_featuriser(turns, remember=settings.remember)
        columns = [
            featuriser.matrices(turn.context, turn.pools, featuriser.recall(turn.context))
            for turn in _watched("columns", turns, watch)
        ]
        return cls(featuriser, fit_models(turns, columns, settings, watch))

    def look(self, context: Dialogue, pools: Pools) -> Look:
        """Columns and probabilities for every candidate of a turn."""
        recall = self.featuriser.recall(context)
        columns = self.featuriser.matrices(context, pools, recall)
        experience = self.featuriser.experience
        plans: dict[str, NDArray[np.float32]] = {}
        neighbours = np.zeros(0, dtype=np.float32)
        if experience is not None and recall is not None:
            neighbours = experience.plan_shares(recall, recall.nearest)
            for source in columns:
                users = [experience.users_of(recall, source, passage) for passage in pools[source]]
                plans[source] = np.array([experience.plan_shares(recall, rows) for rows in users])
        return Look(
            columns,
            self.judge(columns),
            tuple(sorted(self.featuriser.kinship)),
            len(self.featuriser.columns),
            plans,
            neighbours,
        )

    def judge(self, columns: Mapping[str, NDArray[np.float32]]) -> dict[str, Floats]:
        """Probabilities of every candidate from its columns."""
        return {source: self._score(source, matrix) for source, matrix in columns.items()}

    def _score(self, source: str, matrix: NDArray[np.float32]) -> Floats:
        models = self.models.get(source, ())
        if not models:
            return np.zeros(len(matrix))
        found: Floats = np.mean([model.probabilities(matrix)[:, 0] for model in models], axis=0)
        return found

    async def relevance(self, query: Query, evidence: Sequence[Evidence]) -> list[float]:
        """See `RelevanceScorer`: the probabilities, to tenths."""
        pools: dict[str, list[Passage]] = {}
        places = []
        for found in evidence:
            pool = pools.setdefault(found.source, [])
            places.append((found.source, len(pool)))
            pool.append(found.passage)
        probabilities = self.look(query.context, pools).probabilities
        return [tenths(float(probabilities[s][i])) if s in probabilities else 0.0 for s, i in places]

    def parts(self) -> Parts:
        """What a saved ranker consists of."""
        f = self.featuriser
        found: dict[str, bytes] = {f"lexicon/{name}": value for name, value in f.lexicon.parts().items()}
        if f.experience is not None:
            found |= {f"experience/{name}": value for name, value in f.experience.parts().items()}
        for source, models in self.models.items():
            for i, model in enumerate(models):
                found |= {f"trees/{source}/{i}/{name}": value for name, value in model.parts().items()}
        settings = {
            "kinship": {source: asdict(kin) for source, kin in f.kinship.items()},
            "models": {source: len(models) for source, models in self.models.items()},
            "remember": f.experience is not None,
        }
        return found | {"ranker.json": pack_json(settings)}

    @classmethod
    def from_parts(cls, parts: Parts) -> LearnedRanker:
        """The inverse of `parts`."""
        settings = unpack_json(parts, "ranker.json")
        experience = Experience.from_parts(below(parts, "experience")) if settings["remember"] else None
        kin = {
            source: Kinship(tuple(k["parents"]), tuple(k["children"]), k["siblings"])
            for source, k in settings["kinship"].items()
        }
        models = {
            source: [Trees.from_parts(below(parts, f"trees/{source}/{i}")) for i in range(number)]
            for source, number in settings["models"].items()
        }
        return cls(Featuriser(Lexicon.from_parts(below(parts, "lexicon")), kin, experience), models)


def new_featuriser(turns: Sequence[LabelledTurn], *, remember: bool) -> Featuriser:
    """A featuriser fitted on the texts, links and (with `remember`) the uses in `turns`."""
    texts: dict[str, None] = {}
    for turn in turns:
        texts[turn.context.utterances[-1].text] = None
        texts[turn.reply] = None
        texts.update((passage.text, None) for pool in turn.pools.values() for passage in pool)
    lexicon = Lexicon.fit(texts)
    experience = Experience.gather(turns, lexicon) if remember else None
    return Featuriser(lexicon, kinship(turn.pools for turn in turns), experience)


def fit_models(
    turns: Sequence[LabelledTurn],
    columns: Sequence[Mapping[str, NDArray[np.float32]]],
    settings: RankerSettings,
    watch: Watch | None = None,
) -> dict[str, list[Trees]]:
    """One set of trees a source, on precomputed `columns` (one mapping a turn)."""
    models: dict[str, list[Trees]] = {}
    for source in sorted({source for found in columns for source in found}):
        held = [(turn, found[source]) for turn, found in zip(turns, columns, strict=True) if source in found]
        labels = np.array(
            [passage.id in turn.gold.get(source, ()) for turn, _ in held for passage in turn.pools[source]], np.int64
        )
        if not labels.any() or labels.all():
            continue
        matrix = np.vstack([found for _, found in held])
        models[source] = [
            Trees.fit(matrix, labels, settings.growth, settings.seed + i)
            for i in _watched(f"ranker of {source}", range(settings.models), watch)
        ]
    if not models:
        raise NothingToLearn("No labelled turn has both a passage that was used and one that was not.")
    return models


def below(parts: Parts, folder: str) -> Parts:
    """The entries under `folder/`, without it."""
    return {name[len(folder) + 1 :]: value for name, value in parts.items() if name.startswith(f"{folder}/")}


def _watched(what: str, items: Sequence[T], watch: Watch | None) -> Iterator[T]:
    for done, item in enumerate(items):
        yield item
        if watch is not None:
            watch(what, done + 1, len(items))
