"""The turn index keeps a corpus whole, and saved selectors answer as the built ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidFile, UsageError
from dialoom.examples import BM25Selector, DenseSelector, TurnIndex
from dialoom.files import pack_array, pack_json
from dialoom.testing.encoders import HashedWords
from dialoom.testing.selectors import CONTEXTS, CORPUS

INDEX = TurnIndex.build(CORPUS)

utterances = st.builds(
    Utterance,
    role=st.sampled_from(Role),
    text=st.text(st.characters(codec="utf-8"), max_size=20),
    tags=st.lists(st.text("ab ", max_size=3), max_size=2).map(tuple),
    action=st.none() | st.text("xy", max_size=3),
    annotations=st.dictionaries(st.text("k", max_size=2), st.integers() | st.text(max_size=3), max_size=2),
)
corpora = st.lists(st.lists(utterances, max_size=6).map(tuple), max_size=5).map(
    lambda many: tuple(Dialogue(f"d{number}", said, {"n": number}) for number, said in enumerate(many))
)


@settings(max_examples=60, deadline=None)
@given(corpora)
def test_that_every_dialogue_and_system_turn_survives(corpus: tuple[Dialogue, ...]) -> None:
    index = TurnIndex.from_parts(TurnIndex.build(corpus).to_parts())
    assert tuple(index.dialogues()) == corpus
    places = [(d.id, place) for d in corpus for place, u in enumerate(d.utterances) if u.role is Role.SYSTEM]
    assert len(index) == len(places)
    assert np.array_equal(index.at(reversed(places)), np.arange(len(places)))
    for turn, (id_, place) in enumerate(places):
        example = index.example(turn, 0.5, "why")
        assert (example.dialogue.id, example.reply, example.score, example.reason) == (id_, place, 0.5, "why")


def test_that_nested_mappings_are_kept_and_objects_refused() -> None:
    nested = Utterance(Role.TOOL, "found", annotations={"result": CORPUS[0].metadata})
    assert next(TurnIndex.build([Dialogue("a", (nested,))]).dialogues()).utterances[0] == nested
    with pytest.raises(UsageError, match="hold a set, which is not data"):
        TurnIndex.build([Dialogue("a", (Utterance(Role.USER, "x", annotations={"bad": {1}}),))])


def test_that_a_repeated_id_is_refused() -> None:
    with pytest.raises(UsageError, match="Two dialogues have the id 'track-1'"):
        TurnIndex.build([*CORPUS, CORPUS[0]])


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("ids.json", pack_json({"not": "a list"})),
        ("ids.json", pack_json(["one"])),
        ("starts.npy", pack_array(np.zeros(len(CORPUS) + 1, np.int64))),
        ("turns.npy", pack_array(np.array([[0, -1]]))),
        ("turns.npy", pack_array(np.array([[len(CORPUS), 1]]))),
        ("turns.npy", pack_array(np.array([1, 2]))),
        ("turns.npy", pack_array(np.array([[1, 1], [0, 1]]))),
    ],
)
def test_that_entries_that_do_not_fit_are_an_error(name: str, entry: bytes) -> None:
    with pytest.raises(InvalidFile):
        TurnIndex.from_parts({**INDEX.to_parts(), name: entry})


def test_that_a_turn_that_is_no_system_turn_is_an_error() -> None:
    for place in (0, 9):
        damaged = TurnIndex.from_parts({**INDEX.to_parts(), "turns.npy": pack_array(np.array([[0, place]]))})
        with pytest.raises(InvalidFile, match=f"utterance {place} of dialogue 'track-1' is not a system turn"):
            damaged.example(0, 1.0, "why")


def test_that_a_missing_or_broken_transcript_is_an_error() -> None:
    parts = INDEX.to_parts()
    with pytest.raises(InvalidFile, match="missing"):
        TurnIndex.from_parts({name: entry for name, entry in parts.items() if name != "dialogues.jsonl"})
    broken = TurnIndex.from_parts({**parts, "dialogues.jsonl": b"[" * len(parts["dialogues.jsonl"])})
    with pytest.raises(InvalidFile, match="no dialogue"):
        broken.dialogue(0)


def test_that_saved_selectors_select_the_same() -> None:
    encoder = HashedWords()
    bm25, dense = BM25Selector.build(INDEX, size=3), DenseSelector.build(INDEX, encoder, size=4, decay=0.7)
    index = TurnIndex.from_parts(INDEX.to_parts())
    for context in CONTEXTS:
        assert BM25Selector.from_parts(bm25.to_parts(), index).select(context) == bm25.select(context)
        assert DenseSelector.from_parts(dense.to_parts(), index, encoder).select(context) == dense.select(context)


def test_that_selectors_of_another_corpus_are_refused() -> None:
    other = TurnIndex.build(CORPUS[:2])
    with pytest.raises(InvalidFile, match="does not fit these transcripts"):
        BM25Selector.from_parts(BM25Selector.build(INDEX).to_parts(), other)
    with pytest.raises(InvalidFile, match="these transcripts and encoder need"):
        DenseSelector.from_parts(DenseSelector.build(INDEX, HashedWords()).to_parts(), other, HashedWords())


@pytest.mark.parametrize("settings_", [{}, {"size": "many"}, []])
def test_that_broken_settings_are_refused(settings_: object) -> None:
    bm25, dense = BM25Selector.build(INDEX).to_parts(), DenseSelector.build(INDEX, HashedWords()).to_parts()
    with pytest.raises(InvalidFile):
        BM25Selector.from_parts({**bm25, "bm25.json": pack_json(settings_)}, INDEX)
    with pytest.raises(InvalidFile):
        DenseSelector.from_parts({**dense, "dense.json": pack_json(settings_)}, INDEX, HashedWords())


def test_that_a_corpus_without_system_turns_has_nothing_to_select() -> None:
    index = TurnIndex.build([Dialogue("a", (Utterance(Role.USER, "hello"),))])
    assert len(index) == 0
    assert DenseSelector.build(index, HashedWords()).select(CONTEXTS[0]) == []
    assert BM25Selector.build(index).select(CONTEXTS[0]) == []
