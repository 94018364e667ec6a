"""Grammars as text for decoding engines: prefix-free Lark (the interchange form) and GBNF, checked in process.

llguidance lexes greedily with one byte of lookahead, so that a literal which is a proper prefix of another makes valid
replies unreachable, silently. Hence every literal is split until the literals form a prefix code: at most one of them
then matches at any place, and greedy lexing is exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dialoom.errors import MissingExtra, UsageError
from dialoom.generation.derivations import sampler, shortest, text_of
from dialoom.generation.grammar import Grammar


def prefix_free(literals: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Each literal as pieces whose set is a prefix code: no piece is a proper prefix of another piece."""
    pieces: dict[str, tuple[str, ...]] = {text: (text,) for text in set(literals) if text}
    current = set(pieces)
    while True:
        splits = _splits(current)
        if not splits:
            return pieces
        current = {part for text in current for part in splits.get(text, (text,))}
        pieces = {
            text: tuple(part for piece in parts for part in splits.get(piece, (piece,)))
            for text, parts in pieces.items()
        }


def _splits(texts: set[str]) -> dict[str, tuple[str, ...]]:
    """Every text that has another as a proper prefix, cut at its longest such prefix.

    In sorted order a text's prefixes in the set are exactly the open ones on a stack: one pass.
    """
    splits: dict[str, tuple[str, ...]] = {}
    open_: list[str] = []
    for text in sorted(texts):
        while open_ and not text.startswith(open_[-1]):
            open_.pop()
        if open_:
            splits[text] = (open_[-1], text[len(open_[-1]) :])
        open_.append(text)
    return splits


def to_lark(grammar: Grammar) -> str:
    """Lark with rules and quoted literals only, prefix-free: for llguidance, vLLM, SGLang, llama.cpp and OpenAI."""
    pieces = prefix_free(item for p in grammar.productions for item in p.symbols if isinstance(item, str))
    quoted = {text: " ".join(map(_quote, parts)) for text, parts in pieces.items()} | {"": '""'}
    start, lines = _lines(grammar, quoted, ":")
    return "\n".join([f"start: {start}", *lines, ""])


def to_gbnf(grammar: Grammar) -> str:
    """GBNF, llama.cpp's own form; it lexes by character, so that literals stay whole."""
    texts = {item for p in grammar.productions for item in p.symbols if isinstance(item, str)}
    start, lines = _lines(grammar, {text: _gbnf(text) for text in texts}, " ::=")
    return "\n".join([f"root ::= {start}", *lines, ""])


def _lines(grammar: Grammar, written: Mapping[str, str], defines: str) -> tuple[str, list[str]]:
    """The start's name and one line for each nonterminal.

    Nonterminals with the same alternatives are written once: optional parts and numbers recur for every node that is
    described, and engines compile a third of the text three times as fast. Recursive ones are written as they are.
    """
    names = [f"n{number}" for number in range(len(grammar.pairs))]
    lines: dict[str, str] = {}

    def body(number: int) -> str:
        sides = [
            " ".join([names[item] if isinstance(item, int) else written[item] for item in symbols]) or '""'
            for symbols in (grammar.productions[index].symbols for index in grammar.by_head[number])
        ]
        return " | ".join(dict.fromkeys(sides))

    for number in grammar.settled:
        names[number] = lines.setdefault(body(number), names[number])
    shown = [f"{name}{defines} {text}" for text, name in lines.items()]
    recursive = sorted(set(range(len(names))).difference(grammar.settled))
    return names[grammar.start], [*shown, *(f"{names[number]}{defines} {body(number)}" for number in recursive)]


def check(grammar: Grammar, lark: str, *, samples: int = 4) -> None:
    """Compiles `lark` in process and has it accept the shortest and some sampled derivations of `grammar`.

    Raises `UsageError` for a text that would not constrain a server (syntax, size, a reply it rejects), and
    `MissingExtra` without llguidance.
    """
    llguidance = guidance_module()
    tokenizer = llguidance.LLTokenizer("byte")
    matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(lark), log_level=0)
    if matcher.get_error():
        raise UsageError(f"The grammar cannot be emitted: {matcher.get_error().splitlines()[0]}")
    draw = sampler(grammar)
    replies = [text_of(grammar, shortest(grammar)), *(text_of(grammar, draw()) for _ in range(samples))]
    for reply in replies:
        copy = matcher.deep_copy()
        data = list(reply.encode("utf-8"))
        if copy.validate_tokens(data) != len(data) or (copy.consume_tokens(data) and not copy.is_accepting()):
            raise UsageError(f"The emitted grammar rejects a reply of the language: {reply!r}.")


def guidance_module() -> Any:
    """Llguidance. Raises `MissingExtra` where it is not installed."""
    try:
        import llguidance
    except ImportError:
        raise MissingExtra("Grammar-constrained decoding", "generation") from None
    return llguidance


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _gbnf(text: str) -> str:
    out = []
    for char in text:
        if char in '"\\':
            out.append(f"\\{char}")
        elif char.isprintable():
            out.append(char)
        else:
            code = ord(char)
            out.append(f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}")
    return f'"{"".join(out)}"'
