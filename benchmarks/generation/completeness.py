"""Whether every reply of a language, and nothing else, is accepted by what decodes or checks it.

Acceptors: llguidance on the Lark text, by bytes and by the tokens of the embedded model where its weights are there;
the grammar text that the models port sends to llama.cpp, vLLM and SGLang, as read by that port's own matcher, which
checks every answer from them; and the GBNF text as read by xgrammar, an engine that is not ours, where it is installed
(llama.cpp itself cannot be asked whether it accepts a text).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from benchmarks.generation.subjects import WANTED, grammar_of, row
from dialoom.errors import UsageError
from dialoom.generation import Grammar, Recogniser, sampler, text_of, to_gbnf, to_lark
from dialoom.generation.constraint import Guidance
from dialoom.models.base import Constraint
from dialoom.models.constraints import compiled

SAMPLES = 10_000
Accepts = Callable[[str], bool]


def by_guidance(grammar: Grammar, engine: Guidance, encode: Callable[[str], list[int]]) -> Accepts:
    constraint = engine.constrain(grammar)

    def accepts(text: str) -> bool:
        copy = constraint.clone()
        try:
            copy.advance(encode(text))
        except UsageError:
            return False
        return copy.accepting

    return accepts


def by_port(grammar: Grammar) -> Accepts:
    sent = compiled(Constraint("lark", to_lark(grammar)))
    return lambda text: not sent.problem(text)


def by_xgrammar(grammar: Grammar) -> Accepts | None:
    try:
        import xgrammar
    except ImportError:
        return None
    tokens = xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"<end>"], stop_token_ids=[256])
    whole = xgrammar.GrammarCompiler(tokens, max_threads=1, cache_enabled=False).compile_grammar(to_gbnf(grammar))

    def accepts(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(whole)
        return bool(matcher.accept_string(text) and matcher.accept_token(256))

    return accepts


def acceptors(grammar: Grammar, model: Any) -> dict[str, Accepts | None]:
    found = {
        "llguidance, bytes": by_guidance(grammar, Guidance.of_bytes(), lambda text: list(text.encode())),
        "the port's grammar": by_port(grammar),
        "GBNF in xgrammar": by_xgrammar(grammar),
    }
    if model is not None:
        found["llguidance, model's tokens"] = by_guidance(grammar, model.guidance, model.encode)
    return found


def mutated(text: str, other: str, chance: random.Random) -> str:
    """A text like a reply: cut, with a character gone, changed or added, or the end of another reply."""
    place = chance.randrange(len(text) + 1)
    kind = chance.randrange(5)
    if kind == 0:
        return text[:place]
    if kind == 1:
        return text[:place] + other[chance.randrange(len(other) + 1) :]
    return text[:place] + (chance.choice(' 1:"PMa.') if kind > 2 else "") + text[place + (kind < 4) :]


def measure(model: Any, samples: int = SAMPLES) -> None:
    print(f"\n1. Completeness: {samples:,} sampled replies and as many mutated ones for each grammar and acceptor")
    for wanted in WANTED:
        grammar = grammar_of(wanted)
        draw, chance, recogniser = sampler(grammar), random.Random(wanted), Recogniser(grammar)
        texts = [text_of(grammar, draw()) for _ in range(samples)]
        mutants = [mutated(text, chance.choice(texts), chance) for text in texts]
        size = f"{len(grammar.productions):,} productions"
        known = sum(map(recogniser.accepts, texts))
        row(f"{size}, own recogniser", f"{100 * known / samples:.2f} %", "100 %", known == samples)
        good: dict[str, int] = {}
        passed: dict[str, set[str]] = {}
        for name, accepts in acceptors(grammar, model).items():
            if accepts is None:
                row(f"{size}, {name}", "not installed", "")
                continue
            good[name] = sum(map(accepts, texts))
            passed[name] = set(filter(accepts, mutants))
        # What no acceptor accepts needs no judge; on the rest all of them must agree with the recogniser.
        true = {text for text in set().union(*passed.values()) if recogniser.accepts(text)}
        for name, accepted in good.items():
            wrong, lost = len(passed[name] - true), len(true - passed[name])
            value = f"{100 * accepted / samples:.2f} %, {wrong} wrong, {lost} lost"
            row(f"{size}, {name}", value, "100 %, 0, 0", accepted == samples and not wrong and not lost)
        row(f"{size}, mutated replies that are true replies", f"{len(true):,} of {samples:,}", "")
