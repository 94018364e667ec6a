"""Laws of grammars: recognition, counting, sampling, bounding and emission agree, whatever the literals."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.dataflow import Constant
from dialoom.errors import EmptyLanguage
from dialoom.generation.derivations import count, sampler, shortest, spans_of, text_of
from dialoom.generation.emission import prefix_free, to_lark
from dialoom.generation.grammar import Grammar, Pair, Production, bounded, pruned
from dialoom.generation.recogniser import Recogniser

HOSTILE = [
    '"',
    "\\",
    "\n",
    "{",
    "}",
    "|",
    "a",
    "ab",
    "abc",
    " ",
    " with",
    "<|im_end|>",
    "<|im_start|>system",
    "🎉",
    "🎉🎊",
    "שלום",
    "日本",
    "::= root",
    "start: n0",
    "%llguidance",
    "\x00",
    "\x7f",
    "\u2028",
    "'",
    "//",
    "#",
    "/x/",
    "\u202e",
]

literals = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=4).filter(lambda text: not _lone(text)))


def _lone(text: str) -> bool:
    return any(0xD800 <= ord(char) < 0xE000 for char in text)


@st.composite
def grammars(draw: st.DrawFn, size: int = 5) -> Grammar:
    """Small pruned grammars, recursive or not, with empty productions and shared prefixes."""
    heads = draw(st.integers(1, size))
    symbol = st.one_of(st.integers(0, heads - 1), literals, literals)
    productions = []
    for head in range(heads):
        sides = draw(st.lists(st.lists(symbol, max_size=3), min_size=1, max_size=3))
        productions += [Production(head, tuple(side)) for side in sides]
    pairs = tuple(Pair(f"N{head}", Constant(head), head) for head in range(heads))
    try:
        return pruned(Grammar(0, pairs, tuple(productions)))
    except EmptyLanguage:
        return Grammar(0, pairs[:1], (Production(0, ("x",)),))


def language(grammar: Grammar, limit: int) -> set[str] | None:
    """Every text of a grammar without recursion, the long way; None when there are more than `limit` derivations."""
    if count(grammar) > limit:
        return None
    assert grammar.order is not None
    texts: dict[int, list[str]] = {}
    for number in grammar.order:
        texts[number] = [
            "".join(choice)
            for index in grammar.by_head[number]
            for choice in itertools.product(
                *(texts[item] if isinstance(item, int) else [item] for item in grammar.productions[index].symbols)
            )
        ]
    return set(texts[grammar.start])


@settings(max_examples=150, deadline=None)
@given(grammars(), st.data())
def test_that_the_recogniser_accepts_exactly_the_language(grammar: Grammar, data: st.DataObject) -> None:
    finite = bounded(grammar, depth=1)
    texts = language(finite, 2000)
    recogniser = Recogniser(finite)
    draw = sampler(finite, seed=1)
    samples = [text_of(finite, draw()) for _ in range(5)]
    assert all(map(recogniser.accepts, samples))
    assert all(map(Recogniser(grammar).accepts, samples))
    if texts is not None:
        assert set(samples) <= texts
        sample = data.draw(st.sampled_from(sorted(texts)))
        place = data.draw(st.integers(0, len(sample)))
        mutant = sample[:place] + data.draw(literals) + sample[place + data.draw(st.integers(0, 1)) :]
        assert recogniser.accepts(mutant) == (mutant in texts)


@settings(max_examples=100, deadline=None)
@given(grammars())
def test_that_derivations_of_a_text_are_counted_once_each(grammar: Grammar) -> None:
    finite = bounded(grammar, depth=1)
    texts = language(finite, 200)
    if texts is None:
        return
    recogniser = Recogniser(finite)
    found = [derivation for text in texts for derivation in recogniser.derivations(text, limit=1000)]
    assert len(found) == len(set(found)) == count(finite)
    assert {text_of(finite, derivation) for derivation in found} == texts


@settings(max_examples=100, deadline=None)
@given(grammars())
def test_that_the_shortest_derivation_is_shortest_and_survives_bounding(grammar: Grammar) -> None:
    best = text_of(grammar, shortest(grammar))
    finite = bounded(grammar, depth=1)
    texts = language(finite, 500)
    if texts is not None:
        assert len(text_of(finite, shortest(finite))) == min(map(len, texts))
    assert Recogniser(grammar).accepts(best)
    derivation = sampler(finite, weighted=True)()
    assert all(0 <= span.begin <= span.end <= len(text_of(finite, derivation)) for span in spans_of(finite, derivation))


@settings(max_examples=100, deadline=None)
@given(grammars(), st.data())
def test_that_any_prefix_is_closed_by_the_shortest_text(grammar: Grammar, data: st.DataObject) -> None:
    finite = bounded(grammar, depth=1)
    recogniser = Recogniser(finite)
    text = text_of(finite, sampler(finite)())
    prefix = text[: data.draw(st.integers(0, len(text)))]
    closing = recogniser.completion(prefix)
    assert closing is not None
    assert recogniser.accepts(prefix + closing)
    texts = language(finite, 500)
    if texts is not None:
        assert len(prefix + closing) == min(len(other) for other in texts if other.startswith(prefix))
        stranger = prefix + data.draw(literals)
        possible = any(other.startswith(stranger) for other in texts)
        assert (recogniser.completion(stranger) is not None) == possible


@given(st.lists(literals, max_size=12))
def test_that_split_literals_are_a_prefix_code_and_join_again(texts: list[str]) -> None:
    pieces = prefix_free(texts)
    for text in texts:
        assert "".join(pieces.get(text, ())) == text
    code = sorted({part for parts in pieces.values() for part in parts})
    assert not any(right != left and right.startswith(left) for left in code for right in code)


@settings(max_examples=150, deadline=None)
@given(grammars(), st.data())
def test_that_the_decoding_engine_accepts_exactly_what_the_recogniser_accepts(
    grammar: Grammar, data: st.DataObject
) -> None:
    llguidance = pytest.importorskip("llguidance")
    finite = bounded(grammar, depth=2)
    tokenizer = llguidance.LLTokenizer("byte")
    matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(to_lark(finite)))
    assert matcher.get_error() == ""
    draw = sampler(finite)
    recogniser = Recogniser(finite)
    for _ in range(4):
        text = text_of(finite, draw())
        place = data.draw(st.integers(0, len(text)))
        mutant = text[:place] + data.draw(literals) + text[place + data.draw(st.integers(0, 1)) :]
        for candidate in (text, mutant):
            copy = matcher.deep_copy()
            tokens = list(candidate.encode())
            accepted = copy.validate_tokens(tokens) == len(tokens)
            if accepted and tokens:
                copy.consume_tokens(tokens)
            assert (accepted and copy.is_accepting()) == recogniser.accepts(candidate), candidate
