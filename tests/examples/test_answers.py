"""Cleaning a model's answer."""

from __future__ import annotations

import pytest

from dialoom.examples.answers import cleaned


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("teacher : Use 'whom'.", "Use 'whom'."),
        ("Teacher: Teacher: Twice.", "Twice."),
        ("3 Teacher: With an id.", "With an id."),
        ("[3] TEACHER: With brackets.", "With brackets."),
        ("1 Student: Why?\n2 Teacher: Because.\n3 Teacher: The open one.\n4 Student: Thanks", "The open one."),
        ("First line.\nStudent: I see.\nTeacher: More.", "First line."),
        ("First line.\n4 Student: I see.", "First line."),
        ("One\n\n two  lines", "One two lines"),
        ('"In quotes."', "In quotes."),
        ('"Go" he said, "now"', '"Go" he said, "now"'),
        ("The teacher: a person.", "The teacher: a person."),
        ("assistant: Hello", "Hello"),
        ("", ""),
        ("Teacher:", ""),
    ],
)
def test_that_answers_are_cleaned_by_the_rules(answer: str, reply: str) -> None:
    assert cleaned(answer, agent="Teacher", others=("Student",), number=3) == reply
