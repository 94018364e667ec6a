"""Replies that have been recognised: what every mode and every backend gives back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dialoom.dataflow import Computation, Failure, Graph, label
from dialoom.generation.derivations import Derivation, Span, sampler, shortest, spans_of, text_of
from dialoom.generation.grammar import Grammar
from dialoom.generation.recogniser import Recogniser

Mode = Literal["greedy", "beam", "sample", "random", "ranked", "shortest"]


@dataclass(frozen=True, slots=True)
class Replaced:
    """An event: what a backend gave could not be shown, and the shortest true derivation took its place.

    `reason` says what went wrong; `rejected` is the text that was not shown, empty where there was none.
    """

    reason: str
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """A text of the language, always; so are its alternatives. `spans` lead from its parts to rules and nodes."""

    text: str
    mode: Mode
    derivation: Derivation
    spans: tuple[Span, ...]
    alternatives: tuple[str, ...] = ()
    events: tuple[Replaced, ...] = ()


def recognised(grammar: Grammar, candidates: Sequence[str], mode: Mode, *, events: Sequence[Replaced] = ()) -> Reply:
    """The first candidate that the exact recogniser accepts; the other accepted ones are its alternatives.

    Every rejected candidate is an event. Where none is accepted, the reply is the shortest true derivation.
    """
    recogniser = Recogniser(grammar)
    accepted: dict[str, Derivation] = {}
    happened = list(events)
    for text in candidates:
        derivation = recogniser.derivation(text)
        if derivation is None:
            happened.append(Replaced("The text is not in the language of true replies.", text))
        else:
            accepted.setdefault(text, derivation)
    if not accepted:
        best = shortest(grammar)
        accepted[text_of(grammar, best)] = best
        mode = "shortest"
    text, derivation = next(iter(accepted.items()))
    return Reply(text, mode, derivation, spans_of(grammar, derivation), tuple(accepted)[1:], tuple(happened))


def drawn(grammar: Grammar, n: int = 16, *, seed: int = 0, weighted: bool = True) -> list[str]:
    """Up to `n` different true replies at random, the shortest among them first."""
    draw = sampler(grammar, seed=seed, weighted=weighted)
    texts = {text_of(grammar, shortest(grammar)): None}
    for _ in range(4 * n):
        if len(texts) >= n:
            break
        texts[text_of(grammar, draw())] = None
    return list(texts)


def fallback(grammar: Grammar, reason: str, rejected: str = "") -> Reply:
    """The shortest true derivation, with the event that says why."""
    return recognised(grammar, [], "shortest", events=[Replaced(reason, rejected)])


def explain(reply: Reply, graph: Graph) -> list[str]:
    """One line for each span that a rule said: the words, the rule, the node and its value, inner ones indented."""
    lines = []
    open_: list[int] = []
    for span in reply.spans:
        while open_ and span.begin >= open_[-1] and (span.end > open_[-1] or span.begin == open_[-1]):
            open_.pop()
        words = reply.text[span.begin : span.end]
        shown = valued(graph, span.pair.node)
        lines.append(f"{'  ' * len(open_)}{words!r} <- {span.rule} on {label(span.pair.node)} = {shown}")
        open_.append(span.end)
    return lines


def valued(graph: Graph, node: Computation) -> str:
    """The value of a node for a reader, or its error."""
    value = graph.outcome(node)
    return f"error: {value.error}" if isinstance(value, Failure) else _short(repr(value))


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else f"{text[: limit - 3]}..."
