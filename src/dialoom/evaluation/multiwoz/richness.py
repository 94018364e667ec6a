"""Lexical richness of a system's responses (Nekvinda & Dušek 2021, sec. 5)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

_PUNCTUATION = re.compile(r"``|[.',?!()%/_:;-]")
_WINDOW = 50


@dataclass(frozen=True, slots=True)
class Richness:
    """Entropies in bits; `msttr`: mean share of different words in stretches of 50; `responses`: different ones."""

    average_length: float
    entropy: float
    conditional_bigram_entropy: float
    msttr: float
    unigrams: int
    bigrams: int
    trigrams: int
    responses: int


def richness(texts: Sequence[str]) -> Richness:
    """Richness of responses spelled by `Spelling.text`, at least one."""
    rows = [_tokens(text) for text in texts]
    tokens = [token for row in rows for token in row]
    one = Counter(tokens)
    two = Counter(pair for row in rows for pair in pairwise(row))
    three = {triple for row in rows for triple in zip(row, row[1:], row[2:], strict=False)}
    total = len(tokens)
    stretches = [tokens[start : start + _WINDOW] for start in range(0, total - _WINDOW + 1, _WINDOW)]
    return Richness(
        average_length=total / len(rows),
        entropy=sum(count / total * math.log2(total / count) for count in one.values()),
        conditional_bigram_entropy=sum(
            count / total * math.log2(one[first] / count) for (first, _), count in two.items()
        ),
        msttr=sum(len(set(stretch)) for stretch in stretches) / (_WINDOW * len(stretches)) if stretches else 0.0,
        unigrams=len(one),
        bigrams=len(two),
        trigrams=len(three),
        responses=len(set(texts)),
    )


def _tokens(text: str) -> list[str]:
    """Words split at single spaces, as the benchmark does: an empty response is one empty word."""
    return re.sub(r"\s+", " ", _PUNCTUATION.sub("", text)).lower().split(" ")
