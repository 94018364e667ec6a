from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from dialoom.errors import NothingToLearn
from dialoom.evaluation.experiments.comparing import compare, compare_corpus
from dialoom.evaluation.metrics import distinct


def numbered(values: list[float]) -> dict[str, float]:
    return {f"i{n}": value for n, value in enumerate(values)}


def alone(values: dict[str, float]) -> dict[str, str]:
    return {item: item for item in values}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=9))
@settings(max_examples=40, deadline=None)
def test_that_the_exact_test_is_scipys(pairs: list[tuple[int, int]]) -> None:
    a, b = (numbered([float(pair[side]) for pair in pairs]) for side in (0, 1))
    found = compare("m", a, b, alone(a))
    told = permutation_test(
        (np.array(list(a.values())), np.array(list(b.values()))),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=10**6,  # more than there are: all of them
    )
    assert found.method == "exact permutation test"
    assert found.p == pytest.approx(min(1.0, told.pvalue), abs=1e-9)


def test_that_the_drawn_test_is_near_the_exact_one() -> None:
    rng = np.random.default_rng(3)
    a = numbered(list(rng.normal(0.4, 1, 40)))
    b = numbered(list(rng.normal(0.0, 1, 40)))
    found = compare("m", a, b, alone(a))
    told = permutation_test(
        (np.array(list(a.values())), np.array(list(b.values()))),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        random_state=np.random.default_rng(1),
    )
    assert found.p == pytest.approx(told.pvalue, abs=0.02)
    assert found.low < found.difference < found.high


def test_that_turns_of_one_dialogue_count_as_one_observation() -> None:
    a = numbered([1.0] * 40)
    b = numbered([0.0] * 40)
    groups = {item: f"d{n // 20}" for n, item in enumerate(a)}
    assert compare("m", a, b, alone(a)).p < 0.001
    assert compare("m", a, b, groups).p == 0.5  # two dialogues cannot prove anything: 2 of 4 sign flips


def test_that_equal_systems_are_no_different() -> None:
    a = numbered([0.1, 0.5, 0.9])
    found = compare("m", a, a, alone(a))
    assert (found.difference, found.p, found.low, found.high) == (0.0, 1.0, 0.0, 0.0)


def test_that_items_only_one_answered_are_left_out_and_counted() -> None:
    a, b = numbered([1.0, 2.0, 3.0]), numbered([1.0, 2.0])
    found = compare("m", a, b, alone(a))
    assert (found.items, found.unpaired) == (2, 1)
    with pytest.raises(NothingToLearn, match="answered by both"):
        compare("m", a, {"other": 1.0}, alone(a))


def test_that_a_true_null_is_rejected_about_as_often_as_it_should_be() -> None:
    rng = np.random.default_rng(0)
    rejected = 0
    for seed in range(200):
        a, b = (numbered(list(rng.normal(0, 1, 12))) for _ in range(2))
        rejected += compare("m", a, b, alone(a), seed=seed).real
    assert 1 <= rejected <= 22


def test_that_corpus_metrics_are_compared_by_swapping_whole_dialogues() -> None:
    said = {f"i{n}": " ".join(f"w{n}{k}" for k in range(6)) for n in range(12)}
    dull = dict.fromkeys(said, "all right then")
    groups = {item: item for item in said}
    found = compare_corpus("distinct-1", lambda replies: distinct(replies, 1), said, dull, groups)
    assert found.real
    assert (found.difference > 0, found.low > 0) == (True, True)
    same = compare_corpus("distinct-1", lambda replies: distinct(replies, 1), dull, dull, groups)
    assert (same.difference, same.p) == (0.0, 1.0)
