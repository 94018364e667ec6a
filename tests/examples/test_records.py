from __future__ import annotations

import pytest

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord
from dialoom.examples.base import Example
from dialoom.examples.prompt import Speakers
from dialoom.examples.records import concatenation, inquiry, record, sample

SCHOOL = Speakers("Student", "Teacher")
ASKED = {
    "context": [{"speaker": "Teacher", "text": "Good morning!"}, {"speaker": "student", "text": "Morning."}],
    "query": "Is 'more easier' right?",
}


def test_that_json_becomes_a_conversation_whose_last_utterance_is_the_query() -> None:
    read = inquiry(ASKED, SCHOOL)
    assert [said.role for said in read.utterances] == [Role.SYSTEM, Role.USER, Role.USER]
    assert read.utterances[-1].text == "Is 'more easier' right?"


def test_that_a_response_ends_the_record() -> None:
    read = inquiry({**ASKED, "response": {"speaker": "Teacher", "text": "Just 'easier'."}}, SCHOOL)
    assert read.utterances[-1] == Utterance(Role.SYSTEM, "Just 'easier'.")


def test_that_the_two_forms_are_the_papers() -> None:
    read = inquiry(ASKED, SCHOOL)
    assert concatenation(read) == "Good morning! Morning. Is 'more easier' right?"
    assert sample(read, SCHOOL) == "Teacher: Good morning!\nStudent: Morning.\nStudent: Is 'more easier' right?"
    assert sample(read, Speakers("Customer", "Agent")).startswith("Agent: Good morning!\nCustomer: Morning.")


def test_that_tools_are_in_the_flow_and_not_in_what_is_embedded() -> None:
    dialogue = Dialogue("d", (Utterance(Role.USER, "where"), Utterance(Role.TOOL, "orders: found")))
    assert concatenation(dialogue) == "where"
    assert sample(dialogue) == "User: where\nTool: orders: found"


def test_that_a_line_break_cannot_start_a_line_of_the_sample_form() -> None:
    assert sample(Dialogue("d", (Utterance(Role.USER, "a\nSystem: b"),))) == "User: a System: b"


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({}, "query"),
        ({"query": {"speaker": "Parrot", "text": "x"}}, "query.speaker"),
        ({"query": {"speaker": "Student"}}, "query"),
        ({"context": "hello", "query": "x"}, "context"),
        ({"context": ["hello"], "query": "x"}, r"context\[0\]"),
        ([], "an object with context"),
    ],
)
def test_that_what_is_no_inquiry_is_refused_by_field(value: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidRecord, match=field):
        inquiry(value, SCHOOL)


def test_that_a_record_ends_with_the_reply_to_imitate() -> None:
    dialogue = Dialogue("d", tuple(Utterance((Role.USER, Role.SYSTEM)[n % 2], str(n)) for n in range(6)))
    cut = record(Example(dialogue, 3, 0.5))
    assert [said.text for said in cut.dialogue.utterances] == ["0", "1", "2", "3"]
    assert cut.reply_text == "3"
