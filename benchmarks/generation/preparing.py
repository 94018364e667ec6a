"""Time from a computation to a constraint that a decoder can use, and time for longer and longer computations."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from benchmarks.generation.subjects import (
    WANTED,
    chain_of,
    grammar_of,
    graph_of,
    interleaved,
    library,
    median_ms,
    row,
    rules,
    sum_rules,
    sums,
)
from dialoom.dataflow import Graph
from dialoom.generation import Recogniser, Rules, sampler, shortest, text_of, to_gbnf, to_lark, transduce
from dialoom.generation.constraint import Guidance

RESEARCH_MS = 2225.0
"""What the decoder of the paper's own code (clamp, Shin et al. 2021) took to load a grammar of 998 productions.

Measured once, on another machine of two EPYC cores: it cannot be installed beside this."""


def measure(engine: Guidance, step_ms: float | None) -> None:
    print("\n2. Preparing a grammar (ms of processor time: transduce, prune and bound + split and emit + compile)")
    for wanted in WANTED:
        graph, grammar = graph_of(wanted), grammar_of(wanted)
        moved, emitted, both, whole = interleaved(
            [
                lambda g=graph: transduce(Graph(g.root, library), rules),
                lambda g=grammar: to_lark(g),
                lambda g=grammar: engine.constrain(g),
                lambda g=graph: engine.constrain(transduce(Graph(g.root, library), rules)),
            ]
        )
        stages = f"{moved:.2f} + {emitted:.2f} + {both - emitted:.2f}"
        aims = wanted == 1000
        row(f"{len(grammar.productions):,} productions: {stages}", f"{whole:.2f} ms", "")
        if aims:
            times = RESEARCH_MS / whole
            row("  times faster than the research decoder's 2,225 ms", f"{times:.0f}", ">= 150", times >= 150)
            if step_ms is not None:
                steps = whole / step_ms
                row(f"  in decode steps of the embedded model ({step_ms:.1f} ms)", f"{steps:.2f}", "< 2", steps < 2)
        text = text_of(grammar, sampler(grammar)())
        row(
            "  recognising a reply, its derivation included",
            f"{median_ms(lambda g=grammar, t=text: _derive(g, t)):.2f} ms",
            "",
        )
        _peers(wanted, grammar, both)


def _derive(grammar: Any, text: str) -> None:
    assert Recogniser(grammar).derivation(text) is not None


def _peers(wanted: int, grammar: Any, ours: float) -> None:
    """Other libraries on the same grammar in the same run: emitting and compiling, as multiples of our time."""
    for name, prepare in {"xgrammar": _xgrammar(grammar), "lark's Earley parser": _lark(grammar)}.items():
        if prepare is None:
            row(f"  {name}", "not installed", "")
        elif wanted <= 1000:
            took = median_ms(prepare, 5)
            row(f"  {name}, emit and compile", f"{took:.2f} ms, {took / ours:.1f} x ours", "")


def _xgrammar(grammar: Any) -> Callable[[], Any] | None:
    try:
        import xgrammar
    except ImportError:
        return None
    tokens = xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)] + [b"<end>"], stop_token_ids=[256])
    compiler = xgrammar.GrammarCompiler(tokens, max_threads=1, cache_enabled=False)
    return lambda: compiler.compile_grammar(to_gbnf(grammar))


def _lark(grammar: Any) -> Callable[[], Any] | None:
    try:
        import lark
    except ImportError:
        return None
    # Lark knows no empty literal; an empty alternative says the same.
    return lambda: lark.Lark(re.sub(r'(?m)(: |\| )""(?= \||$)', r"\1", to_lark(grammar)), lexer="dynamic")


def transduction() -> None:
    print("\n5. Transduction (ms of processor time)")
    sizes = (62, 125, 250, 500, 1000)
    graphs = [chain_of(n) for n in sizes]
    times = interleaved([lambda g=graph: transduce(Graph(g.root, sums), sum_rules) for graph in graphs], 9)
    for n, took, before in zip(sizes, times, (None, *times), strict=False):
        ratio = "" if before is None else f", {took / before:.2f} x the half"
        row(
            f"a chain of {n} nodes", f"{took:.2f} ms{ratio}", "<= 2.3", None if before is None else took / before <= 2.3
        )
    hundred = chain_of(100)
    productions = len(transduce(hundred, _six()).productions)
    took = median_ms(lambda: transduce(Graph(hundred.root, sums), _six()), 9)
    row(f"a chain of 100 nodes, {productions} productions", f"{took:.2f} ms", "< 28 ms", took < 28)
    deep = transduce(chain_of(1000), sum_rules)
    text = text_of(deep, shortest(deep))
    row(
        "a chain 1,000 deep, recognised",
        str(Recogniser(deep).accepts(text)),
        "no failure",
        Recogniser(deep).accepts(text),
    )
    again = Rules()
    again.include(sum_rules)
    again.add("NP", ("{NP <n>}, that is",), lambda node, _: {"n": node}, name="itself", place="here")
    looped = transduce(chain_of(50), again)
    said = Recogniser(looped).accepts(text_of(looped, sampler(looped)()))
    row("a rule that asks for itself on the same node", f"{len(looped.productions):,} productions", "no failure", said)


def _six() -> Rules:
    """Six productions for each sum: two for either number, two that only a sum has."""
    six = Rules()
    six.include(sum_rules)
    six.add("NP", ("({<n>})",), lambda node, _: {"n": node}, name="in brackets", place="here")
    return six
