"""An index that was changed many times answers as one built anew; and as bm25s does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.encoders.base import Vectors
from dialoom.knowledge.base import Passage
from dialoom.knowledge.indexes import PassageIndex
from dialoom.knowledge.indexes.lexical import LexicalIndex
from dialoom.knowledge.terms import words

WORDS = st.sampled_from(["oak", "elm", "ash", "fir", "yew", "box"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
UPDATES = st.lists(
    st.tuples(st.dictionaries(st.sampled_from("abcdefgh"), TEXTS, max_size=4), st.sets(st.sampled_from("abcdefgh"))),
    min_size=1,
    max_size=6,
)


class Counts:
    """How often each of the words occurs, to unit length."""

    dimension = 6

    def encode(self, texts: Sequence[str]) -> Vectors:
        names = ["oak", "elm", "ash", "fir", "yew", "box"]
        rows = np.array([[text.split().count(name) for name in names] for text in texts], np.float32).reshape(-1, 6)
        unit: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return unit


@given(UPDATES, TEXTS)
@settings(max_examples=40, deadline=None)
def test_that_a_changed_index_scores_as_one_built_anew(
    updates: list[tuple[dict[str, str], set[str]]], query: str
) -> None:
    changed = PassageIndex(encoder=Counts())
    held: dict[str, str] = {}
    for put, gone in updates:
        changed.update((Passage(key, text) for key, text in put.items()), remove=gone)
        held = {key: text for key, text in held.items() if key not in gone - set(put)} | put
    anew = PassageIndex(encoder=Counts())
    anew.replace(Passage(key, text) for key, text in held.items())
    assert len(changed) == len(anew) == len(held)
    found, expected = (
        {hit.passage.id: dict(hit.parts) for hit in index.search(query, 20)} for index in (changed, anew)
    )
    assert found.keys() == expected.keys()
    for key, parts in expected.items():
        assert found[key] == pytest.approx(parts, rel=1e-5, abs=1e-6)


@given(st.lists(TEXTS.filter(bool), min_size=2, max_size=12), st.lists(WORDS, min_size=1, max_size=4))
@settings(max_examples=30, deadline=None)
def test_that_scores_are_those_of_bm25s(texts: list[str], query: list[str]) -> None:
    import bm25s

    peer = bm25s.BM25()
    peer.index([words(text) for text in texts], show_progress=False)
    known = [word for word in query if word in peer.vocab_dict]
    expected = peer.get_scores(known) if known else [0.0] * len(texts)
    assert LexicalIndex.build(texts).scores(query) == pytest.approx(expected, rel=1e-4, abs=1e-6)
