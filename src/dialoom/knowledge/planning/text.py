"""A planner that reads only the conversation: logistic regression over its terms. Under a millisecond a turn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from dialoom.dialogue import Dialogue, Role
from dialoom.errors import NothingToLearn
from dialoom.files import Parts, pack_array, pack_json, unpack_array, unpack_json
from dialoom.knowledge.base import Plan, Query, Source
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.order import feasible
from dialoom.knowledge.planning.offsets import tune
from dialoom.knowledge.ranking.experience import unit_rows
from dialoom.knowledge.ranking.trees import softmax
from dialoom.knowledge.terms import BUCKETS, Lexicon

Floats = NDArray[np.float64]
Classes = tuple[tuple[str, ...], ...]
VIEWS = 3
"""Last user turn, the system turn before it, the user turn before that."""


class TextModel:
    """Multinomial logistic regression from terms of the last `views` turns to plans seen in training."""

    def __init__(self, lexicon: Lexicon, weights: NDArray[np.float32], bias: Floats) -> None:
        self.lexicon = lexicon
        self.weights = weights
        self.bias = bias

    @classmethod
    def fit(
        cls, contexts: Sequence[Dialogue], labels: NDArray[np.int64], classes: int, lexicon: Lexicon, views: int
    ) -> TextModel:
        """Learn P(label | terms); `labels` are in 0 ... `classes` - 1 and all occur."""
        from sklearn.linear_model import LogisticRegression

        rows = _rows(contexts, lexicon, views)
        used = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]) >= 2)
        model = LogisticRegression(C=2.0, max_iter=60, tol=1e-3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the solver's limit is our choice
            model.fit(rows[:, used], labels)
        coefficients = model.coef_ if len(model.coef_) > 1 else np.vstack([-model.coef_ / 2, model.coef_ / 2])
        bias = model.intercept_ if len(model.intercept_) > 1 else np.array([-1, 1]) * model.intercept_ / 2
        weights = np.zeros((rows.shape[1], classes), dtype=np.float32)
        weights[used] = coefficients.T
        return cls(lexicon, weights, bias.astype(np.float64))

    @property
    def views(self) -> int:
        """How many of the last turns it reads."""
        return len(self.weights) // BUCKETS

    def logits(self, contexts: Sequence[Dialogue]) -> Floats:
        """Raw scores of shape (len(contexts), classes)."""
        found: Floats = np.asarray(_rows(contexts, self.lexicon, self.views) @ self.weights + self.bias)
        return found

    def parts(self) -> Parts:
        """What a saved model consists of; the weights of unseen terms are left out."""
        used = np.flatnonzero(self.weights.any(axis=1))
        return {
            "rows.npy": pack_array(used),
            "weights.npy": pack_array(self.weights[used]),
            "bias.npy": pack_array(self.bias),
            "size.npy": pack_array(np.array([len(self.weights)])),
        }

    @classmethod
    def from_parts(cls, parts: Parts, lexicon: Lexicon) -> TextModel:
        """The inverse of `parts`."""
        kept = unpack_array(parts, "weights.npy")
        weights = np.zeros((int(unpack_array(parts, "size.npy")[0]), kept.shape[1]), dtype=np.float32)
        weights[unpack_array(parts, "rows.npy")] = kept
        return cls(lexicon, weights, unpack_array(parts, "bias.npy"))


class TextPlanner:
    """Plans from the conversation alone."""

    def __init__(self, model: TextModel, classes: Classes, offsets: Floats) -> None:
        self.model = model
        self.classes = classes
        self.offsets = offsets

    @classmethod
    def fit(cls, turns: Sequence[LabelledTurn], *, balance: float = 0.5, seed: int = 0) -> TextPlanner:
        """Learn from labelled turns; offsets between plans are tuned on folds that the model did not see.

        `balance` weighs the mean F1 over plans (1.0) against accuracy (0.0).
        """
        classes, labels = plan_classes(turns)
        lexicon = Lexicon.fit(u.text for turn in turns for u in turn.context.utterances[-VIEWS:])
        contexts = [turn.context for turn in turns]
        held = np.zeros((len(turns), len(classes)))
        for train, test in folds([turn.context.id for turn in turns], seed=seed):
            if len(set(labels[train])) == len(classes):
                model = TextModel.fit([contexts[i] for i in train], labels[train], len(classes), lexicon, VIEWS)
                held[test] = model.logits([contexts[i] for i in test])
        model = TextModel.fit(contexts, labels, len(classes), lexicon, VIEWS)
        return cls(model, classes, tune(np.log(softmax(held)), labels, balance=balance))

    def probabilities(self, context: Dialogue) -> Floats:
        """Of each of `classes`, before the offsets."""
        found: Floats = softmax(self.model.logits([context]))[0]
        return found

    async def plan(self, query: Query, sources: Sequence[Source]) -> Plan:
        """See `Planner`."""
        return choose(self.classes, self.probabilities(query.context), self.offsets, sources)

    def parts(self) -> Parts:
        """What a saved planner consists of."""
        lexicon = {f"lexicon/{name}": value for name, value in self.model.lexicon.parts().items()}
        settings = {"classes": self.classes, "offsets": self.offsets.tolist()}
        return {**lexicon, "planner.json": pack_json(settings), **self.model.parts()}

    @classmethod
    def from_parts(cls, parts: Parts) -> TextPlanner:
        """The inverse of `parts`."""
        settings = unpack_json(parts, "planner.json")
        lexicon = Lexicon.from_parts({"idf.npy": parts["lexicon/idf.npy"]})
        classes = tuple(tuple(plan) for plan in settings["classes"])
        return cls(TextModel.from_parts(parts, lexicon), classes, np.array(settings["offsets"]))


def plan_classes(turns: Sequence[LabelledTurn]) -> tuple[Classes, NDArray[np.int64]]:
    """The distinct plans of `turns`, shortest first, and each turn's index among them.

    Raises `NothingToLearn` for fewer than two plans.
    """
    classes = tuple(sorted({turn.plan for turn in turns}, key=lambda plan: (len(plan), plan)))
    if len(classes) < 2:
        raise NothingToLearn("A planner needs labelled turns with at least two different plans.")
    at = {plan: i for i, plan in enumerate(classes)}
    return classes, np.array([at[turn.plan] for turn in turns], dtype=np.int64)


def folds(groups: Sequence[str], *, number: int = 5, seed: int = 0) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """(train rows, test rows) with whole groups on one side."""
    names = sorted(set(groups))
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[i]: place % number for place, i in enumerate(order)}
    of = np.array([fold[group] for group in groups])
    return [(np.flatnonzero(of != k), np.flatnonzero(of == k)) for k in range(number) if (of == k).any()]


def choose(classes: Classes, probabilities: Floats, offsets: Floats, sources: Sequence[Source]) -> Plan:
    """The likeliest plan after the offsets among those that `sources` can carry out."""
    possible = [i for i, plan in enumerate(classes) if feasible(plan, sources)]
    if not possible:
        return Plan(reason="no learned plan fits the sources at hand")
    scores = np.log(np.maximum(probabilities, 1e-9)) + offsets
    best = max(possible, key=lambda i: scores[i])
    shares = {plan: float(p) for plan, p in zip(classes, probabilities, strict=True)}
    return Plan(classes[best], shares, f"learned, probability {probabilities[best]:.2f}")


def _rows(contexts: Sequence[Dialogue], lexicon: Lexicon, views: int) -> csr_matrix:
    columns = [unit_rows(lexicon, [_back(context, view) for context in contexts]) for view in range(views)]
    return csr_matrix(hstack(columns, format="csr"))


def _back(context: Dialogue, view: int) -> str:
    spoken = [u.text for u in context.utterances if u.role is not Role.TOOL]
    return spoken[-1 - view] if view < len(spoken) else ""
