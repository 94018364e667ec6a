"""From a turn to a reply that rests on evidence, or to an honest "I could not find that"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dialoom.errors import UsageError
from dialoom.knowledge.base import ConsistencyScorer, Evidence, Query, Reader
from dialoom.knowledge.gather import Gathered, Knowledge
from dialoom.knowledge.refinement import Draft, RefineSettings, draft, refine

Outcome = Literal["answered", "no_source_needed", "not_found", "hand_off"]


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """`supported` is the least score of a reply that may be given. Below it the reply is `not_found` (with {sources}
    filled in), or `hand_off` where that is not empty. `unreachable` is added when a planned source was not there.
    Raises `UsageError` for a text with another placeholder.
    """

    refine: RefineSettings = field(default_factory=RefineSettings)
    supported: float = 0.1
    not_found: str = "I could not find that. I looked in: {sources}."
    hand_off: str = ""
    unreachable: str = "I could not reach {sources} just now."

    def __post_init__(self) -> None:
        for text in (self.not_found, self.unreachable):
            try:
                text.format(sources="")
            except (LookupError, ValueError) as error:
                raise UsageError(
                    f"'{text}' has a placeholder that is not filled in ({error}).",
                    hint="{sources} is the only one; write {{ and }} for braces.",
                ) from error


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply and why: `drafts` holds every reply written, the chosen one among them; `outcome` says what happened."""

    text: str
    outcome: Outcome
    gathered: Gathered
    chosen: Draft | None = None
    drafts: tuple[Draft, ...] = ()

    @property
    def citations(self) -> tuple[tuple[str, str], ...]:
        """(source, id) of the evidence that the reply agrees with, best first."""
        if self.chosen is None or self.outcome != "answered":
            return ()
        pairs = zip(self.chosen.evidence, self.chosen.consistency, strict=True)
        ranked = sorted(
            ((-(e.relevance or 0.0) * c, i, e) for i, (e, c) in enumerate(pairs) if c > 0), key=lambda t: t[:2]
        )
        return tuple((evidence.source, evidence.id) for _, _, evidence in ranked)

    def trace(self) -> dict[str, Any]:
        """The turn's stages plan, evidence and checks as plain data, with every score."""
        gathered = self.gathered
        return {
            "plan": {
                "sources": list(gathered.plan.sources),
                "reason": gathered.plan.reason,
                "probabilities": {" + ".join(k) or "NULL": v for k, v in gathered.plan.probabilities.items()},
            },
            "evidence": {
                "kept": [_shown(e) for e in gathered.evidence],
                "reserve": [_shown(e) for e in gathered.reserve],
                "events": [{"source": e.source, "kind": e.kind, "reason": e.reason} for e in gathered.events],
                "milliseconds": dict(gathered.milliseconds),
            },
            "checks": {
                "outcome": self.outcome,
                "drafts": [
                    {
                        "text": d.text,
                        "score": d.score,
                        "chosen": d is self.chosen,
                        "evidence": [[e.source, e.id] for e in d.evidence],
                        "consistency": list(d.consistency),
                    }
                    for d in self.drafts
                ],
            },
        }


class Answerer:
    """Gathers, writes, checks, refines."""

    def __init__(
        self,
        knowledge: Knowledge,
        reader: Reader,
        consistency: ConsistencyScorer,
        settings: AnswerSettings | None = None,
    ) -> None:
        self.knowledge = knowledge
        self.reader = reader
        self.consistency = consistency
        self.settings = settings or AnswerSettings()

    async def answer(self, query: Query, sources: Sequence[str] | None = None) -> Answer:
        """The reply to the user's last words. Raises `ModelError` when the reader's first call fails."""
        return await self.reply(query, await self.knowledge.gather(query, sources))

    async def reply(self, query: Query, gathered: Gathered) -> Answer:
        """The reply from what was gathered. Raises `ModelError` when the reader's first call fails."""
        if not gathered.plan.sources:
            return Answer(await self.reader.read(query, ()), "no_source_needed", gathered)
        if not gathered.evidence:
            return self._nothing(gathered, ())
        first = await draft(query, gathered.evidence, self.reader, self.consistency)
        drafts = (
            first,
            *await refine(query, first, gathered.reserve, self.reader, self.consistency, self.settings.refine),
        )
        best = max(drafts, key=lambda d: d.score)
        if best.score < self.settings.supported:
            return self._nothing(gathered, drafts)
        text = best.text
        missing = [event.source for event in gathered.events if event.source in gathered.plan.sources]
        if missing and self.settings.unreachable:
            text = f"{text} {self.settings.unreachable.format(sources=', '.join(missing))}"
        return Answer(text, "answered", gathered, best, drafts)

    def _nothing(self, gathered: Gathered, drafts: tuple[Draft, ...]) -> Answer:
        if self.settings.hand_off:
            return Answer(self.settings.hand_off, "hand_off", gathered, None, drafts)
        missing = [event.source for event in gathered.events]
        searched = [name for name in gathered.plan.sources if name not in missing]
        said = [self.settings.not_found.format(sources=", ".join(searched))] if searched else []
        if missing:
            said.append(self.settings.unreachable.format(sources=", ".join(missing)))
        return Answer(" ".join(said), "not_found", gathered, None, drafts)


def _shown(evidence: Evidence) -> dict[str, Any]:
    return {
        "source": evidence.source,
        "id": evidence.id,
        "text": evidence.text,
        "origin": evidence.passage.origin,
        "offsets": [evidence.passage.start, evidence.passage.end],
        "score": evidence.score,
        "relevance": evidence.relevance,
        "parts": dict(evidence.parts),
        "depends_on": [list(pair) for pair in evidence.depends_on],
    }
