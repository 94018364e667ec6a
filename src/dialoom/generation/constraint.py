"""The constraint port: what a grammar allows next, in the tokens of a model. One adapter: llguidance, in process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dialoom.errors import UsageError
from dialoom.generation.emission import check, guidance_module, to_lark
from dialoom.generation.grammar import Grammar

MAX_ITEMS = 200_000


@runtime_checkable
class TokenConstraint(Protocol):
    """One output under way."""

    def mask(self) -> NDArray[np.bool_]:
        """Which tokens may come next, shape (vocabulary,); an end token is allowed only where the text may end."""
        ...

    def forced(self) -> list[int]:
        """Tokens that must come next, never special ones; empty where there is a choice or an end."""
        ...

    def advance(self, tokens: Sequence[int]) -> None:
        """Takes tokens of the output. Raises `UsageError` for one that the grammar forbids."""
        ...

    def clone(self) -> TokenConstraint:
        """An independent copy."""
        ...

    @property
    def accepting(self) -> bool:
        """Whether the text so far is a whole text of the language."""
        ...


class GuidanceConstraint:
    """A llguidance matcher. `special` are tokens that are no text (chat marks, ends): they are never forced.

    llguidance computes forced tokens with the model's own tokenizer, which reads `<|im_end|>` inside a value as the
    end token and then rejects it; the mask has no such flaw, so where a forced token is special, none is forced.
    """

    def __init__(self, matcher: Any, vocabulary: int, special: frozenset[int]) -> None:
        self._matcher = matcher
        self._vocabulary = vocabulary
        self._special = special

    def mask(self) -> NDArray[np.bool_]:
        """See `TokenConstraint.mask`."""
        packed = np.frombuffer(self._matcher.compute_bitmask(), dtype=np.uint8)
        self._check()
        allowed = np.unpackbits(packed, bitorder="little", count=self._vocabulary).astype(np.bool_)
        if not self.accepting:  # an end token whose name is part of a value is no end
            allowed[list(self._special)] = False
        return allowed

    def forced(self) -> list[int]:
        """See `TokenConstraint.forced`."""
        if self._matcher.is_stopped():
            return []
        tokens: list[int] = self._matcher.compute_ff_tokens()
        return [] if self._special.intersection(tokens) else tokens

    def advance(self, tokens: Sequence[int]) -> None:
        """See `TokenConstraint.advance`."""
        if not self._matcher.consume_tokens(list(tokens)):
            raise UsageError(f"The grammar forbids these tokens: {list(tokens)}. {self._matcher.get_error()}".strip())

    def clone(self) -> GuidanceConstraint:
        """See `TokenConstraint.clone`."""
        return GuidanceConstraint(self._matcher.deep_copy(), self._vocabulary, self._special)

    @property
    def accepting(self) -> bool:
        """See `TokenConstraint.accepting`."""
        return bool(self._matcher.is_accepting())

    def _check(self) -> None:
        if self._matcher.is_error():
            raise UsageError(f"The grammar failed while decoding: {self._matcher.get_error()}")


class Guidance:
    """Compiles grammars for one tokenizer. Making one costs about half a second; keep it with the model."""

    def __init__(self, tokenizer: Any, *, special: frozenset[int] = frozenset()) -> None:
        """`tokenizer` is an `llguidance.LLTokenizer`."""
        self.tokenizer = tokenizer
        self.special = special | frozenset(tokenizer.eos_tokens)

    @classmethod
    def of_bytes(cls) -> Guidance:
        """For a vocabulary of 256 bytes and an end token: tests, and models of bytes."""
        return cls(guidance_module().LLTokenizer("byte"))

    def constrain(self, grammar: Grammar) -> GuidanceConstraint:
        """A fresh constraint: the grammar emitted, compiled and checked. Raises `UsageError` if it cannot be."""
        module = guidance_module()
        lark = to_lark(grammar)
        limits = module.LLParserLimits(max_items_in_row=MAX_ITEMS)
        matcher = module.LLMatcher(self.tokenizer, module.LLMatcher.grammar_from_lark(lark), limits=limits, log_level=0)
        if matcher.get_error():
            check(grammar, lark)
            raise UsageError(f"The grammar cannot be compiled: {matcher.get_error()}")
        return GuidanceConstraint(matcher, self.tokenizer.vocab_size, self.special)
