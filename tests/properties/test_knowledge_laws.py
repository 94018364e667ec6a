"""Laws of knowledge: incremental indexing equals indexing anew, plans keep their order, saved values come back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.knowledge.base import Evidence, Passage, tenths
from dialoom.knowledge.consistency import lexical_consistency
from dialoom.knowledge.indexes import PassageIndex
from dialoom.knowledge.order import call_order, closed, feasible
from dialoom.knowledge.prompting import INDICATORS, plain
from dialoom.knowledge.terms import Lexicon, terms, words

WORDS = st.sampled_from(["red", "blue", "boot", "hat", "sale", "open", "猫", "狗"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
CONTENTS = st.dictionaries(st.sampled_from("abcdef"), TEXTS, max_size=6)


def held(index: PassageIndex, query: str) -> dict[str, float]:
    return {hit.passage.id: round(hit.score, 4) for hit in index.search(query, 10)}


@settings(max_examples=40, deadline=None)
@given(st.lists(CONTENTS, min_size=1, max_size=4), TEXTS)
def test_that_an_index_kept_up_to_date_equals_one_made_anew(versions: list[dict[str, str]], query: str) -> None:
    kept = PassageIndex()
    for version in versions:
        kept.replace(Passage(id_, text) for id_, text in version.items())
    anew = PassageIndex()
    anew.replace(Passage(id_, text) for id_, text in versions[-1].items())
    assert held(kept, query) == held(anew, query)
    kept.close()
    anew.close()


class Named:
    description = ""

    def __init__(self, name: str, depends_on: tuple[str, ...]) -> None:
        self.name = name
        self.depends_on = depends_on

    def search(self, query: object, n: int) -> list[Evidence]:
        raise NotImplementedError


@st.composite
def declared(draw: st.DrawFn) -> list[Named]:
    """Sources without circles, in any order of declaration."""
    names = ["A", "B", "C", "D", "E"][: draw(st.integers(1, 5))]
    sources = [
        Named(name, tuple(draw(st.lists(st.sampled_from(names[:i]), unique=True))) if i else ())
        for i, name in enumerate(names)
    ]
    return list(draw(st.permutations(sources)))


@given(declared(), st.data())
def test_that_a_closed_wish_is_always_feasible(sources: list[Named], data: st.DataObject) -> None:
    wish = data.draw(st.lists(st.sampled_from([source.name for source in sources])))
    plan = closed(wish, sources)
    assert set(wish) <= set(plan)
    assert feasible(plan, sources)
    assert feasible(call_order(sources), sources)
    assert closed(plan, sources) == plan


@given(st.text(max_size=60))
def test_that_any_text_has_terms_and_quotes_without_marks(text: str) -> None:
    assert all(words(text))
    assert all(terms(text))
    assert "\n" not in plain(text)
    assert not any(mark in plain(text) for mark in INDICATORS)
    vector = Lexicon.fit([text]).vector(text)
    assert list(vector.ids) == sorted(set(vector.ids))


@given(st.lists(st.sampled_from([*INDICATORS, "[", "]", "[E", "OE]", "x", " "]), max_size=8).map("".join))
def test_that_marks_cannot_be_put_together_from_pieces(text: str) -> None:
    assert not any(mark in plain(text) for mark in INDICATORS)


@given(TEXTS, TEXTS)
def test_that_consistency_is_a_share(reply: str, evidence: str) -> None:
    assert 0.0 <= lexical_consistency(reply, evidence) <= 1.0


@given(st.floats(-2, 2))
def test_that_tenths_are_tenths(value: float) -> None:
    assert tenths(value) in [i / 10 for i in range(11)]
