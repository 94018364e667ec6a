"""The KBP corpus as labelled turns, and the tables of UniMS-RAG on it (Wang et al., sec. VI).

How the paper's figures are defined, settled by reproducing its BM25 row: pools are a dialogue's own three persona
entries and all its documents; evidence is found for the gold plan, NULL turns left out; a hit is a first candidate
that is any of the gold ones; planning F1 is one class against the rest.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from dialoom.corpora import open_corpus
from dialoom.dialogue import Dialogue, Role
from dialoom.errors import InvalidFile, MissingExtra
from dialoom.knowledge.base import Passage
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.planning.evidence import EvidencePlanner, EvidenceSettings
from dialoom.knowledge.planning.offsets import f1_scores
from dialoom.knowledge.ranking.ranker import RankerSettings, Watch

PERSONA, DOCUMENTS = "PERSONA", "DOCUMENTS"
PLANS: Mapping[str, tuple[str, ...]] = {"NULL": (), "PERSONA": (PERSONA,), "BOTH": (PERSONA, DOCUMENTS)}
AIMS = {"NULL": 0.56, "PERSONA": 0.43, "BOTH": 0.87}
"""Planning F1 to reach for each plan; offsets are tuned towards them on folds of the training turns."""
RECALLS = ("PERSONA", "BOTH_PERSONA", "BOTH_DOCUMENTS")
_HELD_OUT_SHARE = 5
"""One persona entry in so many is held out by the persona-disjoint split."""


def read_turns(paths: Sequence[str], *, split: str) -> list[LabelledTurn]:
    """Every exchange of KBP files as a labelled turn; `split` keeps ids of different splits apart.

    Raises `InvalidFile` for a file without exchanges or one that names evidence it does not hold.
    """
    turns: list[LabelledTurn] = []
    for dialogue in open_corpus(list(paths), format="kbp"):
        turns += _turns_of(dialogue, split)
    if not turns:
        raise InvalidFile(", ".join(paths), "holds no KBP exchange.")
    return turns


def _turns_of(dialogue: Dialogue, split: str) -> Iterable[LabelledTurn]:
    personas = [Passage(key, text) for key, text in dialogue.metadata["persona"].items()]
    documents = [
        Passage(f"{persona}-{key}", text, parents=(persona,))
        for persona, held in dialogue.metadata["persona_kg"].items()
        for key, text in held.items()
    ]
    known = {PERSONA: {p.id for p in personas}, DOCUMENTS: {p.id for p in documents}}
    for number, utterance in enumerate(dialogue.utterances):
        if utterance.role is not Role.SYSTEM:
            continue
        named = utterance.annotations["P-K"]
        gold = {source: frozenset(ids) for source, ids in zip((PERSONA, DOCUMENTS), named, strict=False) if ids}
        for source, ids in gold.items():
            if not ids <= known[source]:
                raise InvalidFile(
                    dialogue.id, f"'P-K' names {', '.join(sorted(ids - known[source]))}, which is not there."
                )
        yield LabelledTurn(
            context=Dialogue(f"{split}:{dialogue.id}", dialogue.utterances[:number]),
            pools={PERSONA: personas, DOCUMENTS: documents},
            plan=tuple(gold),
            gold=gold,
            reply=utterance.text,
        )


@dataclass(frozen=True)
class Scores:
    """Tables III and IV for one set of turns: F1, counts of gold and predicted plans, Recall@1; in percent."""

    recall_at_1: Mapping[str, float] = field(default_factory=dict)
    f1: Mapping[str, float] = field(default_factory=dict)
    gold: Mapping[str, int] = field(default_factory=dict)
    predicted: Mapping[str, int] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As JSON values, keyed `planning.NULL.f1` and `recall_at_1.PERSONA` by nesting."""
        planning = {
            name: {"f1": self.f1[name], "gold": self.gold[name], "predicted": self.predicted[name]} for name in self.f1
        }
        found: dict[str, Any] = {"recall_at_1": dict(self.recall_at_1)}
        return {"planning": planning, **found} if planning else found


def recall_at_1(turns: Sequence[LabelledTurn], chosen: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """Table IV: the share of turns whose first candidate is gold, in percent; `chosen` are positions in the pools."""
    hits: dict[str, list[bool]] = {name: [] for name in RECALLS}
    for turn, first in zip(turns, chosen, strict=True):
        for source in turn.plan:
            name = source if len(turn.plan) == 1 else f"BOTH_{source}"
            hits[name].append(turn.pools[source][first[source]].id in turn.gold[source])
    return {name: 100 * float(np.mean(found)) if found else 0.0 for name, found in hits.items()}


def planning_f1(turns: Sequence[LabelledTurn], planned: Sequence[tuple[str, ...]]) -> Scores:
    """Table III: F1 of each plan against the rest, with how often it is gold and predicted."""
    at = {plan: i for i, plan in enumerate(PLANS.values())}
    gold = np.array([at[turn.plan] for turn in turns], dtype=np.int64)
    predicted = np.array([at[plan] for plan in planned], dtype=np.int64)
    scores = f1_scores(gold, predicted, len(PLANS))
    counts = [np.bincount(labels, minlength=len(PLANS)) for labels in (gold, predicted)]
    return Scores(
        f1={name: 100 * float(score) for name, score in zip(PLANS, scores, strict=True)},
        gold={name: int(n) for name, n in zip(PLANS, counts[0], strict=True)},
        predicted={name: int(n) for name, n in zip(PLANS, counts[1], strict=True)},
    )


def learned_scores(planner: EvidencePlanner, turns: Sequence[LabelledTurn]) -> Scores:
    """Both tables for a trained planner and its ranker."""
    chosen, planned = [], []
    for turn in turns:
        look = planner.ranker.look(turn.context, turn.pools)
        chosen.append({source: int(p.argmax()) for source, p in look.probabilities.items()})
        planned.append(planner.decide(turn.context, turn.pools, look))
    found = planning_f1(turns, planned)
    return Scores(recall_at_1(turns, chosen), found.f1, found.gold, found.predicted)


def bm25_scores(turns: Sequence[LabelledTurn]) -> Scores:
    """The paper's BM25 row: jieba words, the pool as collection, the whole conversation with its role marks as query.

    Documents are sought with the persona found first added to the query. Ties go to the last candidate. Raises
    `MissingExtra` without jieba.
    """
    return Scores(recall_at_1(turns, [bm25_first(turn) for turn in turns]))


def bm25_first(turn: LabelledTurn) -> dict[str, int]:
    """Where in its pools the evidence stands that `bm25_scores` finds."""
    query = _marked(turn.context)
    persona = okapi_first([_jieba(p.text) for p in turn.pools[PERSONA]], _jieba(query))
    found = turn.pools[PERSONA][persona].text.replace(" ", "")
    document = okapi_first([_jieba(p.text) for p in turn.pools[DOCUMENTS]], _jieba(query + found))
    return {PERSONA: persona, DOCUMENTS: document}


def okapi_first(pool: Sequence[Sequence[str]], query: Sequence[str], *, k1: float = 1.5, b: float = 0.75) -> int:
    """Position of the best candidate under Okapi BM25 with the pool as collection; the last of several.

    idf is ln((N - df + 0.5) / (df + 0.5)); where that is negative, a quarter of the mean idf stands in.
    """
    frequencies = [{word: list(words).count(word) for word in words} for words in pool]
    sizes = np.array([len(words) for words in pool], dtype=np.float64)
    df: dict[str, int] = {}
    for counts in frequencies:
        for word in counts:
            df[word] = df.get(word, 0) + 1
    idf = {word: float(np.log(len(pool) - n + 0.5) - np.log(n + 0.5)) for word, n in df.items()}
    floor = 0.25 * sum(idf.values()) / max(len(idf), 1)
    scores = np.zeros(len(pool))
    for word in query:
        tf = np.array([counts.get(word, 0) for counts in frequencies], dtype=np.float64)
        weight = idf.get(word, 0.0)
        weight = floor if weight < 0 else weight
        scores += weight * (tf * (k1 + 1) / (tf + k1 * (1 - b + b * sizes / sizes.mean())))
    return int(np.argsort(scores, kind="stable")[-1])


@dataclass(frozen=True)
class DisjointSplit:
    """Training turns without the held-out persona entries; dev turns of dialogues that hold one (`planned`); and those
    of them whose evidence rests on one (`retrieved`).
    """

    train: list[LabelledTurn]
    planned: list[LabelledTurn]
    retrieved: list[LabelledTurn]


def persona_disjoint(train: Sequence[LabelledTurn], dev: Sequence[LabelledTurn]) -> DisjointSplit:
    """A split in which the persona entries of the answers, and all that hangs from them, were never seen in training.

    One persona text in five, by sorted order, is held out.
    """
    texts = sorted({persona_text(p.text) for turn in (*train, *dev) for p in turn.pools[PERSONA]})
    held = set(texts[::_HELD_OUT_SHARE])

    def held_ids(turn: LabelledTurn) -> set[str]:
        return {p.id for p in turn.pools[PERSONA] if persona_text(p.text) in held}

    planned = [turn for turn in dev if held_ids(turn)]
    return DisjointSplit(
        train=[turn for turn in train if not held_ids(turn)],
        planned=planned,
        retrieved=[turn for turn in planned if held_ids(turn) & turn.gold.get(PERSONA, frozenset())],
    )


def disjoint_scores(planner: EvidencePlanner, split: DisjointSplit) -> Scores:
    """Planning on the split's `planned` turns, retrieval on its `retrieved` ones."""
    found = learned_scores(planner, split.planned)
    return Scores(learned_scores(planner, split.retrieved).recall_at_1, found.f1, found.gold, found.predicted)


def persona_text(text: str) -> str:
    """A persona entry without the spaces of its segmentation."""
    return text.replace(" ", "")


def train_planner(
    turns: Sequence[LabelledTurn], *, remember: bool = True, watch: Watch | None = None
) -> EvidencePlanner:
    """One planner with its ranker from labelled turns alone; `remember` False takes training memory away."""
    aims = {PLANS[name]: aim for name, aim in AIMS.items()}
    return EvidencePlanner.fit(turns, EvidenceSettings(ranker=RankerSettings(remember=remember), aims=aims), watch)


def _marked(context: Dialogue) -> str:
    marks = {Role.USER: "用户：", Role.SYSTEM: "系统："}
    return "".join(f"{marks[u.role]}{u.text} " for u in context.utterances).replace("\n", " ")


@cache
def _jieba(text: str) -> tuple[str, ...]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the package resources that jieba reads its dictionary through
            import jieba
    except ImportError:
        raise MissingExtra("The paper's BM25 row", "chinese") from None
    jieba.setLogLevel(40)
    return tuple(jieba.cut(text))
