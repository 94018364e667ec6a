"""What each selector is for, shown on a corpus small enough to work out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import UnknownName, UsageError
from dialoom.examples import (
    SELECTORS,
    AutomatonSelector,
    BM25Selector,
    DenseSelector,
    Example,
    Fallback,
    Mixture,
    RandomSelector,
    Selector,
    Selectors,
    TurnIndex,
)
from dialoom.examples.context import window
from dialoom.testing.encoders import HashedWords
from dialoom.testing.selectors import CORPUS, conversation

INDEX = TurnIndex.build(CORPUS)
KETTLE = conversation("now", "I want a refund", "Which item is it about?", "the kettle")


def ids(examples: list[Example]) -> list[str]:
    return [example.dialogue.id for example in examples]


def test_that_the_window_keeps_what_was_said_and_the_tool_rounds_after_it() -> None:
    said = (
        Utterance(Role.USER, "a"),
        Utterance(Role.SYSTEM, "b"),
        Utterance(Role.TOOL, "call"),
        Utterance(Role.USER, "c"),
        Utterance(Role.TOOL, "result"),
    )
    assert [u.text for u in window(said, 2)] == ["b", "call", "c", "result"]
    assert [u.text for u in window(said, 1)] == ["c", "result"]
    assert [u.text for u in window(said, 9)] == ["a", "b", "call", "c", "result"]


def test_that_random_changes_with_the_seed_and_covers_the_corpus() -> None:
    drawn = {example.dialogue.id for seed in range(40) for example in RandomSelector(INDEX, seed=seed).select(KETTLE)}
    assert drawn == {dialogue.id for dialogue in CORPUS}
    assert len({tuple(ids(RandomSelector(INDEX, seed=seed).select(KETTLE, 3))) for seed in range(10)}) > 1


def test_that_bm25_equals_the_formula() -> None:
    contexts = [["a", "b"], ["a", "a", "c"], ["d"]]
    index = TurnIndex.build(conversation(str(i), " ".join(words), "reply") for i, words in enumerate(contexts))
    mean = sum(map(len, contexts)) / 3

    def expected(query: list[str], words: list[str]) -> float:
        total = 0.0
        for word in query:
            frequency, among = words.count(word), sum(word in other for other in contexts)
            rarity = math.log(1 + (3 - among + 0.5) / (among + 0.5))
            total += rarity * frequency / (frequency + 1.5 * (1 - 0.75 + 0.75 * len(words) / mean))
        return total

    scores = BM25Selector.build(index).scores(conversation("now", "a C c, unheard"))
    assert scores == pytest.approx([expected(["a", "c", "c"], words) for words in contexts], rel=1e-5)


def test_that_bm25_looks_at_the_last_utterances_only() -> None:
    selector = BM25Selector.build(INDEX, size=1)
    assert ids(selector.select(conversation("now", "cannot log in", "Do you see a message?", "it says locked"), 1)) == [
        "login-1"
    ]


def test_that_bm25_of_wordless_transcripts_still_answers() -> None:
    index = TurnIndex.build([conversation("a", "?!", "...")])
    assert ids(BM25Selector.build(index).select(KETTLE)) == ["a"]


def test_that_dense_finds_the_like_context_and_its_turn() -> None:
    top = DenseSelector.build(INDEX, HashedWords()).select(KETTLE, 1)[0]
    assert (top.dialogue.id, top.reply_text) == ("refund-1", "The refund is on its way.")


def test_that_dense_scores_are_cosines_of_summed_utterances() -> None:
    encoder = HashedWords()
    selector = DenseSelector.build(INDEX, encoder, size=2, decay=0.5)
    turn = int(INDEX.at([("refund-1", 3)])[0])
    mine, theirs = (
        0.5 * encoder.encode([a])[0] + encoder.encode([b])[0]
        for a, b in (("Which item is it about?", "the kettle"), ("Which item is it about?", "the green kettle"))
    )
    cosine = mine @ theirs / np.linalg.norm(mine) / np.linalg.norm(theirs)
    assert selector.scores(KETTLE)[turn] == pytest.approx(cosine, abs=1e-3)
    assert selector.scores(KETTLE, np.array([turn]))[0] == pytest.approx(cosine, abs=1e-3)


def test_that_a_growing_conversation_costs_one_encoding_per_new_utterance() -> None:
    encoder = HashedWords()
    selector = DenseSelector.build(INDEX, encoder)
    selector.select(Dialogue("now", KETTLE.utterances[:1]))
    encoder.encoded.clear()
    selector.select(KETTLE)
    assert encoder.encoded == ["Which item is it about?", "the kettle"]


def test_that_building_encodes_every_text_once() -> None:
    encoder = HashedWords()
    DenseSelector.build(INDEX, encoder)
    assert sorted(encoder.encoded) == sorted({u.text for d in CORPUS for u in d.utterances})


def test_that_the_neighbour_graph_agrees_with_the_exact_search() -> None:
    exact = DenseSelector.build(INDEX, HashedWords())
    near = DenseSelector.build(INDEX, HashedWords(), approximate=True)
    assert ids(near.select(KETTLE, 3)) == ids(exact.select(KETTLE, 3))


def test_that_opening_turns_come_first_before_a_word_is_said() -> None:
    for name in ("bm25", "dense"):
        top = Selectors(INDEX, encoder=HashedWords()).open(name).select(Dialogue("now", ()), 1)[0]
        assert (top.dialogue.id, top.reply) == ("greeted-1", 0)


def test_that_the_automaton_selector_stays_inside_its_candidates() -> None:
    places = [("hours-1", 1), ("login-1", 1), ("refund-2", 3)]
    ranked = AutomatonSelector(INDEX, lambda _: places, ranker=DenseSelector.build(INDEX, HashedWords()))
    assert ids(ranked.select(KETTLE)) == ["refund-2", "login-1", "hours-1"]
    sampled = {tuple(ids(AutomatonSelector(INDEX, lambda _: places, seed=s).select(KETTLE, 1))) for s in range(30)}
    assert sampled == {("hours-1",), ("login-1",), ("refund-2",)}


def test_that_the_order_of_candidates_does_not_matter() -> None:
    places = [("hours-1", 1), ("login-1", 1), ("refund-2", 3), ("login-1", 3)]
    for seed in range(5):
        forward = AutomatonSelector(INDEX, lambda _: places, seed=seed).select(KETTLE, 3)
        backward = AutomatonSelector(INDEX, lambda _: places[::-1], seed=seed).select(KETTLE, 3)
        assert forward == backward


def test_that_foreign_candidates_are_an_error_that_names_them() -> None:
    with pytest.raises(UsageError, match="no dialogue 'elsewhere'"):
        AutomatonSelector(INDEX, lambda _: [("elsewhere", 1)]).select(KETTLE)
    with pytest.raises(UsageError, match="Utterance 0 of dialogue 'login-1' is not a system turn"):
        AutomatonSelector(INDEX, lambda _: [("login-1", 3), ("login-1", 0)]).select(KETTLE)


class Fixed:
    """Always selects these dialogues."""

    def __init__(self, *chosen: str) -> None:
        self.chosen = chosen

    def select(self, context: Dialogue, n: int = 5) -> list[Example]:
        corpus = {dialogue.id: dialogue for dialogue in CORPUS}
        return [Example(corpus[id_], 1, -place, "fixed") for place, id_ in enumerate(self.chosen)][:n]


def test_that_a_mixture_weighs_ranks() -> None:
    first, second = Fixed("track-1", "refund-1"), Fixed("refund-1", "login-1")
    mixed = Mixture({"a": (first, 1.0), "b": (second, 1.0)}).select(KETTLE)
    assert ids(mixed) == ["refund-1", "track-1", "login-1"]
    assert mixed[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert mixed[0].reason == "b: fixed"
    assert ids(Mixture({"a": (first, 9.0), "b": (second, 1.0)}).select(KETTLE, 1)) == ["refund-1"]
    assert ids(Mixture({"a": (Fixed("track-1"), 2.0), "b": (Fixed("login-1"), 1.0)}).select(KETTLE)) == [
        "track-1",
        "login-1",
    ]


def test_that_a_fallback_fills_up() -> None:
    filled = Fallback({"a": Fixed("track-1"), "b": Fixed("track-1", "login-1", "hours-1")}).select(KETTLE, 2)
    assert ids(filled) == ["track-1", "login-1"]
    assert [example.reason for example in filled] == ["a: fixed", "b: fixed"]


@pytest.mark.parametrize("make", [lambda: Mixture({}), lambda: Mixture({"a": (Fixed(), 0.0)}), lambda: Fallback({})])
def test_that_an_empty_combination_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(UsageError):
        make()


def test_that_an_unknown_name_lists_the_selectors() -> None:
    with pytest.raises(UnknownName, match=r"Unknown selector 'bm52'\. Did you mean 'bm25'\? Valid: automaton, "):
        Selectors(INDEX).open("bm52")


@pytest.mark.parametrize("name", sorted(SELECTORS))
def test_that_what_is_missing_is_said(name: str) -> None:
    if name in ("bm25", "random"):
        assert isinstance(Selectors(INDEX).open(name), Selector)
    else:
        with pytest.raises(UsageError, match=r"needs an (encoder|automaton)"):
            Selectors(INDEX).open(name)


def test_that_the_automaton_ranks_by_words_where_there_is_no_encoder() -> None:
    places = [("hours-1", 1), ("refund-2", 3)]
    assert ids(list(Selectors(INDEX, candidates=lambda _: places).open("mixture").select(KETTLE, 3)))[:2] == [
        "refund-2",
        "hours-1",
    ]


def test_that_what_selectors_share_is_built_once() -> None:
    selectors = Selectors(INDEX, encoder=HashedWords())
    assert selectors.open("dense") is selectors.open("dense")
