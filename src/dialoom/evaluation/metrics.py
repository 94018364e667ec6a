"""Reference metrics of replies and of rankings: each function scores what it is given and reads nothing else.

BLEU is in percent, as everyone prints it; every other share lies in [0, 1]. A metric that is a mean over items is given
for one item, so that differences between systems can be resampled; BLEU and distinct-n belong to a whole corpus.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Sequence
from functools import cache
from typing import Any

from dialoom.errors import MissingExtra, UsageError

_CHARACTER = r"[\u3040-\u30ff\u3400-\u9fff]"
_TOKEN = re.compile(rf"{_CHARACTER}|(?:(?!{_CHARACTER})\w)+")


def tokens(text: str) -> list[str]:
    """Lower-cased runs of letters, digits and underscores; Chinese and Japanese by character; no punctuation."""
    return _TOKEN.findall(text.lower())


def bleu(replies: Sequence[str], references: Sequence[str], *, order: int = 4) -> float:
    """Corpus BLEU in percent by sacrebleu (13a tokens, lower case); `order` 1 gives BLEU-1 (Papineni et al. 2002).

    Raises `UsageError` when the two differ in length or are empty, `MissingExtra` without sacrebleu.
    """
    _paired(replies, references)
    try:
        from sacrebleu.metrics import BLEU
    except ImportError as error:
        raise MissingExtra("BLEU", "evaluation") from error
    metric = BLEU(lowercase=True, max_ngram_order=order)
    return float(metric.corpus_score(list(replies), [list(references)]).score)


def rouge_l(reply: str, reference: str) -> float:
    """ROUGE-L F1 of one reply over `tokens`, by rouge-score (Lin 2004). Raises `MissingExtra` without it."""
    return float(_rouge().score(reference, reply)["rougeL"].fmeasure)


def distinct(replies: Sequence[str], n: int) -> float:
    """Distinct-n: different n-grams over all n-grams of `tokens` (Li et al. 2016); 0 where there is none."""
    grams = [gram for reply in replies for gram in _grams(tokens(reply), n)]
    return len(set(grams)) / len(grams) if grams else 0.0


def length(reply: str) -> int:
    """The number of `tokens` of one reply."""
    return len(tokens(reply))


def plain(text: str) -> str:
    """Lower case with runs of white space collapsed: how exact match reads a reply."""
    return " ".join(text.lower().split())


def exact_match(replies: Sequence[str], reference: str, k: int = 1) -> bool:
    """R@k of replies: is one of the first `k`, best first, the reference, letter case and spacing aside?"""
    wanted = plain(reference)
    return any(plain(reply) == wanted for reply in replies[:k])


def recall(ranked: Sequence[Hashable], relevant: Collection[Hashable], k: int) -> float:
    """Recall@k: the share of the `relevant` items among the first `k` of `ranked`, best first.

    Raises `UsageError` when nothing is relevant: such a query has no recall and is left out by the caller.
    """
    wanted = _wanted(relevant)
    return len(wanted.intersection(ranked[:k])) / len(wanted)


def reciprocal_rank(ranked: Sequence[Hashable], relevant: Collection[Hashable]) -> float:
    """One over the rank of the first relevant item, 0 when none is ranked; their mean is MRR.

    Raises `UsageError` when nothing is relevant.
    """
    wanted = _wanted(relevant)
    return next((1 / rank for rank, item in enumerate(ranked, 1) if item in wanted), 0.0)


def macro_f1(gold: Sequence[str], found: Sequence[str], classes: Sequence[str] | None = None) -> float:
    """F1 of each class against the rest, averaged over `classes` (default: those that occur in `gold`).

    A class without a hit counts 0. Raises `UsageError` when the two differ in length or are empty.
    """
    _paired(found, gold)
    scores = []
    for name in sorted(set(gold)) if classes is None else classes:
        hits = sum(a == name == b for a, b in zip(gold, found, strict=True))
        scores.append(2 * hits / total if (total := gold.count(name) + found.count(name)) else 0.0)
    return sum(scores) / len(scores)


def _paired(replies: Sequence[str], references: Sequence[str]) -> None:
    if len(replies) != len(references):
        raise UsageError(
            f"{len(replies)} replies and {len(references)} references: each reply has one.",
            hint="Leave out the turns without a reference.",
        )
    if not replies:
        raise UsageError("There is no reply to score.")


def _wanted(relevant: Collection[Hashable]) -> set[Hashable]:
    if not relevant:
        raise UsageError("Nothing is relevant to this query.", hint="Leave such queries out and count them.")
    return set(relevant)


def _grams(row: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(row[start : start + n]) for start in range(len(row) - n + 1)]


@cache
def _rouge() -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise MissingExtra("ROUGE-L", "evaluation") from error
    return RougeScorer(["rougeL"], tokenizer=_Tokens())


class _Tokens:
    """What rouge-score calls a tokenizer."""

    def tokenize(self, text: str) -> list[str]:
        return tokens(text)
