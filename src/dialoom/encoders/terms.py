"""A TF-IDF space of words and word pairs, fitted on a corpus and looked up without any array library overhead."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dialoom.encoders.words import words
from dialoom.errors import InvalidFile
from dialoom.files import Parts, pack_array, pack_json, unpack_array, unpack_json

EDGE = "^", "$"


class TermSpace:
    """Terms (words seen often enough, and pairs of neighbouring ones) with their inverse document frequencies.

    Rarer words are left out before pairs are formed: they are mostly values (names, places, titles), so that two
    utterances which differ only in a value look alike.
    """

    def __init__(self, vocabulary: Iterable[str], terms: Sequence[str], idf: NDArray[np.float32]) -> None:
        """`vocabulary`: the words kept; `terms`: words and `first second` pairs; `idf`: one weight per term."""
        self.vocabulary = frozenset(vocabulary)
        self.terms = {term: number for number, term in enumerate(terms)}
        self.idf = idf
        self._idf: list[float] = idf.tolist()

    @classmethod
    def fit(cls, texts: Iterable[str], *, at_least: int = 3, limit: int = 20_000) -> TermSpace:
        """The space of a corpus: words in at least `at_least` texts, and the `limit` most frequent terms of them.

        Depends on the texts alone, not on their order.
        """
        counts = Counter(tuple(words(text)) for text in texts)
        in_texts: Counter[str] = Counter()
        for said, times in counts.items():
            for word in set(said):
                in_texts[word] += times
        vocabulary = frozenset(word for word, times in in_texts.items() if times >= at_least)
        frequency: Counter[str] = Counter()
        for said, times in counts.items():
            for term in set(_terms([word for word in said if word in vocabulary])):
                frequency[term] += times
        kept = sorted(
            (term for term, times in frequency.items() if times >= at_least), key=lambda t: (-frequency[t], t)
        )
        total = counts.total()
        terms = sorted(kept[:limit])
        idf = np.asarray([math.log((1 + total) / (1 + frequency[term])) + 1 for term in terms], dtype=np.float32)
        return cls(vocabulary, terms, idf)

    def __len__(self) -> int:
        """How many terms there are: the dimension of the space."""
        return len(self.terms)

    def skeleton(self, text: str) -> tuple[str, ...]:
        """The words of `text` that the space knows, in order: what is left when values are taken out."""
        return tuple(word for word in words(text) if word in self.vocabulary)

    def weigh(self, skeleton: Sequence[str]) -> tuple[list[int], list[float]]:
        """Term numbers and weights ((1 + log tf) idf, to unit length) of the words of one text; both empty if none."""
        found: dict[int, int] = {}
        for term in _terms(skeleton):
            number = self.terms.get(term)
            if number is not None:
                found[number] = found.get(number, 0) + 1
        weights = [
            self._idf[number] * (1.0 if times == 1 else 1.0 + math.log(times)) for number, times in found.items()
        ]
        length = math.sqrt(math.fsum(weight * weight for weight in weights)) or 1.0
        return list(found), [weight / length for weight in weights]

    def matrix(self, skeletons: Iterable[Sequence[str]]) -> sparse.csr_array:
        """`weigh` of many texts: shape (texts, terms), float32, unit rows."""
        numbers: list[int] = []
        weights: list[float] = []
        starts = [0]
        for skeleton in skeletons:
            some, weighed = self.weigh(skeleton)
            numbers += some
            weights += weighed
            starts.append(len(numbers))
        values = np.asarray(weights, dtype=np.float32)
        shape = (len(starts) - 1, len(self.terms))
        return sparse.csr_array((values, np.asarray(numbers, dtype=np.int32), np.asarray(starts)), shape=shape)

    def to_parts(self) -> dict[str, bytes]:
        """The space as named entries."""
        terms = list(self.terms)
        return {
            "terms.json": pack_json({"vocabulary": sorted(self.vocabulary), "terms": terms}),
            "terms_idf.npy": pack_array(self.idf),
        }

    @classmethod
    def from_parts(cls, parts: Parts) -> TermSpace:
        """The space that `to_parts` saved. Raises `InvalidFile` for entries that do not fit together."""
        saved = unpack_json(parts, "terms.json")
        idf = unpack_array(parts, "terms_idf.npy")
        lists = isinstance(saved, dict) and [saved.get(key) for key in ("vocabulary", "terms")]
        if not lists or not all(isinstance(x, list) and all(isinstance(word, str) for word in x) for x in lists):
            raise InvalidFile("terms.json", "not the words and terms of a corpus.")
        if idf.shape != (len(saved["terms"]),) or len(set(saved["terms"])) != len(idf):
            raise InvalidFile("terms_idf.npy", "does not hold one weight for each term.")
        return cls(saved["vocabulary"], saved["terms"], idf.astype(np.float32))


def _terms(skeleton: Sequence[str]) -> list[str]:
    """Words, then neighbouring pairs with the edges of the text."""
    if not skeleton:
        return []
    return [*skeleton, *(f"{a} {b}" for a, b in zip((EDGE[0], *skeleton), (*skeleton, EDGE[1]), strict=True))]
