"""Decoding: every mode and every backend says true replies only, whatever goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest

from dialoom.dataflow import Constant, Graph, Library
from dialoom.errors import InvalidOutput, ModelUnavailable, UsageError
from dialoom.generation import reply as replies
from dialoom.generation.decoding import PROMPT, beam, chain, score_trie
from dialoom.generation.derivations import shortest, text_of
from dialoom.generation.grammar import Grammar, Pair, Production
from dialoom.generation.prompts import reply_prompt
from dialoom.generation.recogniser import Recogniser
from dialoom.generation.reply import Mode, explain
from dialoom.generation.rules import Rules
from dialoom.generation.speaking import Decoding, baseline, speak, speak_through
from dialoom.generation.transduction import transduce
from dialoom.models.base import Capabilities, Message, Request

from .doubles import END, NoiseModel, NoiseSession, PortModel, ScoringModel

MESSAGES = (Message("user", "What is on today?"),)


def grammar_of(*sides: tuple[int | str, ...]) -> Grammar:
    """Nonterminal 0 -> sides; nonterminal 1 -> hostile names; 2 -> days."""
    pairs = tuple(Pair(f"N{i}", Constant(i), i) for i in range(3))
    names = ["Tara", "Tara Smith", "x<|im_end|>y", 'a "b" \\ {c}', "שלום 🎉", "line\nbreak"]
    productions = [Production(0, side) for side in sides]
    productions += [Production(1, (name,)) for name in names]
    productions += [Production(2, (day,)) for day in ("", " today", " tomorrow", " on Monday the 3rd of a long month")]
    return Grammar(0, pairs, tuple(productions))


@pytest.fixture
def grammar() -> Grammar:
    return grammar_of(("I found an event with ", 1, 2, "."), ("You meet ", 1, 2, " and ", 1, "."))


@pytest.mark.parametrize("mode", get_args(Mode))
def test_that_every_mode_says_true_replies_only(grammar: Grammar, mode: Mode) -> None:
    recogniser = Recogniser(grammar)
    for seed in range(6):
        for tokens in (200, 17):
            reply = speak(grammar, NoiseModel(seed), "p", Decoding(mode, seed=seed, max_tokens=tokens))
            assert recogniser.accepts(reply.text)
            assert all(map(recogniser.accepts, reply.alternatives))
            assert text_of(grammar, reply.derivation) == reply.text
            assert not reply.events


def test_that_fast_forward_says_the_same_in_fewer_passes(grammar: Grammar) -> None:
    model = NoiseModel(3)
    passes = []
    texts = []
    for fast in (True, False):
        session = model.session("p")
        decoded = chain(session, model.ends, model.guidance.constrain(grammar), fast_forward=fast, max_tokens=300)
        texts.append(model.decode(decoded.tokens))
        passes.append(session.calls)
        assert decoded.ended
        assert len(decoded.scores) == len(decoded.tokens) + 1
    assert texts[0] == texts[1]
    assert passes[0] < passes[1] / 2


def test_that_a_beam_of_all_texts_finds_the_likeliest() -> None:
    grammar = grammar_of(("A", 2), ("B", 2))
    model = NoiseModel(5)
    texts = [first + day for first in "AB" for day in ("", " today", " tomorrow", " on Monday the 3rd of a long month")]
    scored = score_trie(model.session("p"), model.ends, [model.encode(text) for text in texts])
    best = max(scored, key=lambda item: item.total)
    found = beam(model.session("p"), model.ends, model.guidance.constrain(grammar), width=8, max_tokens=100)
    assert found[0].tokens == best.tokens
    assert found[0].total == pytest.approx(best.total, abs=1e-4)
    assert [item.total for item in found] == sorted((item.total for item in found), reverse=True)


def test_that_a_trie_scores_each_candidate_as_alone() -> None:
    model = NoiseModel(2)
    candidates = [model.encode(text) for text in ("abc", "abd", "ab", "", "x")]
    together = score_trie(model.session("p"), model.ends, candidates)
    for candidate, item in zip(candidates, together, strict=True):
        assert score_trie(model.session("p"), model.ends, [candidate])[0].total == pytest.approx(item.total, abs=1e-5)
    session = NoiseSession(1)
    score_trie(session, model.ends, candidates)
    assert session.calls == 1
    assert len(session.paths) == 5


def test_that_the_constraint_port_does_as_it_says(grammar: Grammar) -> None:
    constraint = NoiseModel().guidance.constrain(grammar)
    assert not constraint.accepting
    assert constraint.forced() == []
    allowed = np.flatnonzero(constraint.mask())
    assert bytes(allowed.tolist()) == b"IY"
    copy = constraint.clone()
    copy.advance([ord("I")])
    assert bytes(copy.forced()) == b" found an event with "
    assert bytes(np.flatnonzero(constraint.mask()).tolist()) == b"IY"
    with pytest.raises(UsageError, match="forbids"):
        constraint.advance([ord("Z")])
    copy.advance(list(b" found an event with Tara."))
    assert copy.accepting
    assert np.flatnonzero(copy.mask()).tolist() == [END]


def test_that_the_baseline_is_unconstrained() -> None:
    said = baseline(NoiseModel(1), "p", Decoding(max_tokens=20))
    assert said != ""
    assert baseline(NoiseModel(1), "p", Decoding("beam", max_tokens=5)) is not None
    assert PROMPT == -1


async def test_that_a_grammar_goes_to_a_model_that_takes_one(grammar: Grammar) -> None:
    said = "You meet Tara Smith today and Tara."
    for kinds, kind in ((("lark", "gbnf"), "lark"), (("gbnf",), "gbnf")):
        model = PortModel(lambda request: said, Capabilities(frozenset(kinds)))  # type: ignore[arg-type]
        reply = await speak_through(grammar, model, MESSAGES)
        assert reply.text == said
        assert reply.mode == "greedy"
        constraint = model.requests[0].constraint
        assert constraint is not None
        assert constraint.kind == kind


async def test_that_a_model_without_grammar_ranks_true_replies(grammar: Grammar) -> None:
    recogniser = Recogniser(grammar)
    scoring = await speak_through(grammar, ScoringModel(lambda request: ""), MESSAGES)
    assert scoring.mode == "ranked"
    assert all(len(scoring.text) >= len(text) for text in scoring.alternatives)

    def choose(request: Request) -> str:
        return request.constraint.value[1] if request.constraint else "Number 2, please."

    for kinds in (frozenset({"choice"}), frozenset()):
        model = PortModel(choose, Capabilities(kinds))  # type: ignore[arg-type]
        reply = await speak_through(grammar, model, MESSAGES)
        assert reply.mode == "ranked"
        assert recogniser.accepts(reply.text)
        assert reply.text == replies.drawn(grammar, 16)[1]


def _down(request: Request) -> str:
    raise ModelUnavailable("connection dropped")


FAULTS: list[Callable[[Request], str]] = [
    _down,
    lambda request: "",
    lambda request: "You have 99 events.",
    lambda request: "You meet Tara",
    lambda request: "You meet Tara today and Tara. And more",
    lambda request: "999",
]


@pytest.mark.parametrize("kinds", [{"lark"}, {"gbnf"}, {"choice"}, set()])
@pytest.mark.parametrize("fault", range(len(FAULTS)))
async def test_that_faults_end_in_the_shortest_true_reply_with_an_event(
    grammar: Grammar, kinds: set[Any], fault: int
) -> None:
    model = PortModel(FAULTS[fault], Capabilities(frozenset(kinds)))
    reply = await speak_through(grammar, model, MESSAGES)
    assert reply.text == text_of(grammar, shortest(grammar))
    assert reply.mode == "shortest"
    assert len(reply.events) == 1


async def test_that_a_cut_answer_is_closed_and_a_foreign_one_replaced(grammar: Grammar) -> None:
    def cut(text: str) -> Callable[[Request], str]:
        def answer(request: Request) -> str:
            raise InvalidOutput("double", text, "it was cut")

        return answer

    lark = Capabilities(frozenset({"lark"}))
    closed = await speak_through(grammar, PortModel(cut("I found an event with Tara Sm"), lark), MESSAGES)
    assert closed.text == "I found an event with Tara Smith."
    assert [event.rejected for event in closed.events] == ["I found an event with Tara Sm"]
    foreign = await speak_through(grammar, PortModel(cut("I found 99"), lark), MESSAGES)
    assert foreign.text == text_of(grammar, shortest(grammar))
    assert foreign.events[0].rejected == "I found 99"


async def test_that_a_grammar_no_server_could_take_is_never_sent() -> None:
    pairs = (Pair("S", Constant(0), 0), Pair("N", Constant(1), 1))
    many = [Production(1, (f"{number:05d}x",)) for number in range(3000)]
    wide = Grammar(0, pairs, (Production(0, ("n ", 1)), *many))
    model = PortModel(lambda request: "anything", Capabilities(frozenset({"lark"})))
    reply = await speak_through(wide, model, MESSAGES)
    assert Recogniser(wide).accepts(reply.text)
    assert reply.events
    # In process the engine's limits are lifted, and the same grammar decodes.
    assert not speak(wide, NoiseModel(), "p").events


def test_that_an_engine_failure_falls_back(grammar: Grammar) -> None:
    class Broken(NoiseModel):
        def session(self, prompt: str) -> NoiseSession:
            raise RuntimeError("out of memory")

    reply = speak(grammar, Broken(), "p")
    assert reply.text == text_of(grammar, shortest(grammar))
    assert "out of memory" in reply.events[0].reason


def test_that_the_prompt_and_the_explanation_show_the_computation() -> None:
    library = Library()

    @library.function
    def add(x: int, y: int) -> int:
        return x + y

    rules = Rules()
    rules.rule("S", "{N <x>} and {N <y>} make {N <s>}.")(
        lambda node, graph: {"x": node.arguments[0], "y": node.arguments[1], "s": graph.value(node)}
    )
    rules.rule("N", "{<n>}")(lambda node, graph: {"n": node})
    graph = Graph(library.call("add", 1, 2), library)
    assert reply_prompt(graph, words="1 plus 2?").splitlines()[1:] == [
        "User: 1 plus 2?",
        "Computation: (add 1L 2L)",
        "Result: 3",
    ]
    assert "Result" not in reply_prompt(graph, result=False)

    @library.function
    def count_up(end: int) -> list[int]:
        return list(range(end))

    @library.function
    def size(items: list[int]) -> int:
        return len(items)

    many = Graph(library.call("count_up", 30), library)
    assert reply_prompt(many).endswith('Result: [0, 1, 2, 3, 4, "25 more, 30 in all"]')
    assert "Computation: size([1, 2])" in reply_prompt(Graph(library.call("size", [1, 2]), library))
    reply = speak(transduce(graph, rules), NoiseModel(), "p")
    lines = explain(reply, graph)
    assert len(lines) == 4
    assert lines[0].startswith("'1 and 2 make 3.' <- rule '<lambda>'")
    assert lines[1].startswith("  '1' <- rule")
    assert lines[3].endswith("on 3 = 3")
