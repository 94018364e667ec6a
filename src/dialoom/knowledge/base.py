"""The values and ports of knowledge: passages, evidence, queries, plans; `Source`, `Planner`, and the scorers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from dialoom.dialogue import Dialogue, Role

NO_PARTS: Mapping[str, float] = MappingProxyType({})
NO_METADATA: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of text that can be retrieved. `id` is unique inside its source.

    `parents` are ids of passages, in sources this one depends on, that it hangs from (a document under a persona
    entry). `owner` is the user it belongs to, empty for everyone's. `text` is `origin`'s characters `start` to `end`
    where the passage is part of a larger text, else both are 0.
    """

    id: str
    text: str
    parents: tuple[str, ...] = ()
    owner: str = ""
    origin: str = ""
    start: int = 0
    end: int = 0
    metadata: Mapping[str, str] = field(default_factory=lambda: NO_METADATA)

    @property
    def digest(self) -> str:
        """A hash of everything but the id: equal digests need no new indexing."""
        parts = (self.text, *self.parents, self.owner, self.origin, str(self.start), str(self.end))
        pairs = (f"{key}={value}" for key, value in sorted(self.metadata.items()))
        return hashlib.sha256("\x1f".join((*parts, *pairs)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage found for a turn: where it came from, how well it fits and what it rests on.

    `score` orders evidence of one search, higher is better. `relevance` is in {0.0, 0.1, ... 1.0} (UniMS-RAG table I)
    or None until a relevance scorer has looked. `parts` are the numbers `score` was made of, by name. `depends_on`
    are the (source, id) pairs of earlier evidence that led here.
    """

    source: str
    passage: Passage
    score: float
    relevance: float | None = None
    parts: Mapping[str, float] = field(default_factory=lambda: NO_PARTS)
    depends_on: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """The passage's id inside its source."""
        return self.passage.id

    @property
    def text(self) -> str:
        """The passage's text."""
        return self.passage.text


@dataclass(frozen=True, slots=True)
class Query:
    """What a turn asks: the conversation up to the user's last words, whose turn it is, what was found so far."""

    context: Dialogue
    user: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def text(self) -> str:
        """The user's last words, empty when the user has not spoken."""
        spoken = (u.text for u in reversed(self.context.utterances) if u.role is Role.USER)
        return next(spoken, "")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which sources a turn needs, in the order they are called; no source at all is the paper's NULL.

    `probabilities` are those of whole plans, where the planner knows them. `reason` says in words why.
    """

    sources: tuple[str, ...] = ()
    probabilities: Mapping[tuple[str, ...], float] = field(default_factory=dict)
    reason: str = ""


@runtime_checkable
class Source(Protocol):
    """Something that can be asked for evidence."""

    @property
    def name(self) -> str:
        """What plans call it: an upper-case word such as PERSONA."""
        ...

    @property
    def description(self) -> str:
        """One sentence for planners: what is in it and when it helps."""
        ...

    @property
    def depends_on(self) -> tuple[str, ...]:
        """Sources that must be called first; their evidence is in the query."""
        ...

    def search(self, query: Query, n: int) -> Sequence[Evidence]:
        """At most `n` pieces of evidence, best first; nothing owned by anyone but `query.user`.

        May block: it is called in a thread with a deadline. Raises `SourceError` when the source fails.
        """
        ...


@runtime_checkable
class Planner(Protocol):
    """Decides which sources a turn needs (UniMS-RAG sec. IV-A1)."""

    async def plan(self, query: Query, sources: Sequence[Source]) -> Plan:
        """The plan over `sources`; always closed under their dependencies and in dependency order."""
        ...


@runtime_checkable
class RelevanceScorer(Protocol):
    """Says how useful evidence is for a conversation (UniMS-RAG sec. IV-B1)."""

    async def relevance(self, query: Query, evidence: Sequence[Evidence]) -> list[float]:
        """One value in {0.0, 0.1, ... 1.0} for each piece of evidence, in order."""
        ...


@runtime_checkable
class ConsistencyScorer(Protocol):
    """Says whether a reply agrees with evidence (the NLI model of UniMS-RAG sec. IV-B3)."""

    async def consistency(self, reply: str, evidence: Sequence[str]) -> list[float]:
        """One value in [0, 1] for each text: 1 the reply rests on it, 0 it contradicts it or has nothing of it."""
        ...


@runtime_checkable
class Reader(Protocol):
    """Writes the reply from the conversation and weighed evidence (UniMS-RAG sec. IV-A3)."""

    async def read(self, query: Query, evidence: Sequence[Evidence]) -> str:
        """The reply; `evidence` is in the order it should be shown and may be empty."""
        ...


def tenths(value: float) -> float:
    """`value` clipped to [0, 1] and rounded to the paper's evaluation tokens 0.0, 0.1, ... 1.0."""
    return round(min(max(value, 0.0), 1.0) * 10) / 10
