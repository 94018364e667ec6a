"""Texts as weighted terms: the one view of words that lexical indexes, rankers and checkers share."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dialoom.files import Parts, pack_array, unpack_array

BUCKETS = 1 << 18
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_RUN = re.compile(rf"(?P<han>[{_HAN}]+)|[^\W_]+")
_INNER_SPACE = re.compile(rf"(?<=[{_HAN}])\s+(?=[{_HAN}])")
_CACHED = 100_000


def words(text: str) -> list[str]:
    """Lower-case words; a run of Chinese, Japanese or Korean gives its characters and character pairs."""
    found: list[str] = []
    for match in _RUN.finditer(_INNER_SPACE.sub("", text.lower())):
        run = match.group()
        if match.lastgroup == "han":
            found += run
            found += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            found.append(run)
    return found


def terms(text: str) -> list[str]:
    """Finer than `words`: also character triples of such runs, and character 4-grams of words of five and more."""
    found: list[str] = []
    for match in _RUN.finditer(_INNER_SPACE.sub("", text.lower())):
        run = match.group()
        if match.lastgroup == "han":
            found += [run[i : i + n] for n in (1, 2, 3) for i in range(len(run) - n + 1)]
        else:
            found.append(run)
            if len(run) > 4:
                found += [f"~{run[i : i + 4]}" for i in range(len(run) - 3)]
    return found


def shared_mass(turn: str, texts: Sequence[str]) -> tuple[float, list[tuple[float, float]]]:
    """How much `turn` holds, and for each text how much it holds and how much of that it shares with `turn`.

    Each distinct term counts ln((1 + N) / (1 + df)) + 1, among the N texts there are with the turn: what a `Lexicon`
    of these few texts would say, without its table of all buckets.
    """
    bags = [set(terms(text)) for text in (turn, *texts)]
    frequency = Counter(term for bag in bags for term in bag)
    mass = {term: math.log((1 + len(bags)) / (1 + times)) + 1 for term, times in frequency.items()}
    asked = bags[0]
    return sum(mass[term] for term in asked), [
        (sum(mass[term] for term in bag), sum(mass[term] for term in bag & asked)) for bag in bags[1:]
    ]


@dataclass(frozen=True, slots=True)
class TermVector:
    """The distinct hashed terms of a text: `ids` ascending, `weights` = (1 + ln tf) x idf, `mass` = idf alone."""

    ids: NDArray[np.int32]
    weights: NDArray[np.float32]
    mass: NDArray[np.float32]

    @property
    def norm(self) -> float:
        """Euclidean length of `weights`; 1 for a text without terms, so that it can divide."""
        return float(np.linalg.norm(self.weights)) or 1.0


class Lexicon:
    """How rare each hashed term is, learned from texts; turns texts into `TermVector`s."""

    def __init__(self, idf: NDArray[np.float32]) -> None:
        self.idf = idf
        self._cache: dict[str, TermVector] = {}

    @classmethod
    def fit(cls, texts: Iterable[str]) -> Lexicon:
        """Smoothed inverse document frequency: ln((1 + N) / (1 + df)) + 1, over `BUCKETS` hash buckets."""
        frequency: Counter[int] = Counter()
        number = 0
        for text in texts:
            frequency.update({_bucket(term) for term in terms(text)})
            number += 1
        idf = np.full(BUCKETS, np.log(1 + number) + 1, dtype=np.float32)
        if frequency:
            seen = np.fromiter(frequency.values(), dtype=np.float64)
            idf[np.fromiter(frequency, dtype=np.int64)] = np.log((1 + number) / (1 + seen)) + 1
        return cls(idf)

    def vector(self, text: str) -> TermVector:
        """The text's terms; remembered, since the same passages return turn after turn."""
        known = self._cache.get(text)
        if known is None:
            counts: Mapping[int, int] = Counter(_bucket(term) for term in terms(text))
            ids = np.array(sorted(counts), dtype=np.int32)
            mass = self.idf[ids]
            tf = 1 + np.log(np.array([counts[int(i)] for i in ids], dtype=np.float32))
            known = TermVector(ids, (tf * mass).astype(np.float32), mass)
            if len(self._cache) >= _CACHED:
                self._cache.clear()
            self._cache[text] = known
        return known

    def parts(self) -> Parts:
        """What a saved lexicon consists of."""
        return {"idf.npy": pack_array(self.idf)}

    @classmethod
    def from_parts(cls, parts: Parts) -> Lexicon:
        """The inverse of `parts`."""
        return cls(unpack_array(parts, "idf.npy").astype(np.float32))


def _bucket(term: str) -> int:
    return zlib.crc32(term.encode()) & (BUCKETS - 1)
