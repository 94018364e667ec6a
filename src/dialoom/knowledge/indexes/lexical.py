"""BM25 over passages, with the scores of every word worked out beforehand as bm25s does; memory-mapped from disk.

bm25s itself cannot change what it has indexed, and building anew for every change takes a minute at a million passages.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialoom.knowledge.terms import words

Floats = NDArray[np.float32]
Whole = NDArray[np.int32]
K1, B = 1.5, 0.75


class LexicalIndex:
    """BM25 scores (Lucene's variant, k1 1.5, b 0.75) by position.

    Kept are the postings of every word: the `positions` of passages that hold it, ascending, and its `counts` there,
    for word w from `starts[w]` to `starts[w + 1]`; and the `lengths` of the passages, in words. Scores follow from
    them, so that a change costs the words of what changed and one pass over the numbers.
    """

    def __init__(
        self, vocabulary: dict[str, int], starts: NDArray[np.int64], positions: Whole, counts: Whole, lengths: Whole,
        scores: Floats | None = None,
    ) -> None:  # fmt: skip
        self.vocabulary = vocabulary
        # Plain views: a memory-mapped array's own class costs microseconds a use.
        self._starts, self._positions, self._counts, self._lengths = (
            part.view(np.ndarray) for part in (starts, positions, counts, lengths)
        )
        self._scores = self._weighed() if scores is None else scores.view(np.ndarray)

    @classmethod
    def build(cls, texts: Iterable[str]) -> LexicalIndex:
        """From every passage's text."""
        nothing = np.zeros(0, dtype=np.int32)
        return cls({}, np.zeros(1, dtype=np.int64), nothing, nothing, nothing).changed(np.zeros(0, np.bool_), texts)

    def changed(self, keep: NDArray[np.bool_], texts: Iterable[str]) -> LexicalIndex:
        """Without the passages where `keep` is false, and with `texts` added at the end."""
        vocabulary = dict(self.vocabulary)
        kept = int(keep.sum())
        spoken, lengths = _numbered(texts, vocabulary)
        lengths = np.concatenate([self._lengths[keep], lengths])
        added = _postings(spoken, lengths[kept:], kept, len(lengths))
        alive = keep[self._positions]
        old_words = np.repeat(np.arange(len(self._starts) - 1, dtype=np.int32), np.diff(self._starts))[alive]
        moved = (np.cumsum(keep, dtype=np.int32) - 1)[self._positions[alive]]
        old = (old_words, moved, self._counts[alive])
        before, after = (np.bincount(part[0], minlength=len(vocabulary)) for part in (old, added))
        starts = np.concatenate([[0], np.cumsum(before + after)])
        positions, counts = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1], dtype=np.int32)
        # A word's kept passages come before its added ones, so each part only shifts by what the other puts in front.
        for part, shift in ((old, np.cumsum(after) - after), (added, np.cumsum(before))):
            places = np.arange(len(part[0])) + shift[part[0]]
            positions[places], counts[places] = part[1], part[2]
        return LexicalIndex(*_without_unused(vocabulary, starts), positions, counts, lengths)

    def scores(self, query: Sequence[str]) -> Floats:
        """One score a passage, 0 where nothing is shared."""
        found = np.zeros(len(self._lengths), dtype=np.float32)
        for word in query:
            number = self.vocabulary.get(word)
            if number is not None:
                held = slice(self._starts[number], self._starts[number + 1])
                np.add.at(found, self._positions[held], self._scores[held])
        return found

    def _weighed(self) -> Floats:
        """Idf x tf / (tf + k1 (1 - b + b length / mean length)), idf = ln(1 + (N - df + 0.5) / (df + 0.5))."""
        frequency = np.diff(self._starts)
        idf = np.log1p((len(self._lengths) - frequency + 0.5) / (frequency + 0.5)).astype(np.float32)
        mean = max(float(self._lengths.mean()), 1e-9) if len(self._lengths) else 1.0
        norms = (K1 * (1 - B + B * self._lengths / mean)).astype(np.float32)
        scores = self._counts.astype(np.float32)
        scores /= scores + norms[self._positions]
        scores *= np.repeat(idf, frequency)
        return scores

    def save(self, folder: Path) -> None:
        """Write into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in self._arrays().items():
            np.save(folder / f"{name}.npy", value)
        (folder / "vocabulary.json").write_text(json.dumps(list(self.vocabulary)), encoding="utf-8")

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "starts": self._starts,
            "positions": self._positions,
            "counts": self._counts,
            "lengths": self._lengths,
            "scores": self._scores,
        }

    @classmethod
    def load(cls, folder: Path) -> LexicalIndex:
        """Memory-map what `save` wrote."""
        names = json.loads((folder / "vocabulary.json").read_text(encoding="utf-8"))
        arrays = (
            np.load(folder / f"{name}.npy", mmap_mode="r")
            for name in ("starts", "positions", "counts", "lengths", "scores")
        )
        return cls({word: number for number, word in enumerate(names)}, *arrays)


def _numbered(texts: Iterable[str], vocabulary: dict[str, int]) -> tuple[Whole, Whole]:
    """The words of all texts one after the other as numbers, new ones put into `vocabulary`; each text's length."""
    spoken, lengths = array("i"), array("i")
    for text in texts:
        said = words(text)
        lengths.append(len(said))
        spoken.extend(vocabulary.setdefault(word, len(vocabulary)) for word in said)
    return np.array(spoken, dtype=np.int32), np.array(lengths, dtype=np.int32)


def _postings(spoken: Whole, lengths: Whole, first: int, size: int) -> tuple[Whole, Whole, Whole]:
    """(words, positions, counts), by word then position, of texts that stand at `first` and after."""
    places = np.repeat(np.arange(first, first + len(lengths), dtype=np.int64), lengths)
    pairs, counts = np.unique(spoken.astype(np.int64) * max(size, 1) + places, return_counts=True)
    found, at = np.divmod(pairs, max(size, 1))
    return found.astype(np.int32), at.astype(np.int32), counts.astype(np.int32)


def _without_unused(vocabulary: dict[str, int], starts: NDArray[np.int64]) -> tuple[dict[str, int], NDArray[np.int64]]:
    """The words that some passage holds: what was removed shall leave no word behind."""
    used = np.diff(starts) > 0
    if used.all():
        return vocabulary, starts
    kept = {word: place for place, word in enumerate(compress(vocabulary, used.tolist()))}
    return kept, np.concatenate([starts[:-1][used], starts[-1:]])
