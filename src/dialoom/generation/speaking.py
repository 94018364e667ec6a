"""Saying a grammar with a model: in process token by token, or through the language model port. Always fails closed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dialoom.errors import InvalidOutput, ModelError, UsageError
from dialoom.generation.decoding import Choice, Decoded, TokenModel, beam, chain, score_trie
from dialoom.generation.emission import check, to_gbnf, to_lark
from dialoom.generation.grammar import Grammar
from dialoom.generation.recogniser import Recogniser
from dialoom.generation.reply import Mode, Replaced, Reply, drawn, fallback, recognised
from dialoom.models.base import Constraint, LanguageModel, Message, Request, Sampling, Scorer


@dataclass(frozen=True, slots=True)
class Decoding:
    """How to choose among true replies.

    `width` is the beam's K (5 in the paper) and the number of drawn replies is `candidates` (up to 16 pays off).
    `length_norm` divides a candidate's log-likelihood by its tokens to this power: 0 favours short replies.
    """

    mode: Mode = "greedy"
    width: int = 5
    candidates: int = 16
    max_tokens: int = 128
    temperature: float = 0.8
    top_p: float = 1.0
    seed: int = 0
    length_norm: float = 1.0
    fast_forward: bool = True


def speak(grammar: Grammar, model: TokenModel, prompt: str, decoding: Decoding | None = None) -> Reply:
    """A true reply by a model in process. What cannot be decoded is the shortest derivation, with an event."""
    how = decoding or Decoding()
    if how.mode == "shortest":
        return recognised(grammar, [], "shortest")
    if how.mode == "random":
        return recognised(grammar, drawn(grammar, 2, seed=how.seed)[-1:], "random")
    try:
        texts, events = _decode(grammar, model, prompt, how)
    except (UsageError, RuntimeError) as error:
        return fallback(grammar, f"Decoding failed: {error}")
    return recognised(grammar, texts, how.mode, events=events)


def baseline(model: TokenModel, prompt: str, decoding: Decoding | None = None) -> str:
    """What the model says without a grammar: the baseline that true replies are compared with, never one itself."""
    how = decoding or Decoding()
    session = model.session(prompt)
    if how.mode == "beam":
        found = beam(session, model.ends, None, width=how.width, max_tokens=how.max_tokens)[0]
    else:
        choice = Choice(how.temperature if how.mode == "sample" else 0.0, how.top_p, how.seed)
        found = chain(session, model.ends, None, max_tokens=how.max_tokens, choice=choice)
    return model.decode(found.tokens).decode("utf-8", "replace")


def _decode(grammar: Grammar, model: TokenModel, prompt: str, how: Decoding) -> tuple[list[str], list[Replaced]]:
    session = model.session(prompt)
    if how.mode == "ranked":
        texts = drawn(grammar, how.candidates, seed=how.seed)
        found = score_trie(session, model.ends, [model.encode(text) for text in texts])
        order = sorted(range(len(texts)), key=lambda i: -_normal(found[i], how.length_norm))
        return [texts[i] for i in order], []
    constraint = model.guidance.constrain(grammar)
    if how.mode == "beam":
        decoded = beam(session, model.ends, constraint, width=how.width, max_tokens=how.max_tokens)
        decoded.sort(key=lambda text: -_normal(text, how.length_norm))
    else:
        choice = Choice(how.temperature if how.mode == "sample" else 0.0, how.top_p, how.seed)
        decoded = [
            chain(
                session,
                model.ends,
                constraint,
                max_tokens=how.max_tokens,
                choice=choice,
                fast_forward=how.fast_forward,
            )
        ]
    recogniser = Recogniser(grammar)
    texts, events = [], []
    for item in decoded:
        # Only whole characters: a cut may fall inside one.
        text = model.decode(item.tokens).decode("utf-8", "ignore")
        if not item.ended:
            closing = recogniser.completion(text)
            if closing is None:
                events.append(Replaced("No true reply begins like this.", text))
                continue
            text += closing
        texts.append(text)
    return texts, events


def _normal(decoded: Decoded, power: float) -> float:
    return decoded.total / float(max(1, len(decoded.scores)) ** power)


async def speak_through(
    grammar: Grammar, model: LanguageModel, messages: Sequence[Message], decoding: Decoding | None = None
) -> Reply:
    """A true reply through the language model port.

    A model that takes a grammar gets one, checked in process first (Lark, else GBNF); one that scores texts or chooses
    among texts ranks drawn replies; any other is asked for the number of one. Whatever comes back is recognised, and a
    failed call or a foreign text is the shortest true derivation, a cut one is closed by the shortest true ending, both
    with an event.
    """
    how = decoding or Decoding()
    kinds = model.capabilities.constraints
    try:
        if how.mode == "ranked" or not kinds & {"lark", "gbnf"}:
            return await _ranked(grammar, model, messages, how)
        lark = to_lark(grammar)
        check(grammar, lark)
        constraint = Constraint("lark", lark) if "lark" in kinds else Constraint("gbnf", to_gbnf(grammar))
        text = await _ask(model, messages, constraint, how)
    except InvalidOutput as error:
        return _closed(grammar, error, how.mode)
    except (ModelError, UsageError) as error:
        return fallback(grammar, f"{type(error).__name__}: {error}")
    return recognised(grammar, [text], how.mode)


def _closed(grammar: Grammar, error: InvalidOutput, mode: Mode) -> Reply:
    """An answer that true replies begin with, closed by the shortest ending; any other is the shortest derivation."""
    reason = f"{type(error).__name__}: {error}"
    closing = Recogniser(grammar).completion(error.text) if error.text else None
    if closing is None:
        return fallback(grammar, reason, error.text)
    return recognised(grammar, [error.text + closing], mode, events=[Replaced(reason, error.text)])


async def _ranked(grammar: Grammar, model: LanguageModel, messages: Sequence[Message], how: Decoding) -> Reply:
    texts = drawn(grammar, how.candidates, seed=how.seed)
    if model.capabilities.scoring and isinstance(model, Scorer):
        scores = await model.score(messages, texts)
        order = sorted(range(len(texts)), key=lambda i: (-scores[i], i))
        return recognised(grammar, [texts[i] for i in order], "ranked")
    if "choice" in model.capabilities.constraints:
        return recognised(grammar, [await _ask(model, messages, Constraint("choice", tuple(texts)), how)], "ranked")
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))
    question = f"Which of these replies is best? Answer with its number only.\n{listed}"
    answer = await _ask(model, [*messages, Message("user", question)], None, how)
    match = re.search(r"\d+", answer)
    if match is None or not 1 <= int(match[0]) <= len(texts):
        return fallback(grammar, "The model named none of the replies.", answer)
    return recognised(grammar, [texts[int(match[0]) - 1]], "ranked")


async def _ask(model: LanguageModel, messages: Sequence[Message], constraint: Constraint | None, how: Decoding) -> str:
    temperature = how.temperature if how.mode == "sample" else 0.0
    sampling = Sampling(temperature=temperature, top_p=how.top_p, max_tokens=how.max_tokens, seed=how.seed)
    completion = await model.generate(Request(tuple(messages), sampling, constraint))
    return completion.text
