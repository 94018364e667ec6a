import numpy as np

from dialoom.knowledge.terms import Lexicon, terms, words


def test_that_words_are_lower_case_and_chinese_gives_characters_and_pairs() -> None:
    assert words("Hello, WORLD 42") == ["hello", "world", "42"]
    assert words("天蝎座") == ["天", "蝎", "座", "天蝎", "蝎座"]


def test_that_spaces_inside_chinese_do_not_matter() -> None:
    assert terms("我 最喜欢 科幻片") == terms("我最喜欢科幻片")


def test_that_inflected_words_share_terms() -> None:
    assert set(terms("returning")) & set(terms("returned"))


def test_that_rare_terms_weigh_more() -> None:
    lexicon = Lexicon.fit(["the cat", "the dog", "the bird"])
    vector = lexicon.vector("the cat")
    weights = sorted(vector.mass)
    assert weights[0] < weights[-1]
    assert np.isclose(weights[0], 1.0)


def test_that_a_lexicon_survives_saving() -> None:
    lexicon = Lexicon.fit(["the cat", "the dog"])
    again = Lexicon.from_parts(lexicon.parts())
    assert np.array_equal(lexicon.vector("the cat").weights, again.vector("the cat").weights)


def test_that_a_text_without_words_has_no_terms_and_a_norm_to_divide_by() -> None:
    vector = Lexicon.fit(["a"]).vector("?!")
    assert len(vector.ids) == 0
    assert vector.norm == 1.0
