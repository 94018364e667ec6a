from __future__ import annotations

import pytest

from dialoom.evaluation.multiwoz.benchmark import Benchmark
from dialoom.evaluation.multiwoz.spelling import minutes
from dialoom.evaluation.multiwoz.venues import alike


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("noon", "12:00"),
        ("Nine o'clock in the morning", "09:00"),
        ("after 5 pm", "17:00"),
        ("5:15 p.m.", "17:15"),
        ("9:15am", "09:15"),
        ("0915", "09:15"),
        ("9", "09:00"),
        ("by 9:15.", "09:15"),
        ("09 : 15", "09:15"),
        ("", "00:00"),
        ("whenever", "whenever"),
    ],
)
def test_that_times_are_read_and_spelled_once(written: str, meant: str, town: Benchmark) -> None:
    assert town.spelling.value("leave", written) == meant
    assert town.spelling.value("leave", meant) == meant


def test_that_values_get_the_spelling_of_the_database(town: Benchmark) -> None:
    state = town.spelling.state({"hotel": {"Name": "The Fox", "type": "guest house", "parking": "free"}})
    assert state == {"hotel": {"name": "fox and hounds inn", "type": "guesthouse", "parking": "yes"}}
    assert town.spelling.value("name", "Fox & Hounds") == "fox and hounds"
    assert town.spelling.slot("arrive By") == "arrive"


def test_that_responses_read_alike_however_they_were_tokenised(town: Benchmark) -> None:
    spaced = town.spelling.text("The [hotel_name] -s ( north ) leave at 09 : 15 , ok ?")
    assert (
        spaced
        == town.spelling.text("the [NAME]s (north) leave at 09:15, ok?")
        == "the NAME (north) leave at 09: 15, ok?"
    )


def test_that_plural_placeholders_mention_their_slot(town: Benchmark) -> None:
    assert town.spelling.mentioned("[postcode]s and [phone]-es, [nothing]") == {"POST", "PHONE"}


def test_that_minutes_count_from_midnight() -> None:
    assert minutes("17:15") == 1035
    assert minutes("late") == 0


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("fox and hounds", "fox and hounds inn", True),
        ("fox and hound inn", "the fox and hounds inn", True),
        ("mill lane lodge", "hill lane lodge", True),
        ("yew garden", "curry garden", False),
        ("bridge lodge", "mill lane lodge", False),
        ("", "mill lane lodge", False),
    ],
)
def test_that_names_match_by_likeness_in_either_order(a: str, b: str, same: bool) -> None:
    assert alike(a, b) is same
    assert alike(b, a) is same


def test_that_queries_ignore_slots_that_are_no_column_and_unknown_values_match_all(town: Benchmark) -> None:
    assert town.venues.query("hotel", {"bookday": "monday", "area": "dontcare"}) == {"0", "1"}
    assert town.venues.query("hotel", {"stars": "4"}) == {"1"}
    assert town.venues.query("train", {"arrive": "11:00"}) == {"TR1"}
    assert town.venues.query("train", {"leave": "11:00"}) == {"TR2"}
    assert town.venues.query("taxi", {}) == frozenset()
