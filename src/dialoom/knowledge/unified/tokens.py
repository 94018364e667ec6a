"""The special tokens of UniMS-RAG (table I) and how text is kept from imitating them."""

from __future__ import annotations

from collections.abc import Sequence

from dialoom.knowledge.prompting import plain

SOURCE, END_OF_SOURCES, EVIDENCE, END_OF_EVIDENCE = "[SOURCE]", "[EOS]", "[EVIDENCE]", "[EOE]"
NULL = "<|NULL|>"
SCORES = tuple(i / 10 for i in range(11))


def acting_token(source: str) -> str:
    """The token that calls a source."""
    return f"<|{source}|>"


def score_token(value: float) -> str:
    """The evaluation token of a relevance in tenths."""
    return f"<|{value:.1f}|>"


def special_tokens(sources: Sequence[str]) -> list[str]:
    """Acting tokens in the sources' order, NULL, evaluation tokens from 0.0 to 1.0, indicator tokens."""
    acting = [acting_token(source) for source in sources]
    scores = [score_token(value) for value in SCORES]
    return [*acting, NULL, *scores, SOURCE, END_OF_SOURCES, EVIDENCE, END_OF_EVIDENCE]


def quoted(text: str) -> str:
    """`text` on one line, with nothing in it that reads as a special token."""
    return plain(text).replace("<|", "< ").replace("|>", " >")
