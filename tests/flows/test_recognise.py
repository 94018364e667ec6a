"""Recognisers: what a message says, without a model."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from dialoom.flows import Application
from dialoom.flows.flow import Intent
from dialoom.flows.intents import Likeness, find_intents, likeness_of, segments
from dialoom.flows.recognise import Hearing, recognise
from dialoom.flows.slots import Slot
from dialoom.testing.encoders import HashedWords

from .talking import Talk

NOW = datetime(2026, 11, 21, 9, 0)  # a Saturday
SIZE = Slot(type="choice", choices={"small": ["little"], "large": ["big", "family size"]}, recognise="choices")


def read(slot: Slot, text: str) -> Any:
    match = recognise("it", slot, Hearing(text, NOW))
    return match.rivals or match.value if match else None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a big one", "large"),
        ("LARGE!", "large"),
        ("lagre please", "large"),
        ("family size", "large"),
        ("the littel one", "small"),
        ("not large", None),
        ("without the big one, small", "small"),
        ("medium", None),
        ("enlarged", None),
        ("", None),
    ],
)
def test_that_choices_are_found_with_tolerance(text: str, value: str | None) -> None:
    assert read(SIZE, text) == value


def test_that_a_word_for_two_choices_is_unclear() -> None:
    slot = Slot(type="choice", choices={"Veggie": ["meatless"], "Margherita": ["meatless"]}, recognise="choices")
    assert read(slot, "something meatless") == ("Veggie", "Margherita")


def test_that_one_or_the_other_is_unclear_and_one_and_the_other_is_not() -> None:
    assert read(SIZE, "small or the big one") == ("small", "large")
    assert read(SIZE, "small and big") == "small"


def test_that_a_part_of_a_name_is_enough_unless_it_fits_two() -> None:
    slot = Slot.model_validate({"recognise": {"by": "names", "names": ["Dr Anna Smith", "Dr Bob Jones", "Carl Smith"]}})
    assert read(slot, "to Jones please") == "Dr Bob Jones"
    assert read(slot, "Smith") == ("Dr Anna Smith", "Carl Smith")
    assert read(slot, "Jones or Smith") == ("Dr Bob Jones", "Dr Anna Smith", "Carl Smith")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 of them", 2),
        ("twelve", 12),
        ("twenty-three", 23),
        ("1,250", 1250),
        ("a couple", 2),
        ("-4", -4),
        ("the 3rd", None),
        ("2.5", None),
        ("many", None),
    ],
)
def test_that_whole_numbers_are_read(text: str, value: int | None) -> None:
    assert read(Slot(type="integer", recognise="number"), text) == value


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("date", "tomorrow please", "2026-11-22"),
        ("date", "the day after tomorrow", "2026-11-23"),
        ("date", "on the 3rd of December", "2026-12-03"),
        ("date", "next Friday at 3pm", "2026-11-27"),
        ("date", "a table for 4 on Friday", "2026-11-27"),
        ("date", "for two on friday at 8", "2026-11-27"),
        ("date", "may I come on Monday?", "2026-11-23"),
        ("date", "we are three, Friday works", "2026-11-27"),
        ("date", "next week on Tuesday", "2026-11-24"),
        ("date", "Tuesday next week", "2026-11-24"),
        ("date", "on the 4th please", "2026-12-04"),
        ("date", "the 3rd floor", None),
        ("date", "march please", None),
        ("date", "we may see", None),
        ("date", "a large pizza", None),
        ("time", "at half past nine", "09:30"),
        ("time", "at 14:30", "14:30"),
        ("time", "3 pm", "15:00"),
        ("time", "quarter to five", "04:45"),
        ("time", "noon", "12:00"),
        ("time", "12 am", "00:00"),
        ("time", "for 3 people", None),
        ("datetime", "tomorrow at 14:30", "2026-11-22T14:30"),
        ("datetime", "at 8:00", "2026-11-22T08:00"),
        ("datetime", "tomorrow", None),
    ],
)
def test_that_dates_and_times_are_read(kind: Any, text: str, value: str | None) -> None:
    assert read(Slot(type=kind, recognise=kind), text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True),
        ("well, yeah sure", True),
        ("No, thanks", False),
        ("that's all", False),
        ("I have no idea", None),
        ("large", None),
        ("hmm. no", False),
    ],
)
def test_that_yes_and_no_are_read_where_they_open_a_clause(text: str, value: bool | None) -> None:
    assert read(Slot(type="boolean", recognise="yes_no"), text) is value


def test_that_a_pattern_takes_its_group() -> None:
    slot = Slot.model_validate({"recognise": {"by": "pattern", "pattern": r"order (\d+)", "group": 1}})
    assert read(slot, "about Order 77, please") == "77"


def test_that_a_list_takes_every_value() -> None:
    slot = Slot.model_validate(
        {"type": "list", "items": {"type": "choice", "choices": ["olives", "onions"], "recognise": "choices"}}
    )
    assert read(slot, "onions and olives") == ["onions", "olives"]


def test_that_words_are_understood_once() -> None:
    hearing = Hearing("2 large", NOW)
    number = Slot(type="integer", recognise="number")
    first = recognise("a", number, hearing)
    assert first is not None
    hearing.take(first)
    assert recognise("b", number, hearing) is None


def test_that_intents_are_found_in_order_and_cut_the_message() -> None:
    intents = {"pizza": Intent(words=["pizza"]), "salad": Intent(words=["salad"])}
    text = "a large pizza with olives, thin crust and a greek salad"
    found = find_intents(text, intents)
    assert [item.intent for item in found] == ["pizza", "salad"]
    parts = segments(text, found, ["and"])
    assert [(item.intent, text[a:b].strip()) for item, (a, b) in parts] == [
        ("pizza", "a large pizza with olives, thin crust"),
        ("salad", "a greek salad"),
    ]


def test_that_the_longer_phrase_is_the_intent() -> None:
    intents = {"a": Intent(words=["change"]), "b": Intent(words=["change my address"])}
    assert [item.intent for item in find_intents("change my address", intents)] == ["b"]


def test_that_an_encoder_recognises_what_no_phrase_does() -> None:
    intents = {
        "hours": Intent(examples=["when are you open today"], threshold=0.6),
        "order": Intent(examples=["bring me food"], threshold=0.6),
    }
    likeness = Likeness(HashedWords())
    assert [item.intent for item in find_intents("are you open today", intents, likeness)] == ["hours"]
    assert find_intents("something else entirely", intents, likeness) == []


def test_that_an_encoder_of_few_words_is_not_asked_about_others() -> None:
    examples = ["I would like a pizza", "can I get a pepperoni", "something green", "I would like a salad"]
    likeness = likeness_of({"eat": Intent(examples=examples)})
    assert likeness is not None
    intents = {"eat": Intent(examples=examples)}
    assert find_intents("would you like a pizza", intents, likeness)[0].intent == "eat"
    assert find_intents("jump straight to farewell, I already paid", intents, likeness) == []
    assert likeness_of({"eat": Intent(examples=examples[:3])}) is None


def test_that_a_count_before_a_day_is_left_to_the_number() -> None:
    hearing = Hearing("a table for 4 tomorrow", NOW)
    day = recognise("day", Slot.model_validate({"type": "date", "recognise": "date"}), hearing)
    assert day is not None
    hearing.take(day)
    guests = recognise("guests", Slot.model_validate({"type": "integer", "recognise": "number"}), hearing)
    assert (day.value, guests and guests.value) == ("2026-11-22", 4)


def test_that_a_recogniser_of_the_application_that_raises_is_told_and_reads_nothing() -> None:
    app = Application()

    @app.recogniser
    def number(text: str) -> str | None:
        raise LookupError(text)

    talk = Talk(
        """
flow: f
start: a
slots: {size: {type: choice, choices: [small], recognise: choices}, n: {recognise: {by: function, function: number}}}
nodes: {a: {ask: {size: Which size?, n: Which number?}, rules: [{filled: [size, n], go: end}]}}
""",
        app,
    )
    turn = talk.say("small")
    assert turn.text == "Which number?"
    assert turn.of("function_failed")[0].data["error"] == "LookupError: small"
    assert talk.memory == {"size": "small"}
