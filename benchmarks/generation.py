"""Grammars of true replies: completeness, time to prepare, mask and decode, linearity, and failing closed.

    python -m benchmarks.generation            grammars and faults only
    python -m benchmarks.generation --model    and decoding by the embedded weights through transformers

Every time is a median; every ratio compares two measurements of this run.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from dialoom.dataflow import Call, Constant, Graph, Library, from_lispress
from dialoom.errors import ModelTimeout, ModelUnavailable, UsageError
from dialoom.generation import Decoding, Grammar, Recogniser, Rules, sampler, shortest, speak, speak_through, text_of
from dialoom.generation.constraint import Guidance
from dialoom.generation.decoding import beam, chain
from dialoom.generation.emission import to_lark
from dialoom.generation.grammar import Pair, Production
from dialoom.generation.transduction import transduce
from dialoom.models.base import Capabilities, Completion, Message, Request

SIZES = {"10": 2, "100": 16, "1000": 166, "5000": 833}
library = Library()
rules = Rules()


@library.function
def add(x: int, y: int) -> int:
    return x + y


@rules.rule("S", "It is {NP <n>}.", "The answer is {NP <n>}, which is {<n>}.")
def answer(node: Any, _: Graph) -> dict[str, Any]:
    return {"n": node}


@rules.rule("NP", "{<n>}", '"{<n>}"')
def number(node: Any, _: Graph) -> dict[str, Any]:
    return {"n": node}


@rules.rule("NP", "the sum of {NP <x>} and {NP <y>}", "{NP <x>} plus {NP <y>}")
def part(node: Any, _: Graph) -> dict[str, Any] | None:
    match node:
        case Call("add", (x, y)):
            return {"x": x, "y": y}
    return None


def program(n: int) -> str:
    return "".join(f"(add {i}L " for i in range(n)) + "0L" + ")" * n


def grammar_of(n: int) -> Grammar:
    return transduce(Graph(from_lispress(program(n), library), library), rules)


def median_ms(work: Callable[[], Any], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times)


def accepted(constraint: Any, text: str) -> bool:
    copy = constraint.clone()
    try:
        copy.advance(list(text.encode()))
    except UsageError:
        return False
    return bool(copy.accepting)


def completeness(engine: Guidance, samples: int = 2500) -> None:
    print(f"\n{'productions':>12} {'accepted':>12} {'mutants':>9} {'disagree':>9}")
    chance = random.Random(0)
    for name, n in SIZES.items():
        grammar = grammar_of(n)
        draw, constraint, recogniser = sampler(grammar), engine.constrain(grammar), Recogniser(grammar)
        few = samples if n < 100 else samples // 10
        texts = [text_of(grammar, draw()) for _ in range(few)]
        good = sum(accepted(constraint, text) for text in texts)
        mutants = []
        for text in texts[: few // 10]:
            place = chance.randrange(len(text))
            mutants.append(text[:place] + chance.choice(' 1"sp') + text[place + chance.randrange(2) :])
        disagree = sum(accepted(constraint, text) != recogniser.accepts(text) for text in mutants)
        print(f"{len(grammar.productions):>12} {good:>6}/{few:<5} {len(mutants):>9} {disagree:>9}  ({name})")


def preparation(engine: Guidance) -> None:
    print(f"\n{'productions':>12} {'transduce':>10} {'emit':>8} {'compile':>8} {'mask us':>8} {'recognise':>10}   (ms)")
    for n in SIZES.values():
        root = from_lispress(program(n), library)
        grammar = grammar_of(n)
        moved = median_ms(lambda root=root: transduce(Graph(root, library), rules))  # type: ignore[misc]
        emitted = median_ms(lambda grammar=grammar: to_lark(grammar))  # type: ignore[misc]
        built = median_ms(lambda grammar=grammar: engine.constrain(grammar)) - emitted  # type: ignore[misc]
        constraint = engine.constrain(grammar)
        constraint.mask()
        mask = 1000 * median_ms(constraint.mask, 200)
        text = text_of(grammar, shortest(grammar))
        found = median_ms(lambda g=grammar, t=text: Recogniser(g).accepts(t))  # type: ignore[misc]
        row = f"{moved:>10.2f} {emitted:>8.2f} {built:>8.2f} {mask:>8.1f} {found:>10.2f}"
        print(f"{len(grammar.productions):>12} {row}")


def linearity() -> None:
    print(f"\n{'nodes':>12} {'ms':>8} {'time(2n)/time(n)':>18}")
    last = 0.0
    for n in (62, 125, 250, 500, 1000):
        root = from_lispress(program(n), library)
        took = median_ms(lambda root=root: transduce(Graph(root, library), rules), 9)  # type: ignore[misc]
        print(f"{n:>12} {took:>8.2f} {took / last if last else float('nan'):>18.2f}")
        last = took


class FaultyModel:
    """Answers with a fault drawn at random: noise, a cut, a foreign text, silence, a dropped connection, a timeout."""

    name = "faulty"

    def __init__(self, kinds: frozenset[Any], reply: str, seed: int) -> None:
        self.capabilities = Capabilities(kinds)
        self._reply = reply
        self._chance = random.Random(seed)

    async def generate(self, request: Request) -> Completion:  # noqa: ARG002 (a port's signature)
        fault = self._chance.randrange(6)
        if fault == 4:
            raise ModelUnavailable("dropped")
        if fault == 5:
            raise ModelTimeout("slow")
        texts = ("", "aaaaah!", self._reply[: len(self._reply) // 2], self._reply + " Trust me.")
        return Completion(texts[fault])

    async def stream(self, request: Request) -> Any:
        yield (await self.generate(request)).text


def wide(n: int = 3000) -> Grammar:
    pairs = (Pair("S", Constant(0), 0), Pair("N", Constant(1), 1))
    return Grammar(0, pairs, (Production(0, ("n ", 1)), *(Production(1, (f"{i:05d}x",)) for i in range(n))))


async def failing_closed(runs: int = 1000) -> None:
    grammars = [*(grammar_of(n) for n in (1, 2, 3, 4)), wide()]
    outside = replaced = 0
    kinds: list[frozenset[Any]] = [frozenset({kind}) for kind in ("lark", "gbnf", "choice")] + [frozenset()]
    for run in range(runs):
        grammar = grammars[run % len(grammars) if run % 50 == 0 else run % 4]
        model = FaultyModel(kinds[run % 4], text_of(grammar, shortest(grammar)), run)
        reply = await speak_through(grammar, model, [Message("user", "?")])
        outside += not Recogniser(grammar).accepts(reply.text)
        replaced += bool(reply.events)
    print(f"\nfaults: {runs} runs, {outside} replies outside the grammar, {replaced} replaced with an event")


def decoding() -> None:
    from dialoom.generation.transformers_model import TransformersTokenModel
    from dialoom.models.embedded import default_weights

    model = TransformersTokenModel.load(default_weights())
    grammar = grammar_of(12)
    prompt = "Say what 1 and 2 make."
    sessions = {"made": 0.0}

    def fresh() -> Any:
        began = time.perf_counter()
        session = model.session(prompt)
        sessions["made"] += time.perf_counter() - began
        return session

    def step_ms(decode: Callable[[], int], repeats: int = 5) -> float:
        """Median milliseconds per forward pass, without reading the prompt."""
        found = []
        for _ in range(repeats):
            sessions["made"] = 0.0
            began = time.perf_counter()
            passes = decode()
            found.append(1000 * (time.perf_counter() - began - sessions["made"]) / passes)
        return statistics.median(found)

    def constrained(fast: bool) -> Any:
        return chain(fresh(), model.ends, model.guidance.constrain(grammar), fast_forward=fast, max_tokens=24)

    free = step_ms(lambda: chain(fresh(), frozenset(), None, max_tokens=24).passes)
    slow = step_ms(lambda: constrained(False).passes)
    whole = step_ms(lambda: constrained(False).passes and 1) / step_ms(lambda: constrained(True).passes and 1)
    same = constrained(True).tokens == constrained(False).tokens
    wide_free = step_ms(lambda: _passes(beam(fresh(), frozenset(), None, max_tokens=12)))
    wide_held = step_ms(lambda: _passes(beam(fresh(), frozenset(), model.guidance.constrain(grammar), max_tokens=12)))
    constraint = model.guidance.constrain(grammar)
    mask = median_ms(constraint.mask, 200)
    print(f"\na free step: {free:.1f} ms; a mask: {100 * mask / free:.2f} % of it")
    print(f"constrained / free, per step, compiling included: {slow / free:.2f}")
    print(f"without / with fast-forward, whole reply: {whole:.2f}; same tokens: {same}")
    print(f"beam of 5, constrained / free, per step: {wide_held / wide_free:.2f}")
    assert speak(grammar, model, prompt, Decoding(max_tokens=10)).events == ()


def _passes(found: list[Any]) -> int:
    return max(item.passes for item in found) or 12


def main() -> None:
    engine = Guidance.of_bytes()
    completeness(engine)
    preparation(engine)
    linearity()
    asyncio.run(failing_closed())
    if "--model" in sys.argv[1:]:
        decoding()


if __name__ == "__main__":
    main()
