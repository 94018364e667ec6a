"""Conversation tests as data: what a user says, and what must be true after each turn.

A test file is YAML. Rasa's end-to-end `test_cases` are read as well.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from dialoom.errors import InvalidFile
from dialoom.files import read_text
from dialoom.flows.load import place_of
from dialoom.flows.nodes import Understanding
from dialoom.flows.slots import Strict
from dialoom.flows.source import parse_yaml

MAX_TEST_BYTES = 8 * 1024 * 1024

Texts = str | list[str]


class Expect(Strict):
    """What must hold after a turn. Everything here is deterministic but `judged`, which a model decides."""

    node: str = ""
    """The node where the conversation waits: `node`, or `flow.node`."""
    slots: dict[str, JsonValue] = {}
    """Slots and their values; null for one that is empty."""
    filled: Texts = []
    """Slots that hold something."""
    contains: Texts = []
    lacks: Texts = []
    matches: str = ""
    """A regular expression found in the reply."""
    says: Texts = []
    """The reply holds one of these utterances, word for word."""
    violated: Texts = []
    """Constraints violated in this turn, by label or name."""
    holds: bool = False
    """No constraint was violated in this turn."""
    repair: Texts = []
    """Repairs started in this turn."""
    called: dict[str, dict[str, JsonValue] | None] | str = {}
    """Functions called in this turn, with the arguments that matter."""
    not_called: Texts = []
    queued: list[str] | None = None
    """The sub-flows that wait, in order."""
    events: Texts = []
    """Kinds of events of this turn."""
    hand_off: bool | None = None
    closed: bool | None = None
    turns: int | None = None
    """At most so many user turns since the beginning."""
    model_calls: int | None = None
    """At most so many model calls in this turn."""
    judged: Texts = []
    """Statements about the reply that a judging model must agree with; skipped without one."""


class Say(Strict):
    """One user turn and what must hold after it; in a file, the words alone will do."""

    user: Annotated[str | None, WithJsonSchema({"type": ["string", "number", "null"]})]
    """What the user says; null opens the conversation."""
    expect: Expect = Expect()

    @model_validator(mode="before")
    @classmethod
    def _words_alone(cls, value: Any) -> Any:
        return value if isinstance(value, dict | Say) else {"user": value}

    @field_validator("user", mode="before")
    @classmethod
    def _as_typed(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """A mapping, or the words alone."""
        return {"anyOf": [handler(core), {"type": ["string", "number", "null"]}]}


class FaultAnswer(Strict):
    """A failure of the scripted model in place of an answer."""

    fault: Literal["timeout", "error", "refused", "malformed", "empty", "slow"]
    seconds: float = 0.0
    text: str = "late"


Answer = Annotated[str | FaultAnswer | dict[str, JsonValue], Field(union_mode="left_to_right")]


class Test(Strict):
    """One conversation."""

    __test__ = False

    name: str
    description: str = ""
    model: list[Answer] | None = None
    """Answers of the scripted model, one each call; a mapping is sent as JSON."""
    now: datetime | None = None
    signals: dict[str, JsonValue] = {}
    turns: Annotated[list[Say], Field(min_length=1)]
    expect: Expect = Expect()
    """What must hold at the end; counts are of the whole conversation."""


class TestFile(Strict):
    """A file of conversations with one flow."""

    __test__ = False

    flow: str
    """The flow file, relative to this one."""
    understand: list[Understanding] | None = None
    """Who understands the user in these tests, in place of the flow's own order."""
    cassette: str = ""
    """Recorded model calls, relative to this file."""
    now: datetime = datetime(2026, 1, 15, 12, 0)
    """The clock of the tests that do not say."""
    signals: dict[str, JsonValue] = {}
    passes: Annotated[str, Field(pattern=r"^(\d+ of \d+|majority of \d+)$")] = "1 of 1"
    """With a live model: how many of how many runs must pass."""
    tests: Annotated[list[Test], Field(min_length=1)]


class RasaStep(Strict):
    """One step of a Rasa end-to-end test."""

    user: str | None = None
    bot: str | None = None
    utter: str | None = None
    slot_was_set: list[str | dict[str, JsonValue]] | None = None
    slot_was_not_set: list[str | dict[str, JsonValue]] | None = None


class RasaTest(Strict):
    """One Rasa end-to-end test case."""

    test_case: str
    steps: Annotated[list[RasaStep], Field(min_length=1)]


def load_tests(path: Path | str, flow: str = "") -> TestFile:
    """The tests of a file. Rasa's form names no flow: `flow` says which, relative to the file.

    Raises `InvalidFile` that names line and place.
    """
    data, source = parse_yaml(read_text(path, limit=MAX_TEST_BYTES), str(path))
    if isinstance(data, dict) and "test_cases" in data:
        data = _from_rasa(data, str(path), flow)
    try:
        return TestFile.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = place_of(first["loc"], data)
        where = ".".join(map(str, place)) or "the file"
        key = first["loc"][-1] if first["type"] in ("missing", "extra_forbidden") else ""
        problem = f"'{key}': {first['msg']}" if key else first["msg"]
        raise InvalidFile(path, f"{where}: {problem}.", place=f"line {source.line(place)}") from error


def tests_schema() -> dict[str, Any]:
    """The JSON Schema of test files, for editors and other tools."""
    schema = TestFile.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Dialoom conversation tests"}


def _from_rasa(data: dict[str, Any], path: str, flow: str) -> dict[str, Any]:
    """Rasa's steps in order: what follows a user step is expected of the reply to it."""
    if not flow:
        raise InvalidFile(path, "test_cases name no flow.", hint="Say which: dialoom test DIR --flow FLOW.yaml.")
    tests = []
    for index, case in enumerate(data["test_cases"]):
        try:
            parsed = RasaTest.model_validate(case)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise InvalidFile(path, f"test case {index + 1}: {first['loc']}: {first['msg']}.") from error
        tests.append({"name": parsed.test_case, "turns": _rasa_turns(parsed, path)})
    return {"flow": flow, "tests": tests}


def _rasa_turns(case: RasaTest, path: str) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for step in case.steps:
        if step.user is not None:
            turns.append({"user": step.user, "expect": {"contains": [], "slots": {}}})
            continue
        if not turns:
            raise InvalidFile(path, f"'{case.test_case}' begins with no user step.")
        expect = turns[-1]["expect"]
        if step.bot is not None:
            expect["contains"].append(step.bot)
        if step.utter is not None:
            raise InvalidFile(path, f"'{case.test_case}' names the response '{step.utter}'.", hint="Write bot: TEXT.")
        for item in step.slot_was_set or ():
            expect["slots"] |= item if isinstance(item, dict) else {}
            expect.setdefault("filled", []).extend([item] if isinstance(item, str) else [])
        for item in step.slot_was_not_set or ():
            expect["slots"] |= dict.fromkeys([item] if isinstance(item, str) else item)
    return turns
