"""Decoders over one primitive: extend a tree of tokens that shares one prompt (dataflow transduction, sec. 4).

A chain is greedy or sampled text, K branches are a beam (K = 5 in the paper), a trie is a set of candidates. Each token
attends to the prompt and to its ancestors, so that the prompt is held once whatever the mode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dialoom.generation.constraint import Guidance, TokenConstraint

Scores = NDArray[np.float32]
PROMPT = -1


@runtime_checkable
class Session(Protocol):
    """A prompt that has been read, and the tree of tokens after it."""

    @property
    def logits(self) -> Scores:
        """Scores of the token after the prompt, shape (vocabulary,)."""
        ...

    def extend(self, tokens: Sequence[int], parents: Sequence[int]) -> Scores:
        """Adds tokens, one row of scores each, shape (len(tokens), vocabulary), in one forward pass.

        Tokens are numbered from 0 in the order they are added; `parents` are such numbers, `PROMPT` for the first
        after the prompt; a parent comes before its children, perhaps in the same call.
        """
        ...


@runtime_checkable
class TokenModel(Protocol):
    """A language model whose next-token scores can be read."""

    @property
    def ends(self) -> frozenset[int]:
        """Tokens that end a reply."""
        ...

    @property
    def guidance(self) -> Guidance:
        """The constraint engine for its tokens."""
        ...

    def encode(self, text: str) -> list[int]:
        """Tokens of a reply's text; special-token text is read as plain text."""
        ...

    def decode(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens."""
        ...

    def session(self, prompt: str) -> Session:
        """Reads a prompt."""
        ...


@dataclass(frozen=True, slots=True)
class Decoded:
    """Tokens without their end, the log-likelihood of each (nats), whether an end came, and forward passes used."""

    tokens: tuple[int, ...]
    scores: tuple[float, ...] = ()
    ended: bool = True
    passes: int = 0

    @property
    def total(self) -> float:
        """The log-likelihood of the whole."""
        return float(sum(self.scores))


@dataclass(slots=True)
class Choice:
    """How to choose a token: the likeliest at temperature 0, else at random among the `top_p` mass."""

    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    _random: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def pick(self, scores: Scores) -> int:
        """A token id."""
        if self.temperature <= 0:
            return int(np.argmax(scores))
        likelihood = np.exp(log_softmax(scores / self.temperature).astype(np.float64))
        order = np.argsort(-likelihood)
        kept = order[: int(np.searchsorted(np.cumsum(likelihood[order]), self.top_p)) + 1]
        share = likelihood[kept] / likelihood[kept].sum()
        return int(self._random.choice(kept, p=share))


def chain(
    session: Session,
    ends: frozenset[int],
    constraint: TokenConstraint | None,
    *,
    max_tokens: int = 128,
    choice: Choice | None = None,
    fast_forward: bool = True,
) -> Decoded:
    """One text, token by token: greedy or sampled, with forced tokens read in one pass; unconstrained without one."""
    choice = choice or Choice()
    tokens: list[int] = []
    scores: list[float] = []
    passes = 0
    last = session.logits
    while len(tokens) < max_tokens:
        block = constraint.forced()[: max_tokens - len(tokens)] if constraint and fast_forward else []
        if not block:
            token = choice.pick(_allowed(last, constraint))
            if token in ends:
                return Decoded(tuple(tokens), (*scores, _score(last, token)), True, passes)
            block = [token]
        if constraint:
            constraint.advance(block)
        first = len(tokens)
        rows = session.extend(block, [first + offset - 1 for offset in range(len(block))])
        passes += 1
        for offset, token in enumerate(block):
            scores.append(_score(rows[offset - 1] if offset else last, token))
        tokens += block
        last = rows[-1]
    return Decoded(tuple(tokens), tuple(scores), False, passes)


@dataclass(frozen=True, slots=True)
class _Beam:
    tokens: tuple[int, ...]
    scores: tuple[float, ...]
    total: float
    node: int
    last: Scores
    constraint: TokenConstraint | None


def beam(
    session: Session,
    ends: frozenset[int],
    constraint: TokenConstraint | None,
    *,
    width: int = 5,
    max_tokens: int = 128,
) -> list[Decoded]:
    """The best texts of a beam of `width`, likeliest first; unended ones only where the tokens ran out."""
    alive = [_Beam((), (), 0.0, PROMPT, session.logits, constraint)]
    done: list[Decoded] = []
    passes = 0
    added = 0
    while alive and passes < max_tokens:
        following = _best_steps(alive, width)
        chosen = []
        for total, parent, token in following:
            score = total - parent.total
            if token in ends:
                done.append(Decoded(parent.tokens, (*parent.scores, score), True, passes))
            else:
                chosen.append((total, score, parent, token))
        done = sorted(done, key=lambda text: -text.total)[:width]
        if len(done) == width:
            chosen = [item for item in chosen if item[0] > done[-1].total]
        if not chosen:
            break
        rows = session.extend([token for *_, token in chosen], [parent.node for _, _, parent, _ in chosen])
        passes += 1
        alive = []
        for row, (total, score, parent, token) in enumerate(chosen):
            copy = parent.constraint.clone() if parent.constraint else None
            if copy:
                copy.advance([token])
            alive.append(_Beam((*parent.tokens, token), (*parent.scores, score), total, added + row, rows[row], copy))
        added += len(chosen)
    unended = [Decoded(item.tokens, item.scores, False, passes) for item in alive] if passes >= max_tokens else []
    return done or sorted(unended, key=lambda text: -text.total)


def _best_steps(alive: Sequence[_Beam], width: int) -> list[tuple[float, _Beam, int]]:
    steps: list[tuple[float, _Beam, int]] = []
    for item in alive:
        scores = log_softmax(item.last)
        if item.constraint:
            scores = np.where(item.constraint.mask()[: len(scores)], scores, -np.inf)
        top = np.argpartition(-scores, min(width, len(scores) - 1))[: width + 1]
        steps += [(item.total + float(scores[token]), item, int(token)) for token in top if scores[token] > -np.inf]
    steps.sort(key=lambda step: (-step[0], step[2]))
    return steps[:width]


def score_trie(session: Session, ends: frozenset[int], candidates: Sequence[Sequence[int]]) -> list[Decoded]:
    """The likelihood of each candidate, its end included, in one forward pass over the trie of their tokens."""
    numbers: dict[tuple[int, int], int] = {}
    tokens: list[int] = []
    parents: list[int] = []
    paths = []
    for candidate in candidates:
        parent = PROMPT
        path = [parent]
        for token in candidate:
            key = (parent, token)
            if key not in numbers:
                numbers[key] = len(tokens)
                tokens.append(token)
                parents.append(parent)
            parent = numbers[key]
            path.append(parent)
        paths.append(path)
    rows = session.extend(tokens, parents) if tokens else np.zeros((0, 0), np.float32)
    logs = {PROMPT: log_softmax(session.logits)}
    for path in paths:
        for node in path:
            if node not in logs:
                logs[node] = log_softmax(rows[node])
    found = []
    for candidate, path in zip(candidates, paths, strict=True):
        scores = [float(logs[node][token]) for node, token in zip(path, candidate, strict=False)]
        end = max(float(logs[path[-1]][token]) for token in ends)
        found.append(Decoded(tuple(candidate), (*scores, end), True, 1))
    return found


def log_softmax(scores: Scores) -> Scores:
    """Log-likelihoods of the last axis."""
    shifted = scores - scores.max(axis=-1, keepdims=True)
    result: Scores = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def _allowed(scores: Scores, constraint: TokenConstraint | None) -> Scores:
    if constraint is None:
        return scores
    return np.where(constraint.mask()[: len(scores)], scores, np.float32(-np.inf))


def _score(row: Scores, token: int) -> float:
    return float(log_softmax(row)[token])
