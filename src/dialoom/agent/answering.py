"""What a flow node or a learned agent answers from knowledge sources, with every score behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dialoom.dialogue import Dialogue
from dialoom.flows.facts import Told
from dialoom.knowledge import Answer, Answerer, Memory, Query, Remark, read_turn


@dataclass(frozen=True, slots=True)
class MemoryWords:
    """What is said when a message did nothing but change what is known about the user."""

    kept: str = "Thank you, I will remember that."
    forgotten: str = "I have forgotten {subject}."


class KnowledgeAnswerer:
    """Answers from an answerer's sources (the port `Answerer` of flows).

    With a `memory`, the user's own words first do to it what they ask for: keep, confirm, correct, forget.
    """

    def __init__(self, answerer: Answerer, memory: Memory | None = None, words: MemoryWords | None = None) -> None:
        self.answerer = answerer
        self.memory = memory
        self.words = words or MemoryWords()

    @property
    def sources(self) -> Sequence[str]:
        """The names of the sources, in the order of their dependencies."""
        return self.answerer.knowledge.order

    async def answer(self, context: Dialogue, user: str, sources: Sequence[str] | None) -> Told:
        """See `Answerer`. Raises `ModelError` when the reader fails, `UnknownName` for a source that is not there."""
        return await self._tell(Query(context, user), sources, small_talk=True)

    async def consult(self, context: Dialogue, user: str) -> Told:
        """See `Answerer`. Raises `ModelError` when the reader fails."""
        return await self._tell(Query(context, user), None, small_talk=False)

    async def _tell(self, query: Query, sources: Sequence[str] | None, *, small_talk: bool) -> Told:
        remarks = self._learn(query)
        told = self._remarked(remarks)
        if told is not None:
            return told
        gathered = await self.answerer.knowledge.gather(query, sources)
        if gathered.plan.sources or (small_talk and not _learned(remarks)):
            return _told(await self.answerer.reply(query, gathered), remarks)
        data = {**_noted(remarks), **Answer("", "no_source_needed", gathered).trace()}
        return Told(self.words.kept, "answered", data) if _learned(remarks) else Told("", "no_source_needed", data)

    def _learn(self, query: Query) -> list[Remark]:
        if self.memory is None:
            return []
        return read_turn(self.memory, query.user, query.text, dialogue=query.context.id)

    def _remarked(self, remarks: Sequence[Remark]) -> Told | None:
        """The reply to a message that asked to forget, or that holds a fact to be confirmed first."""
        asked = [remark.question for remark in remarks if remark.kind == "ask"]
        forgotten = [remark.subject for remark in remarks if remark.kind == "forgotten"]
        if asked:
            return Told(asked[0], data=_noted(remarks))
        if forgotten:
            text = self.words.forgotten.format(subject=", ".join(forgotten))
            return Told(text, data=_noted(remarks))
        return None


def _learned(remarks: Sequence[Remark]) -> bool:
    return any(remark.kind in ("kept", "confirmed") for remark in remarks)


def _told(answer: Answer, remarks: Sequence[Remark]) -> Told:
    trace = answer.trace()
    checks = {**trace["checks"], "citations": [list(pair) for pair in answer.citations]}
    return Told(answer.text, answer.outcome, {**_noted(remarks), **trace, "checks": checks})


def _noted(remarks: Sequence[Remark]) -> dict[str, Any]:
    changed = [{"kind": remark.kind, "subject": remark.subject} for remark in remarks]
    return {"memory": {"remarks": changed}} if changed else {}
