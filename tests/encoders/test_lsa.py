from __future__ import annotations

import numpy as np
import pytest

from dialoom.encoders.base import Encoder
from dialoom.encoders.lsa import LSAEncoder
from dialoom.encoders.words import words
from dialoom.errors import InvalidFile, NothingToLearn
from dialoom.testing.workflows import dialogues

TEXTS = [utterance.text for dialogue in dialogues(40) for utterance in dialogue.utterances]


@pytest.fixture(scope="module")
def encoder() -> LSAEncoder:
    return LSAEncoder.fit(TEXTS, dimension=24)


def test_that_words_stand_for_values_and_any_script() -> None:
    assert words("Pay $12.50 to a.b@c.org, Émile!") == ["pay", "<number>", "to", "<email>", "émile"]
    assert words("[NAME] isn’t here?") == ["<name>", "isn't", "here", "?"]
    assert words("你好 ok") == ["你", "好", "ok"]


def test_that_rows_are_unit_and_unknown_words_give_zero(encoder: LSAEncoder) -> None:
    assert isinstance(encoder, Encoder)
    rows = encoder.encode(["what is your name", "xyzzy"])
    assert rows.shape == (2, 24)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1.0, 0.0], abs=1e-5)


def test_that_likeness_of_meaning_is_nearness(encoder: LSAEncoder) -> None:
    asked, same, other = encoder.encode(["What is your name, please?", "May I have your name?", "your room is booked"])
    assert asked @ same > asked @ other + 0.2


def test_that_a_text_is_encoded_alike_alone_and_in_a_batch(encoder: LSAEncoder) -> None:
    many = encoder.encode(TEXTS[:50])
    alone = np.vstack([encoder.encode([text]) for text in TEXTS[:50]])
    assert np.allclose(many, alone, atol=1e-5)


def test_that_order_does_not_matter_and_a_loaded_encoder_is_equal(encoder: LSAEncoder) -> None:
    parts = encoder.to_parts()
    assert LSAEncoder.fit(TEXTS[::-1], dimension=24).to_parts() == parts
    assert np.array_equal(LSAEncoder.from_parts(parts).encode(TEXTS[:9]), encoder.encode(TEXTS[:9]))


def test_that_nothing_to_learn_and_broken_parts_are_said(encoder: LSAEncoder) -> None:
    with pytest.raises(NothingToLearn):
        LSAEncoder.fit(["", "!!"])
    parts = encoder.to_parts()
    with pytest.raises(InvalidFile, match="lsa_factors"):
        LSAEncoder.from_parts({k: v for k, v in parts.items() if k != "lsa_factors.npy"})
    with pytest.raises(InvalidFile):
        LSAEncoder.from_parts({**parts, "terms.json": b"{}"})


def test_that_one_text_is_enough() -> None:
    assert LSAEncoder.fit(["hello there"]).encode(["hello"]).shape[0] == 1
