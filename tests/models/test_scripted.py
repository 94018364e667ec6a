"""The scripted double."""

from __future__ import annotations

import pytest

from dialoom.errors import InvalidOutput, ModelRefused, ModelTimeout, ModelUnavailable
from dialoom.models.base import Constraint, LanguageModel, Message, Request, Sampling
from dialoom.models.scripted import Fault, ScriptedModel
from dialoom.testing.models import ASKED, CONSTRAINTS, ModelConformance

VALID = {
    "json_schema": '{"reply": "On its way", "done": true}',
    "gbnf": "no abc",
    "lark": "no thanks",
    "regex": "yes-123",
    "choice": "track",
}


def answered(request: Request) -> str:
    return VALID[request.constraint.kind] if request.constraint else "Let me look for your parcel."


class TestConformance(ModelConformance):
    @pytest.fixture
    def model(self) -> LanguageModel:
        return ScriptedModel(answered)


async def test_that_a_list_is_told_in_order_and_its_last_answer_repeats() -> None:
    model = ScriptedModel(["one", "two"])
    assert [(await model.generate(Request(ASKED))).text for _ in range(3)] == ["one", "two", "two"]
    assert len(model.requests) == 3
    assert model.requests[0].messages == ASKED


async def test_that_a_mapping_answers_the_last_message() -> None:
    model = ScriptedModel({"parcel": "It is late.", "refund": "Within days."})
    assert (await model.generate(Request((Message("user", "my refund?"),)))).text == "Within days."
    with pytest.raises(ModelRefused, match="'parcel', 'refund'"):
        await model.generate(Request((Message("user", "hello"),)))


async def test_that_failures_can_be_injected() -> None:
    for fault, error in (
        (Fault("timeout"), ModelTimeout),
        (Fault("error"), ModelUnavailable),
        (Fault("refused"), ModelRefused),
        (Fault("slow", seconds=5), ModelTimeout),
        (ModelRefused("as it is"), ModelRefused),
    ):
        with pytest.raises(error):
            await ScriptedModel([fault]).generate(Request(ASKED, timeout=0.02))
    assert (await ScriptedModel([Fault("empty")]).generate(Request(ASKED))).text == ""
    assert (await ScriptedModel([Fault("slow", 0.001, "here")]).generate(Request(ASKED))).text == "here"
    assert (await ScriptedModel([Fault("malformed")]).generate(Request(ASKED))).text == '{"unfinished": ['


async def test_that_a_malformed_answer_breaks_its_constraint() -> None:
    model = ScriptedModel([Fault("malformed"), VALID["json_schema"]])
    request = Request(ASKED, constraint=CONSTRAINTS["json_schema"])
    with pytest.raises(InvalidOutput, match="not JSON") as caught:
        await model.generate(request)
    assert caught.value.text == '{"unfinished": ['
    assert (await model.generate(request)).text == VALID["json_schema"]


async def test_that_stop_texts_and_max_tokens_cut() -> None:
    model = ScriptedModel(["Agent: hello there\nUser: hm"])
    assert (await model.generate(Request(ASKED, Sampling(stop=("\nUser",))))).text == "Agent: hello there"
    cut = await model.generate(Request(ASKED, Sampling(max_tokens=2)))
    assert (cut.text, cut.finish_reason) == ("Agent: hello", "length")


async def test_that_scores_follow_shared_words_or_a_function() -> None:
    said = (Message("user", "where is my parcel"),)
    scores = await ScriptedModel().score(said, ["parcel is late", "goodbye"])
    assert scores[0] > scores[1]
    assert await ScriptedModel(scores=lambda text: -len(text)).score(said, ["ab", "a"]) == [-2, -1]


async def test_that_a_constraint_and_stop_texts_exclude_each_other() -> None:
    asked = Request(ASKED, Sampling(stop=("x",)), Constraint("choice", ("a",)))
    with pytest.raises(Exception, match="exclude each other"):
        await ScriptedModel().generate(asked)
