"""Decoding under a grammar against decoding without one, step by step in one process, by the embedded weights."""

from __future__ import annotations

import asyncio
import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.generation.subjects import grammar_of, row
from dialoom.generation import Decoding, Grammar, sampler, speak, text_of, to_gbnf
from dialoom.generation.decoding import Scores, Session, beam, chain, score_trie
from dialoom.generation.reply import drawn
from dialoom.models.base import Message, Request, Sampling

PROMPT = "Answer the user. User: What is on my calendar? Computation: (events) Result: a list of meetings."
NOBODY: frozenset[int] = frozenset()
STEPS = 20


class Stepped:
    """A session that notes when each step began, in processor seconds: a step is all that happens until the next."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.began: list[float] = []

    @property
    def logits(self) -> Scores:
        return self._session.logits

    def extend(self, tokens: Sequence[int], parents: Sequence[int]) -> Scores:
        self.began.append(time.process_time())
        return self._session.extend(tokens, parents)

    @property
    def steps(self) -> list[float]:
        return [1000 * (after - before) for before, after in zip(self.began, self.began[1:], strict=False)]


def alternately(model: Any, ways: Sequence[Callable[[Stepped], Any]], repeats: int) -> list[float]:
    """Median milliseconds of a step each way; the ways take turns, each on a fresh session that is not timed."""
    found: list[list[float]] = [[] for _ in ways]
    for turn in range(repeats):
        for number in range(len(ways)) if turn % 2 else reversed(range(len(ways))):
            session = Stepped(model.session(PROMPT))
            gc.collect()
            ways[number](session)
            found[number] += session.steps
    return [statistics.median(times) for times in found]


def masks(model: Any, grammar: Grammar, step_ms: float) -> None:
    """Mask, apply and advance along ten replies, token by token."""
    draw, scores = sampler(grammar), np.zeros(model.guidance.tokenizer.vocab_size, np.float32)
    taken = []
    whole = model.guidance.constrain(grammar)
    for _ in range(10):
        constraint = whole.clone()
        for token in model.encode(text_of(grammar, draw())):
            began = time.process_time()
            np.where(constraint.mask(), scores, np.float32(-np.inf))
            constraint.advance([token])
            taken.append(1000 * (time.process_time() - began))
    share = statistics.median(taken) / step_ms
    row(f"mask, apply and advance, median of {len(taken)}, of a step", f"{100 * share:.2f} %", "<= 1 %", share <= 0.01)
    _peer_masks(model, grammar, statistics.median(taken))


def _peer_masks(model: Any, grammar: Grammar, ours: float) -> None:
    try:
        import xgrammar
    except ImportError:
        row("  xgrammar, mask and advance", "not installed", "")
        return
    size = model.guidance.tokenizer.vocab_size
    info = xgrammar.TokenizerInfo.from_huggingface(model.tokenizer, vocab_size=size, stop_token_ids=sorted(model.ends))
    whole = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False).compile_grammar(to_gbnf(grammar))
    bits = xgrammar.allocate_token_bitmask(1, size)
    draw, scores, taken = sampler(grammar), np.zeros(size, np.float32), []
    for _ in range(10):
        matcher = xgrammar.GrammarMatcher(whole)
        for token in model.encode(text_of(grammar, draw())):
            began = time.process_time()
            matcher.fill_next_token_bitmask(bits)
            allowed = np.unpackbits(bits.numpy().view(np.uint8)[0], bitorder="little", count=size).astype(np.bool_)
            np.where(allowed, scores, np.float32(-np.inf))
            matcher.accept_token(token)
            taken.append(1000 * (time.process_time() - began))
    took = statistics.median(taken)
    row("  xgrammar, mask, apply and advance", f"{took:.3f} ms, {took / ours:.2f} x ours", "")


def measure(model: Any) -> None:
    print("\n3. One step (processor time, prompt and compiling apart)")
    grammar = grammar_of(1000)
    # Until the tokens run out, so that both take as many steps; the constraint is compiled before.
    whole = model.guidance.constrain(grammar)
    free, held = alternately(
        model,
        [
            lambda session: chain(session, NOBODY, None, max_tokens=STEPS),
            lambda session: chain(session, NOBODY, whole.clone(), max_tokens=STEPS, fast_forward=False),
        ],
        7,
    )
    masks(model, grammar, free)
    row(f"constrained / free ({free:.1f} ms)", f"{held / free:.3f}", "<= 1.03", held / free <= 1.03)
    slow, fast, same = ends_meet(model, grammar)
    row(
        f"whole reply without / with fast-forward ({slow:.0f} / {fast:.0f} ms), same text: {same}",
        f"{slow / fast:.2f}",
        ">= 1.3",
        slow / fast >= 1.3 and same,
    )

    print("\n4. A beam of 5")
    wide, bound = alternately(
        model,
        [
            lambda session: beam(session, NOBODY, None, max_tokens=STEPS // 2),
            lambda session: beam(session, NOBODY, whole.clone(), max_tokens=STEPS // 2),
        ],
        5,
    )
    row(f"constrained / free ({wide:.1f} ms), per step", f"{bound / wide:.3f}", "<= 1.05", bound / wide <= 1.05)
    row("a beam's step / a greedy step, constrained", f"{bound / held:.2f}", "<= 2.0", bound / held <= 2)
    memory(model, whole)
    ranking(model, grammar)


def ends_meet(model: Any, grammar: Grammar) -> tuple[float, float, bool]:
    """Whole replies, prompt and compiling and recognising included: without and with fast-forward."""
    times: dict[bool, list[float]] = {False: [], True: []}
    texts = set()
    for _ in range(3):
        for fast, found in times.items():
            began = time.process_time()
            texts.add(speak(grammar, model, PROMPT, Decoding(max_tokens=48, fast_forward=fast)).text)
            found.append(1000 * (time.process_time() - began))
    return statistics.median(times[False]), statistics.median(times[True]), len(texts) == 1


def memory(model: Any, constraint: Any) -> None:
    """Rows of the key-value cache after a beam of 5 on a long prompt, against a batch of five copies of it."""
    prompt = (PROMPT + " ") * 60
    session = model.session(prompt)
    beam(session, NOBODY, constraint.clone(), max_tokens=4)
    held = session.cached_tokens
    rows = session.prompt_tokens
    batch = 5 * (rows + 4)
    row(
        f"cache rows, prompt of {rows:,} tokens: tree / batch of five",
        f"{held:,} / {batch:,}, {held / batch:.2f}",
        "<= 0.3",
        held / batch <= 0.3,
    )


def ranking(model: Any, grammar: Grammar) -> None:
    """Sixteen candidates scored as one trie in one pass, and one after the other."""
    candidates = [model.encode(text) for text in drawn(grammar, 16)]
    session = model.session(PROMPT)
    began = time.process_time()
    together = score_trie(session, model.ends, candidates)
    once = time.process_time() - began
    sessions = [model.session(PROMPT) for _ in candidates]
    began = time.process_time()
    apart = [score_trie(one, model.ends, [tokens])[0] for one, tokens in zip(sessions, candidates, strict=True)]
    took = time.process_time() - began
    gap = max(abs(a.total - b.total) for a, b in zip(together, apart, strict=True))
    row("16 candidates, one by one / one trie", f"{took / once:.2f}", "")
    row("  greatest difference of a log-likelihood", f"{gap:.1e}", "<= 1e-2", gap <= 1e-2)


def embedded_step_ms() -> float | None:
    """Processor milliseconds of a decode step of the embedded model, by the difference of long and short answers."""
    from dialoom.models.embedded import EmbeddedModel

    model = EmbeddedModel()

    def answer(tokens: int) -> float:
        request = Request((Message("user", PROMPT),), Sampling(max_tokens=tokens, temperature=0.0))
        began = time.process_time()
        asyncio.run(model.generate(request))
        return 1000 * (time.process_time() - began)

    answer(2)
    return statistics.median([(answer(17) - answer(1)) / 16 for _ in range(5)])
