"""Ports for replies about facts: what a computation shows, what knowledge sources hold. The application gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from dialoom.dialogue import Dialogue

Outcome = Literal["answered", "no_source_needed", "not_found", "hand_off"]


@dataclass(frozen=True, slots=True)
class Told:
    """A reply about facts. `data` says in JSON values where every part of it comes from."""

    text: str
    outcome: Outcome = "answered"
    data: Mapping[str, Any] = field(default_factory=dict)


class Describer(Protocol):
    """Describes computations, and says nothing that they do not show."""

    async def describe(self, computation: Any, given: Mapping[str, Any], words: str) -> Told:
        """A true reply about a computation: Lispress text in which the names of `given` are variables, or a node.

        `words` are the user's. Raises `UsageError` for a computation that does not exist or has no description.
        """
        ...

    def check(self, computation: str, names: Sequence[str]) -> None:
        """Look at Lispress text without computing it; `names` are its variables. Raises `UsageError`."""
        ...


class Answerer(Protocol):
    """Answers from knowledge sources."""

    @property
    def sources(self) -> Sequence[str]:
        """The names of the sources."""
        ...

    async def consult(self, context: Dialogue, user: str) -> Told:
        """Like `answer` with a planner; the text is empty and the outcome `no_source_needed` where it plans none."""
        ...

    async def answer(self, context: Dialogue, user: str, sources: Sequence[str] | None) -> Told:
        """The reply to the last words of `context`, for this user's eyes; without `sources` a planner chooses them."""
        ...
