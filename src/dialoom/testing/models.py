"""What every language model adapter must do. Inherit `ModelConformance`, give it a model, and run pytest.

    class TestMyModel(ModelConformance):
        @pytest.fixture
        def model(self) -> LanguageModel:
            return MyModel()

The laws hold for any model, however small: they speak of form, errors and promises, never of quality.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

import pytest

from dialoom.errors import InvalidOutput, ModelTimeout, UsageError
from dialoom.models.base import (
    Capabilities,
    Completion,
    Constraint,
    ConstraintKind,
    LanguageModel,
    Message,
    Request,
    Sampling,
    Scorer,
)
from dialoom.models.constraints import compiled

ASKED = (Message("system", "You are a helpful agent of a shop."), Message("user", "Where is my parcel?"))

SCHEMA = {
    "type": "object",
    "properties": {"reply": {"type": "string", "maxLength": 40}, "done": {"type": "boolean"}},
    "required": ["reply", "done"],
    "additionalProperties": False,
}

CONSTRAINTS: dict[ConstraintKind, Constraint] = {
    "json_schema": Constraint("json_schema", SCHEMA),
    "gbnf": Constraint("gbnf", 'root ::= "yes" | "no" tail\ntail ::= " " [a-c]{2,4}'),
    "lark": Constraint("lark", 'start: "yes" | "no" tail\ntail: " thanks" | " please"'),
    "regex": Constraint("regex", r"(yes|no)-\d{3}"),
    "choice": Constraint("choice", ("track it", "track", "cancel it")),
}
"""One constraint of each kind, and below a broken one: an adapter asked to obey it must say so."""

BROKEN: tuple[Constraint, ...] = (
    Constraint("json_schema", {"type": "nonsense"}),
    Constraint("json_schema", json.dumps(SCHEMA)),
    Constraint("json_schema", None),
    Constraint("json_schema", {"$ref": "#/$defs/Missing"}),
    Constraint("json_schema", {"enum": []}),
    Constraint("gbnf", "root ::= ("),
    Constraint("gbnf", "root ::= missing"),
    Constraint("gbnf", 'rule ::= "no root"'),
    Constraint("gbnf", 'root ::= root "a" | "b"'),
    Constraint("gbnf", 'root ::= "a" root'),
    Constraint("lark", "%llguidance {}\nstart: missing"),
    Constraint("lark", 'start: "a"\n%ignore " "'),
    Constraint("regex", "(unclosed"),
    Constraint("regex", r"(?=look)"),
    Constraint("choice", ()),
)


class ModelConformance:
    """The laws of the port; `model` is the fixture to provide."""

    @pytest.fixture
    def model(self) -> LanguageModel:
        """The adapter under test."""
        raise NotImplementedError

    async def test_that_it_is_a_language_model_with_a_name(self, model: LanguageModel) -> None:
        assert isinstance(model, LanguageModel)
        assert model.name
        assert isinstance(model.capabilities, Capabilities)

    async def test_that_it_answers_and_says_how(self, model: LanguageModel) -> None:
        completion = await model.generate(_asking(max_tokens=12))
        assert isinstance(completion, Completion)
        assert completion.text
        assert completion.finish_reason in ("stop", "length")
        assert completion.usage.prompt_tokens > 0
        assert completion.usage.completion_tokens > 0
        assert completion.model

    async def test_that_it_streams_the_same_text(self, model: LanguageModel) -> None:
        request = _asking(max_tokens=12)
        pieces = [piece async for piece in model.stream(request)]
        assert "".join(pieces) == (await model.generate(request)).text

    async def test_that_greedy_answers_repeat(self, model: LanguageModel) -> None:
        request = _asking(max_tokens=12)
        assert (await model.generate(request)).text == (await model.generate(request)).text

    async def test_that_concurrent_calls_all_answer(self, model: LanguageModel) -> None:
        request = _asking(max_tokens=12)
        answers = await asyncio.gather(*(model.generate(request) for _ in range(3)))
        assert len({answer.text for answer in answers}) == 1

    async def test_that_max_tokens_bounds_the_answer(self, model: LanguageModel) -> None:
        completion = await model.generate(_asking(max_tokens=2))
        assert completion.usage.completion_tokens <= 2 or completion.finish_reason == "length"

    @pytest.mark.parametrize("messages", [(), (Message("user", "  "),)])
    async def test_that_empty_requests_are_refused(self, model: LanguageModel, messages: tuple[Message, ...]) -> None:
        with pytest.raises(UsageError, match="message"):
            await model.generate(Request(messages))
        with pytest.raises(UsageError, match="message"):
            await anext(aiter(model.stream(Request(messages))))

    async def test_that_limits_must_be_positive(self, model: LanguageModel) -> None:
        with pytest.raises(UsageError, match="max_tokens"):
            await model.generate(_asking(max_tokens=0))
        with pytest.raises(UsageError, match="timeout"):
            await model.generate(Request(ASKED, timeout=0))

    async def test_that_nonsense_in_a_request_is_refused(self, model: LanguageModel) -> None:
        for sampling in (Sampling(temperature=-1), Sampling(top_p=0), Sampling(top_p=2)):
            with pytest.raises(UsageError, match="temperature"):
                await model.generate(Request(ASKED, sampling))
        stranger = Message("robot", "hello")  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="'robot'"):
            await model.generate(Request((*ASKED, stranger)))

    async def test_that_a_deadline_is_kept(self, model: LanguageModel) -> None:
        with suppress(ModelTimeout):
            await model.generate(Request(ASKED, Sampling(max_tokens=200), timeout=1e-6))

    @pytest.mark.parametrize("kind", sorted(CONSTRAINTS))
    async def test_that_constraints_are_obeyed_or_declared_unsupported(
        self, model: LanguageModel, kind: ConstraintKind
    ) -> None:
        request = Request(ASKED, Sampling(max_tokens=60), CONSTRAINTS[kind])
        if kind not in model.capabilities.constraints:
            with pytest.raises(UsageError, match=kind):
                await model.generate(request)
            return
        # A model may fail to obey; it may not keep silent about it.
        with suppress(InvalidOutput):
            completion = await model.generate(request)
            assert compiled(CONSTRAINTS[kind]).problem(completion.text) == ""

    @pytest.mark.parametrize("constraint", BROKEN, ids=lambda broken: f"{broken.kind}-{broken.value}"[:40])
    async def test_that_broken_constraints_never_run_free(self, model: LanguageModel, constraint: Constraint) -> None:
        with pytest.raises(UsageError):
            await model.generate(Request(ASKED, Sampling(max_tokens=5), constraint))

    async def test_that_a_cut_answer_is_no_valid_one(self, model: LanguageModel) -> None:
        if "json_schema" in model.capabilities.constraints:
            with pytest.raises(InvalidOutput) as caught:
                await model.generate(Request(ASKED, Sampling(max_tokens=1), CONSTRAINTS["json_schema"]))
            assert caught.value.problem

    async def test_that_scores_are_likelihoods_in_order(self, model: LanguageModel) -> None:
        if not model.capabilities.scoring:
            return
        assert isinstance(model, Scorer)
        candidates = ["Let me look for your parcel.", "Zebra quartz nine the of."]
        scores = await model.score(ASKED, candidates)
        assert all(score <= 0 for score in scores)
        # A candidate's score depends on nothing but the messages and itself, up to an engine's rounding.
        assert await model.score(ASKED, candidates[::-1]) == pytest.approx(scores[::-1], abs=0.1)
        assert await model.score(ASKED, []) == []


def _asking(max_tokens: int) -> Request:
    return Request(ASKED, Sampling(max_tokens=max_tokens), timeout=60)
