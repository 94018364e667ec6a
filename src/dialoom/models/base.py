"""The language model port: messages to text, whatever runs behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

ConstraintKind = Literal["json_schema", "lark", "gbnf", "regex", "choice"]
FinishReason = Literal["stop", "length", "cancelled"]


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the output must look like. `value` is a schema, a grammar text, a pattern or a tuple of choices.

    Engines fail open: some answer a bad grammar with free text. So every adapter compiles the constraint itself,
    checks the answer against it, and raises `InvalidOutput` rather than return one that breaks it.
    """

    kind: ConstraintKind
    value: Any


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to decode. Temperature 0 is greedy; `max_tokens` is always set, so that no call runs for ever."""

    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    stop: tuple[str, ...] = ()
    seed: int | None = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One call: at least one message, how to decode, what to obey, and the deadline in seconds."""

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    constraint: Constraint | None = None
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call, and of those from a cache; `cost` in US dollars where a price is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            sum(known) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back: text, why it ended, tokens, the model that answered and how long it took."""

    text: str
    finish_reason: FinishReason = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    milliseconds: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do; asked before use, never assumed."""

    constraints: frozenset[ConstraintKind] = frozenset()
    streaming: bool = False
    scoring: bool = False
    context_tokens: int | None = None


@runtime_checkable
class LanguageModel(Protocol):
    """Generates text. Adapters are safe to call concurrently; cancelling the task cancels the call."""

    @property
    def name(self) -> str:
        """What reports and traces call this model."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What this model can do."""
        ...

    async def generate(self, request: Request) -> Completion:
        """One completion.

        Raises `UsageError` for a request no model could serve (no messages, an invalid constraint, a constraint
        kind outside `capabilities`), `InvalidOutput` for an answer that breaks the constraint (cut short by
        `max_tokens`, for one), and another `ModelError` when the call fails. `timeout` bounds it all, retries too.
        """
        ...

    def stream(self, request: Request) -> AsyncIterator[str]:
        """Pieces of the same completion as they come; their concatenation is its text.

        Raises as `generate` does, `InvalidOutput` after the last piece. Closing the iterator cancels the call.
        """
        ...


@runtime_checkable
class Scorer(Protocol):
    """A model that can say how likely texts are as the next assistant message (`capabilities.scoring`)."""

    async def score(self, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        """Mean log-likelihood per token (nats) of each candidate after `messages`; higher is likelier."""
        ...
