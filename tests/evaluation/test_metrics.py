"""Metrics against independent computations: textbook formulas written out here, and figures worked by hand."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.errors import UsageError
from dialoom.evaluation.metrics import bleu, distinct, exact_match, length, recall, reciprocal_rank, rouge_l

WORDS = st.lists(
    st.sampled_from(["the", "table", "is", "booked", "for", "two", "people", "at"]), min_size=4, max_size=12
)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=5)


def grams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def papineni(pairs: list[tuple[list[str], list[str]]], order: int) -> float | None:
    """BLEU straight from the paper's formula; None where a precision is zero and smoothing would decide."""
    logs = 0.0
    for n in range(1, order + 1):
        right = sum((grams(reply, n) & grams(reference, n)).total() for reply, reference in pairs)
        total = sum(grams(reply, n).total() for reply, _ in pairs)
        if not right:
            return None
        logs += math.log(right / total) / order
    said, wanted = (sum(len(pair[side]) for pair in pairs) for side in (0, 1))
    return 100 * math.exp(min(0.0, 1 - wanted / said) + logs)


def common(a: list[str], b: list[str]) -> int:
    """Length of the longest common subsequence, by definition."""
    if not a or not b:
        return 0
    row = [0] * (len(b) + 1)
    for x in a:
        previous = row[:]
        for j, y in enumerate(b):
            row[j + 1] = previous[j] + 1 if x == y else max(previous[j + 1], row[j])
    return row[-1]


@settings(max_examples=50, deadline=None)
@given(PAIRS, st.sampled_from([1, 2, 4]))
def test_that_bleu_is_the_papers_formula(pairs: list[tuple[list[str], list[str]]], order: int) -> None:
    expected = papineni(pairs, order)
    found = bleu([" ".join(reply) for reply, _ in pairs], [" ".join(reference) for _, reference in pairs], order=order)
    if expected is not None:
        assert found == pytest.approx(expected)


def test_that_bleu_1_and_4_match_figures_worked_by_hand() -> None:
    reply, reference = "the table is booked for six people", "the table is booked for two people"
    assert bleu([reply], [reference], order=1) == pytest.approx(100 * 6 / 7)
    assert bleu([reply], [reference]) == pytest.approx(100 * (6 / 7 * 4 / 6 * 3 / 5 * 2 / 4) ** 0.25)
    assert bleu([reply.upper()], [reference]) == bleu([reply], [reference])


@settings(max_examples=50, deadline=None)
@given(WORDS, WORDS)
def test_that_rouge_l_is_the_f1_of_the_longest_common_subsequence(reply: list[str], reference: list[str]) -> None:
    shared = common(reply, reference)
    assert rouge_l(" ".join(reply), " ".join(reference)) == pytest.approx(2 * shared / (len(reply) + len(reference)))


def test_that_rouge_l_reads_chinese_by_character_and_placeholders_whole() -> None:
    assert rouge_l("你好吗", "你好") == pytest.approx(4 / 5)
    assert rouge_l("call [hotel_phone]", "call [hotel_name]") == pytest.approx(1 / 2)


def test_that_distinct_n_counts_over_the_whole_corpus() -> None:
    replies = ["Yes, it is.", "Yes it is not."]
    assert distinct(replies, 1) == pytest.approx(4 / 7)
    assert distinct(replies, 2) == pytest.approx(3 / 5)
    assert distinct(["yes"], 2) == 0.0


def test_that_length_counts_words_and_not_punctuation() -> None:
    assert length("Your code is [reference], ok.") == 5


def test_that_exact_match_ignores_case_and_spacing_only() -> None:
    ranked = ["No.", " The TABLE\n is booked "]
    assert not exact_match(ranked, "the table is booked", 1)
    assert exact_match(ranked, "the table is booked", 5)
    assert not exact_match(ranked, "the table is booked.", 5)


@given(st.permutations(list(range(8))), st.sets(st.integers(0, 11), min_size=1), st.integers(1, 10))
def test_that_rank_metrics_are_their_definitions(ranked: list[int], relevant: set[int], k: int) -> None:
    hits = [rank for rank, item in enumerate(ranked) if item in relevant]
    assert recall(ranked, relevant, k) == float(Fraction(sum(rank < k for rank in hits), len(relevant)))
    assert reciprocal_rank(ranked, relevant) == (float(Fraction(1, hits[0] + 1)) if hits else 0.0)


def test_that_what_cannot_be_scored_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError, match="2 replies and 1 references"):
        bleu(["a", "b"], ["a"])
    with pytest.raises(UsageError, match="no reply"):
        bleu([], [])
    with pytest.raises(UsageError, match="Nothing is relevant"):
        recall([1], [], 1)
    with pytest.raises(UsageError, match="Nothing is relevant"):
        reciprocal_rank([1], [])
