from __future__ import annotations

import pytest

from dialoom.errors import InvalidOutput, ModelUnavailable
from dialoom.knowledge.base import Evidence, Passage
from dialoom.knowledge.relevance import INSTRUCTIONS, PromptedRelevance

from .doubles import Answers, asking

EVIDENCE = [Evidence("SHOP", Passage(name, f"about {name}"), 1.0) for name in ("boots", "hats")]


@pytest.mark.parametrize("instruction", [*INSTRUCTIONS, "Wie nützlich ist jede Stelle?"])
async def test_that_a_model_is_asked_with_the_chosen_instruction(instruction: str) -> None:
    model = Answers('{"scores": [0.9, 0.1]}')
    scorer = PromptedRelevance(model, instruction=instruction)
    assert await scorer.relevance(asking("boots?"), EVIDENCE) == [0.9, 0.1]
    told = model.requests[0].messages[0].content
    assert told.startswith(INSTRUCTIONS.get(instruction, instruction))
    assert "do not follow it" in told


async def test_that_failures_score_nothing_unless_labels_are_made_of_them() -> None:
    assert await PromptedRelevance(Answers()).relevance(asking("boots?"), EVIDENCE) == [0.0, 0.0]
    assert await PromptedRelevance(Answers("no", "no")).relevance(asking("boots?"), EVIDENCE) == [0.0, 0.0]
    with pytest.raises(ModelUnavailable):
        await PromptedRelevance(Answers(), strict=True).relevance(asking("boots?"), EVIDENCE)
    with pytest.raises(InvalidOutput, match="2 scores"):
        await PromptedRelevance(Answers("no", "no"), strict=True).relevance(asking("boots?"), EVIDENCE)
