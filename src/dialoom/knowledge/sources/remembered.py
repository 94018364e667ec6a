"""A user's own facts as a source: only the rows of the user whose turn it is are ever read."""

from __future__ import annotations

from collections.abc import Sequence

from dialoom.knowledge.base import Evidence, Passage, Query
from dialoom.knowledge.memory import Memory
from dialoom.knowledge.sources.indexed import named
from dialoom.knowledge.terms import shared_mass


class MemorySource:
    """Facts about the user, best matching first, newest first among equals; nothing for a turn without a user.

    Facts that share no word with the turn come last with score 0: a user has few, and which of them matters is for
    the relevance scorer to say.
    """

    def __init__(self, name: str, description: str, memory: Memory) -> None:
        self.name = named(name)
        self.description = description
        self.depends_on: tuple[str, ...] = ()
        self._memory = memory

    def search(self, query: Query, n: int) -> Sequence[Evidence]:
        """See `Source`."""
        if not query.user:
            return []
        facts = self._memory.facts(query.user)
        _, held = shared_mass(query.text, [fact.text for fact in facts])
        found = []
        for age, (fact, (mass, shared)) in enumerate(zip(facts, held, strict=True)):
            score = shared / max(mass, 1e-6)
            passage = Passage(
                f"{fact.subject}#{fact.number}",
                fact.text,
                owner=query.user,
                metadata={"subject": fact.subject, "value": fact.value, "said_at": fact.said_at.isoformat()},
            )
            found.append((-score, age, Evidence(self.name, passage, score, parts={"coverage": score})))
        return [evidence for _, _, evidence in sorted(found, key=lambda item: item[:2])[:n]]
