"""A language model whose calls are counted, whoever makes them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field

from dialoom.evaluation.experiments.definition import Price
from dialoom.models.base import Capabilities, Completion, LanguageModel, Request, Usage


@dataclass(frozen=True, slots=True)
class Called:
    """One model call: whose, its tokens, and its cost where the adapter knows one. A failed call has no tokens."""

    model: str
    usage: Usage

    def dollars(self, prices: Mapping[str, Price]) -> float | None:
        """What it cost: as the adapter says, else by `prices`; None where neither knows."""
        if self.usage.cost is not None:
            return self.usage.cost
        price = prices.get(self.model)
        if price is None:
            return None
        return (self.usage.prompt_tokens * price.prompt + self.usage.completion_tokens * price.completion) / 1e6


@dataclass(frozen=True, slots=True)
class Bill:
    """The calls of some conversations; `unpriced` calls have no known price, and `dollars` is that of the others."""

    calls: int = 0
    tokens: int = 0
    dollars: float | None = 0.0
    unpriced: int = 0

    @classmethod
    def of(cls, called: Iterable[Called], prices: Mapping[str, Price]) -> Bill:
        """The bill of `called`; `dollars` is None where no call has a known price."""
        listed = list(called)
        costs = [cost for call in listed if (cost := call.dollars(prices)) is not None]
        tokens = sum(call.usage.prompt_tokens + call.usage.completion_tokens for call in listed)
        return cls(len(listed), tokens, sum(costs) if costs or not listed else None, len(listed) - len(costs))


@dataclass(slots=True)
class Metered:
    """A language model that notes its calls in `called`."""

    model: LanguageModel
    called: list[Called] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do."""
        return self.model.capabilities

    async def generate(self, request: Request) -> Completion:
        """The model's completion; raises as it does."""
        usage = Usage()
        try:
            completion = await self.model.generate(request)
            usage = completion.usage
        finally:
            self.called.append(Called(self.name, usage))
        return completion

    def stream(self, request: Request) -> AsyncIterator[str]:
        """Pieces of the same completion; the call is counted, its tokens are not known."""
        self.called.append(Called(self.name, Usage()))
        return self.model.stream(request)

    def since(self, mark: int) -> tuple[Called, ...]:
        """The calls after the first `mark`."""
        return tuple(self.called[mark:])
