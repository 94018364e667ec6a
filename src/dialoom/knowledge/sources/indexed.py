"""A source whose passages lie in an index: documents, catalogues, personas, past dialogues."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from dialoom.errors import UsageError
from dialoom.knowledge.base import Evidence, Passage, Query
from dialoom.knowledge.indexes import PassageIndex

Conditioning = Literal["filter", "expand", "none"]


class IndexedSource:
    """Searches an index with the user's last words, conditioned on earlier evidence (UniMS-RAG sec. IV-A2).

    `conditioning` says what evidence of the sources it depends on does: "filter" keeps only the passages that hang
    from it, "expand" adds its text to the query, "none" ignores it. With
    `exhaustive`, passages that share no word with the turn come last instead of not at all: right for a source of a
    few entries, such as a persona.
    """

    def __init__(
        self,
        name: str,
        description: str,
        passages: PassageIndex | Iterable[Passage],
        *,
        depends_on: Sequence[str] = (),
        conditioning: Conditioning = "filter",
        exhaustive: bool = False,
    ) -> None:
        self.name = named(name)
        self.description = description
        self.depends_on = tuple(depends_on)
        self.conditioning = conditioning
        self._exhaustive = exhaustive
        if isinstance(passages, PassageIndex):
            self.index = passages
        else:
            self.index = PassageIndex()
            self.index.replace(passages)

    def search(self, query: Query, n: int) -> Sequence[Evidence]:
        """See `Source`."""
        earlier = [evidence for evidence in query.evidence if evidence.source in self.depends_on]
        text, parents = query.text, None
        if self.conditioning == "expand":
            text = " ".join([text, *(evidence.text for evidence in earlier)])
        elif self.conditioning == "filter" and self.depends_on and self.index.has_links:
            parents = [evidence.id for evidence in earlier]
        hits = self.index.search(text, n, owner=query.user, parents=parents, exhaustive=self._exhaustive)
        return [
            Evidence(
                self.name, hit.passage, hit.score, parts=hit.parts, depends_on=_because(hit.passage, earlier, self)
            )
            for hit in hits
        ]


def named(name: str) -> str:
    """`name`, where it can be a token of a plan; raises `UsageError` otherwise."""
    if not name.isidentifier() or name != name.upper() or name == "NULL":
        raise UsageError(
            f"A knowledge source cannot be called '{name}'.",
            hint="Use upper-case letters, digits and underscores, such as USER_MEMORY; NULL means no source.",
        )
    return name


def _because(passage: Passage, earlier: Sequence[Evidence], source: IndexedSource) -> tuple[tuple[str, str], ...]:
    if source.conditioning == "none":
        return ()
    return tuple(
        (evidence.source, evidence.id)
        for evidence in earlier
        if source.conditioning == "expand" or evidence.id in passage.parents
    )
