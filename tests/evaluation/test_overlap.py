from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.encoders.words import words
from dialoom.errors import NothingToLearn, UsageError
from dialoom.evaluation.overlap import OverlapSettings, near_duplicates, split_without_overlap

LONG = "please send the blue winter coat to my sister in Leeds"


def dialogue(name: str, *texts: str) -> Dialogue:
    return Dialogue(name, tuple(Utterance((Role.USER, Role.SYSTEM)[n % 2], text) for n, text in enumerate(texts)))


def different(name: str) -> Dialogue:
    return dialogue(name, *(" ".join(f"{name}{turn}{letter}" for letter in "abcdefgh") for turn in "xy"), "thank you")


def plain(prefix: str, count: int) -> list[Dialogue]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [different(f"{prefix}{letters[n // 26]}{letters[n % 26]}") for n in range(count)]


def test_that_dialogues_with_a_shared_utterance_stay_on_one_side() -> None:
    tied = [dialogue(f"tied-{n}", "hello", LONG) for n in range(3)]
    parts = split_without_overlap([*plain("d", 27), *tied], 0.3)
    sides = {d.id in {test.id for test in parts.test} for d in tied}
    assert len(sides) == 1
    assert parts.report.test == 9
    assert (parts.report.groups, parts.report.tied, parts.report.largest) == (1, 3, 3)
    assert parts.report.exact == 2


def test_that_a_near_duplicate_ties_too_and_is_shown() -> None:
    near = [dialogue("one", LONG), dialogue("two", LONG.replace("blue", "black"))]
    parts = split_without_overlap([*near, *plain("d", 8)], 0.5)
    assert (parts.report.near, parts.report.exact) == (1, 0)
    assert {parts.report.pairs[0].dialogue, parts.report.pairs[0].other} == {"one", "two"}
    exact_only = split_without_overlap([*near, *plain("d", 8)], 0.5, settings=OverlapSettings(similarity=1.0))
    assert exact_only.report.tied == 0


def test_that_short_phrases_do_not_tie_dialogues() -> None:
    parts = split_without_overlap(plain("d", 10), 0.2)
    assert parts.report.tied == 0
    assert parts.report.moved == ()


def test_that_the_report_says_what_moved() -> None:
    tied = [dialogue(f"tied-{n:02}", LONG) for n in range(16)]
    parts = split_without_overlap([*tied, *plain("d", 4)], 0.25)
    assert parts.report.moved
    assert all(name.startswith("tied") for name in parts.report.moved)
    assert all(test.id.startswith("d") for test in parts.test)


def test_that_a_corpus_tied_as_a_whole_is_refused_with_a_way_out() -> None:
    with pytest.raises(NothingToLearn, match="side user"):
        split_without_overlap([dialogue(f"t{n}", LONG) for n in range(10)], 0.2)


@pytest.mark.parametrize("share", [0.0, 1.0, -1.0])
def test_that_a_share_outside_the_open_interval_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match="between 0 and 1"):
        split_without_overlap(plain("d", 4), share)


sets = st.lists(st.frozensets(st.sampled_from("abcdefghij"), min_size=1, max_size=8), max_size=25)


@given(sets, st.sampled_from([0.3, 0.5, 0.6, 0.75, 0.8, 0.9]))
@settings(max_examples=80, deadline=None)
def test_that_prefix_filtering_finds_exactly_the_pairs_that_comparing_all_finds(
    found: list[frozenset[str]], similarity: float
) -> None:
    every = {
        (one, other)
        for one in range(len(found))
        for other in range(one + 1, len(found))
        if len(found[one] & found[other]) >= similarity * len(found[one] | found[other]) - 1e-9
    }
    given_pairs = [tuple(sorted(pair)) for pair in near_duplicates(found, similarity)]
    assert len(given_pairs) == len(set(given_pairs))
    assert set(given_pairs) == every


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=3, max_size=6), min_size=4, max_size=14), st.integers(0, 5)
)
@settings(max_examples=40, deadline=None)
def test_that_no_test_utterance_is_like_one_of_training(texts: list[list[str]], seed: int) -> None:
    corpus = [dialogue(f"d{n}", " ".join(text)) for n, text in enumerate(texts)]
    try:
        parts = split_without_overlap(corpus, 0.5, seed, OverlapSettings(words=3, similarity=0.6))
    except NothingToLearn:
        return
    assert {d.id for d in parts.train} | {d.id for d in parts.test} == {d.id for d in corpus}
    for test in parts.test:
        for train in parts.train:
            one, other = (set(words(d.utterances[0].text)) for d in (test, train))
            assert len(one & other) < 0.6 * len(one | other)


def test_that_the_order_of_input_does_not_matter() -> None:
    corpus = plain("d", 12)
    assert split_without_overlap(corpus, 0.25, 3) == split_without_overlap(corpus[::-1], 0.25, 3)


def test_that_set_phrases_of_agents_tie_nothing_where_only_users_are_compared() -> None:
    corpus = [replace(d, utterances=(*d.utterances[:1], Utterance(Role.SYSTEM, LONG))) for d in plain("d", 10)]
    with pytest.raises(NothingToLearn):
        split_without_overlap(corpus, 0.2)
    assert split_without_overlap(corpus, 0.2, settings=OverlapSettings(side="user")).report.test == 2
