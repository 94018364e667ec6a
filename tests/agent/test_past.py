from __future__ import annotations

import pytest

from dialoom import Model
from dialoom.agent.past import PastDialogues
from dialoom.knowledge import AlwaysPlanner, Knowledge, LexicalRelevance, Query
from dialoom.testing.knowledge import SourceConformance

from .conftest import said


class TestPastDialogues(SourceConformance):
    @pytest.fixture(autouse=True)
    def _learned(self, model: Model) -> None:
        self.model = model

    def make(self) -> PastDialogues:
        return PastDialogues("PAST", "What was answered before.", self.model)


async def test_that_past_turns_are_evidence_with_where_they_come_from(model: Model) -> None:
    source = PastDialogues("PAST", "What was answered before.", model)
    context = model.index.dialogue(0)
    asked = Query(said(context.utterances[0].text))
    gathered = await Knowledge([source], AlwaysPlanner(), LexicalRelevance()).gather(asked)
    assert gathered.evidence
    for found in gathered.evidence:
        dialogue, _, place = found.id.rpartition("#")
        assert found.passage.origin == dialogue
        assert dialogue in model.index.ids
        past = model.index.dialogue(model.index.ids.index(dialogue))
        assert past.utterances[int(place)].text == found.passage.metadata["system"]
        assert found.passage.metadata["reason"]
    assert max(found.relevance or 0.0 for found in gathered.evidence) >= 0.5
