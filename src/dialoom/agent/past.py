"""Past dialogues as a knowledge source: the turns that a learned agent would imitate at this point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dialoom.agent.agent import Agent
from dialoom.agent.model import Model
from dialoom.agent.trace import Recorder
from dialoom.knowledge.base import Evidence, Query
from dialoom.knowledge.sources.indexed import named
from dialoom.knowledge.sources.records import turn_passage


class PastDialogues:
    """What was answered before where this conversation stands in the automaton, most similar first.

    The dialogues are those the model was learned from, redacted if they were. A piece of evidence is the system turn
    with the user turn before it; its id is `dialogue#utterance`, and `metadata["reason"]` says how it was found.
    """

    def __init__(self, name: str, description: str, model: Model) -> None:
        self.name = named(name)
        self.description = description
        self.depends_on: tuple[str, ...] = ()
        self._agent = Agent(model)

    def search(self, query: Query, n: int) -> Sequence[Evidence]:
        """See `Source`."""
        if n < 1 or not query.text:
            return []
        tagged, route = self._agent.place(query.context, Recorder())
        found = []
        for example in self._agent.model.examples(tagged, route, n):
            passage = turn_passage(example.dialogue, example.reply)
            metadata = {**passage.metadata, "reason": example.reason}
            evidence = replace(passage, metadata=metadata)
            found.append(Evidence(self.name, evidence, example.score, parts={"similarity": example.score}))
        return found
