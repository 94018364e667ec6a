"""The metrics an experiment can ask for, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from dialoom.errors import UnknownName
from dialoom.evaluation.bertscore import PARTS, opened
from dialoom.evaluation.metrics import bleu, distinct, exact_match, length, rouge_l

OfItem = Callable[[Sequence[str], str], float]
OfCorpus = Callable[[Sequence[str], Sequence[str]], float]


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric: of one item (its candidates, best first, and the reference), or of all replies and references.

    `better` says which way is better: 1 higher, -1 lower, 0 neither. What is of a corpus has no interval.
    """

    told: str
    item: OfItem | None = None
    corpus: OfCorpus | None = None
    better: int = 1


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "bleu": Measure("corpus BLEU-4 in percent (sacrebleu)", corpus=bleu),
        "bleu-1": Measure("corpus BLEU-1 in percent", corpus=lambda said, true: bleu(said, true, order=1)),
        "rouge-l": Measure("ROUGE-L F1", item=lambda said, true: rouge_l(said[0], true)),
        "exact-match": Measure("R@1: the reference, case and spaces aside", lambda said, true: exact_match(said, true)),
        "exact-match-5": Measure(
            "R@5: the reference is among the five best samples' replies", lambda said, true: exact_match(said, true, 5)
        ),
        "distinct-1": Measure("different words over all words", corpus=lambda said, _: distinct(said, 1)),
        "distinct-2": Measure("different word pairs over all", corpus=lambda said, _: distinct(said, 2)),
        "length": Measure("words of a reply", item=lambda said, _: length(said[0]), better=0),
    }
)

FORMS = ("bertscore-p:FOLDER", "bertscore-r:FOLDER", "bertscore-f:FOLDER")


def measure(name: str) -> Measure:
    """The metric `name`, one of `MEASURES` or of `FORMS` with a folder, or FOLDER@LAYER, of a local encoder.

    Raises `UnknownName`. An encoder is loaded when it first scores.
    """
    if name in MEASURES:
        return MEASURES[name]
    kind, _, spec = name.partition(":")
    part = kind.removeprefix("bertscore-")
    if kind == part or part not in PARTS or not spec:
        raise UnknownName("metric", name, (*MEASURES, *FORMS))
    return Measure(
        f"BERTScore {'F1' if part == 'f' else 'precision' if part == 'p' else 'recall'}",
        item=lambda said, true: opened(spec).score(said[0], true)[part],
    )
