"""The metrics an experiment can ask for, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from dialoom.errors import UnknownName
from dialoom.evaluation import bertscore, dialogrpt, entailment
from dialoom.evaluation.experiments.gold import Found, Gold
from dialoom.evaluation.metrics import (
    bleu,
    distinct,
    exact_match,
    length,
    macro_f1,
    recall,
    reciprocal_rank,
    rouge_l,
)
from dialoom.knowledge.consistency import lexical_consistency


@dataclass(frozen=True, slots=True)
class Answered:
    """One reply with everything a metric may look at: the true reply, what was said before it, labels and findings.

    `candidates` are the replies it was chosen among, itself first; `context` is what both sides said, oldest first.
    """

    reply: str
    reference: str
    candidates: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    gold: Gold = field(default_factory=Gold)
    found: Found = field(default_factory=Found)


OfItem = Callable[[Answered], float]
OfCorpus = Callable[[Sequence[Answered]], float]


def _always(_: Answered) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric: of one reply, or of all together; it is of the replies that it `applies` to.

    `better` says which way is better: 1 higher, -1 lower, 0 neither. What is of a corpus has no interval in a table.
    """

    told: str
    item: OfItem | None = None
    corpus: OfCorpus | None = None
    better: int = 1
    applies: Callable[[Answered], bool] = _always


def _texts(of: Callable[[list[str], list[str]], float]) -> OfCorpus:
    return lambda said: of([one.reply for one in said], [one.reference for one in said])


def _distinct(n: int) -> OfCorpus:
    return lambda said: distinct([one.reply for one in said], n)


def _retrieved(one: Answered) -> bool:
    return bool(one.gold.evidence) and bool(one.found.evidence)


def _labelled(one: Answered) -> bool:
    return one.gold.action is not None and bool(one.found.actions)


def _planned(one: Answered) -> bool:
    return one.gold.plan is not None and one.found.plan is not None


def plan_name(plan: Sequence[str] | None) -> str:
    """How a plan is called: its sources joined by +, NULL for none."""
    return "+".join(sorted(plan or ())) or "NULL"


def _planning(one_plan: str | None = None) -> OfCorpus:
    def score(said: Sequence[Answered]) -> float:
        gold, found = ([plan_name(plan) for plan in plans] for plans in _plans(said))
        return macro_f1(gold, found, None if one_plan is None else [one_plan])

    return score


def _plans(said: Sequence[Answered]) -> tuple[list[Sequence[str] | None], list[Sequence[str] | None]]:
    return [one.gold.plan for one in said], [one.found.plan for one in said]


def _rank(one: Answered) -> float:
    return reciprocal_rank(one.found.evidence, one.gold.evidence)


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "bleu": Measure("corpus BLEU-4 in percent (sacrebleu)", corpus=_texts(bleu)),
        "bleu-1": Measure("corpus BLEU-1 in percent", corpus=_texts(lambda said, true: bleu(said, true, order=1))),
        "rouge-l": Measure("ROUGE-L F1", lambda one: rouge_l(one.reply, one.reference)),
        "exact-match": Measure(
            "R@1: the reference, case and spaces aside", lambda one: exact_match((one.reply,), one.reference)
        ),
        "exact-match-5": Measure(
            "R@5: the reference is among the five best samples' replies",
            lambda one: exact_match((one.reply, *one.candidates[1:]), one.reference, 5),
        ),
        "distinct-1": Measure("different words over all words", corpus=_distinct(1)),
        "distinct-2": Measure("different word pairs over all", corpus=_distinct(2)),
        "length": Measure("words of a reply", lambda one: length(one.reply), better=0),
        "next-action": Measure(
            "the reply's action is the one really taken",
            lambda one: one.gold.action == one.found.action,
            applies=lambda one: one.gold.action is not None and one.found.action is not None,
        ),
        "action-mrr": Measure(
            "one over the rank of the first example with the action really taken",
            lambda one: reciprocal_rank(one.found.actions, (one.gold.action,)),
            applies=_labelled,
        ),
        "planning-f1": Measure("F1 of the planned sources, mean over plans", corpus=_planning(), applies=_planned),
        "mrr": Measure("one over the rank of the first gold evidence", _rank, applies=_retrieved),
        "consistency": Measure(
            "agreement of the reply with its evidence by words, numbers and negation",
            lambda one: max(lexical_consistency(one.reply, text) for text in one.gold.passages),
            applies=lambda one: bool(one.gold.passages),
        ),
    }
)

FORMS = (
    "recall@K",
    "action@K",
    "planning-f1:PLAN",
    "consistency:FOLDER",
    *(f"bertscore-{part}:FOLDER" for part in bertscore.PARTS),
    *(f"dialogrpt-{part}:FOLDER" for part in dialogrpt.PARTS),
)


def measure(name: str) -> Measure:
    """The metric `name`, one of `MEASURES` or of `FORMS`.

    Raises `UnknownName`. A model in a folder is loaded when it first scores.
    """
    if name in MEASURES:
        return MEASURES[name]
    kind, _, spec = name.partition(":")
    family, _, part = kind.partition("-")
    found: Measure | None = None
    if spec and family == "bertscore" and part in bertscore.PARTS:
        found = Measure(
            f"BERTScore {({'p': 'precision', 'r': 'recall', 'f': 'F1'})[part]}",
            lambda one: bertscore.opened(spec).score(one.reply, one.reference)[part],
        )
    elif spec and family == "dialogrpt" and part in dialogrpt.PARTS:
        told = f"DialogRPT {dialogrpt.PARTS[part]}"
        found = Measure(told, lambda one: dialogrpt.opened(part, spec).score(one.context, one.reply))
    elif spec and kind == "consistency":
        found = Measure(
            "probability that the reply follows from its evidence",
            lambda one: max(entailment.opened(spec).probability(text, one.reply) for text in one.gold.passages),
            applies=lambda one: bool(one.gold.passages),
        )
    elif spec and kind == "planning-f1":
        plan = plan_name([] if spec == "NULL" else spec.split("+"))
        found = Measure(f"F1 of the plan {plan}", corpus=_planning(plan), applies=_planned)
    else:
        found = _at(name)
    if found is None:
        raise UnknownName("metric", name, (*MEASURES, *FORMS))
    return found


def _at(name: str) -> Measure | None:
    kind, _, number = name.partition("@")
    k = int(number) if number.isdecimal() else 0
    if k < 1 or kind not in ("recall", "action"):
        return None
    if kind == "recall":
        told = f"share of the gold evidence among the first {k}"
        return Measure(told, lambda one: recall(one.found.evidence, one.gold.evidence, k), applies=_retrieved)
    told = f"one of the first {k} examples has the action really taken"
    return Measure(told, lambda one: recall(one.found.actions, (one.gold.action,), k), applies=_labelled)
