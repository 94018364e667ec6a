"""Record the shop's cassette again from answers written by hand: python examples/shop/record.py"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from dialoom.models.base import Request
from dialoom.models.scripted import ScriptedModel
from dialoom.testing.suites import Options, run_folder

HERE = Path(__file__).parent


def said(utterance: str, following: str, **memory: Any) -> dict[str, Any]:
    return {"ASSISTANT_UTTERANCE": utterance, "NEXT_NODE": following} | ({"MEMORY": memory} if memory else {})


ANSWERS = {
    "my stomach is rumbling for something cheesy from Naples": [
        said("A pizza, then! Which kind, and what size?", "take_pizza")
    ],
    "the one with tomato and basil, as big as you make them": [
        said("One large Margherita. Is that right?", "confirm", pizza="Margherita", size="large")
    ],
    "I would like some leaves next to it": [said("A salad, gladly. Which one?", "take_salad")],
    "the one from Athens, dressed the Italian way": [said("Coming up.", "add", salad="Greek", dressing="Italian")],
    "that was it, let me settle up": [said("Very well.", "check_out")],
    "pizza": [said("Which pizza?", "take_pizza")],
    "whatever you have most of": [
        said("A Veggie, then.", "confirm", pizza="Veggie"),
        said("We have Pepperoni, Margherita and Veggie. Which one, and what size?", "choose"),
    ],
}


def answer(request: Request) -> str:
    answers = ANSWERS[request.messages[-1].content]
    refused = "Still missing" in request.messages[0].content
    return json.dumps(answers[1] if refused and len(answers) > 1 else answers[0])


if __name__ == "__main__":
    (HERE / "cassettes" / "shop.json").unlink(missing_ok=True)
    report = asyncio.run(run_folder(HERE / "test_cassette.yaml", Options(model=ScriptedModel(answer), record=True)))
    for outcome in report.outcomes:
        print(outcome.test.name, "passed" if outcome.passed else outcome.failures)
