"""Real programs: the subset, clues, proposed worlds and the bench."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from dialoom.dataflow import Graph, from_lispress
from dialoom.domains.calendar import Event, EventId, World, calendar_library, calendar_rules
from dialoom.domains.calendar.clues import normalised, read_clues
from dialoom.domains.calendar.smcalflow.bench import derivable, examine, summarise
from dialoom.domains.calendar.smcalflow.levels import level
from dialoom.domains.calendar.smcalflow.turns import Turn, is_event_query, read_turns
from dialoom.errors import InvalidFile
from dialoom.generation import transduce

GYM = (
    "(Yield (Event.start (singleton (QueryEventResponse.results (FindEventWrapperWithDefaults "
    '(Event.subject_? (?~= "gym")))))))'
)


def test_that_replies_are_made_regular() -> None:
    assert normalised("It\u2019s  \u201cgym\u201d today ..") == 'It\'s "gym" today.'


def test_that_clues_are_read() -> None:
    clues = read_clues('Yes, I found one event on Friday the 13th. It was "tea" from 11:30 to 1:00 PM.')
    assert clues.count == 1
    assert clues.past
    assert [(day.weekday, day.day) for day in clues.days] == [(4, 13)]
    assert [time for _, time in clues.times] == [dt.time(11, 30), dt.time(13)]
    assert clues.quotes[0][1] == "tea"
    assert clues.quotes[0][0] >= clues.tail
    assert read_clues("It's for an hour and a half.").length == dt.timedelta(minutes=90)
    assert read_clues("No, I didn't find any events.").count == 0


@pytest.mark.parametrize(
    "reply",
    [
        'The event matching "gym" is on Friday at 3:00 PM.',
        'The event matching "gym" was on January 5, 2018 at 3:00 PM.',
        "It starts tomorrow at 8:15 AM",
        'I didn\'t find any events matching "gym" on your calendar.',
    ],
)
def test_that_a_possible_reply_is_derivable(reply: str) -> None:
    assert derivable(from_lispress(GYM, calendar_library), reply) is not None


@pytest.mark.parametrize(
    "reply",
    [
        'The event matching "swim" is on Friday at 3:00 PM.',
        "The event with Ann is on Friday at 3:00 PM.",
        "No, I found 2 events.",
        "I cannot help with that.",
    ],
)
def test_that_an_impossible_reply_is_not_derivable(reply: str) -> None:
    assert derivable(from_lispress(GYM, calendar_library), reply, limit=30) is None


def gym() -> Event:
    start = dt.datetime(2020, 3, 5, 15)
    return Event(EventId(1), "gym", start, start + dt.timedelta(hours=1))


ANYTHING = "(^(Event) EmptyStructConstraint)"
LATER = (
    "(let (x0 (Event.end (singleton (QueryEventResponse.results (FindEventWrapperWithDefaults "
    '(Event.subject_? (?~= "gym"))))))) (Yield (FindEventWrapperWithDefaults (EventOnDateAfterTime '
    f"(DateTime.date x0) {ANYTHING} (DateTime.time x0)))))"
)
NEAR = (
    f"(Yield (FindEventWrapperWithDefaults (EventOnDateBeforeTime (Tomorrow) {ANYTHING} (DateTime.time (Event.start "
    "(singleton (QueryEventResponse.results (FindEventWrapperWithDefaults (EventOnDate (Today) (Event.subject_? "
    '(?~= "gym")))))))))))'
)
FOUND = f"(Yield (FindEventWrapperWithDefaults (EventOnDate (Tomorrow) {ANYTHING})))"


@pytest.mark.parametrize(
    ("program", "reply"),
    [
        (GYM, 'The event matching "gym" is tomorrow at 3:00.'),
        (GYM, 'The event matching "gym" is on today at 3:00 PM.'),
        (FOUND, "You have one event on your calendar. Your garden party is tomorrow from 3:00 to 5:00 PM."),
        (LATER, 'I found one event tomorrow after 7:00 PM. It\'s "swim" from 7:00 to 7:30 PM.'),
        (LATER, 'I didn\'t find any events matching "gym".'),
        # The event that the inner search finds begins, on the day it was searched on, when the reply says.
        (NEAR, 'I found one event tomorrow before 3:00 PM. It\'s "swim" from 2:00 to 2:30 PM.'),
    ],
)
def test_that_looser_ways_of_speaking_and_searches_within_searches_are_derivable(program: str, reply: str) -> None:
    assert derivable(from_lispress(program, calendar_library), reply) is not None


MONDAY = f"(Yield (FindEventWrapperWithDefaults (EventOnDate (NextDOW (Monday)) {ANYTHING})))"


@pytest.mark.parametrize(
    ("reply", "reached"),
    [
        ('I found 2 events on Monday. The first is "swim" from 4:00 to 4:30 PM.', 5),
        ("I found 2 events on Monday between 4:00 and 5:00 PM.", 1),
        ("I found 2 events on Friday.", 3),
        ('I found 2 events on Monday the 4th. The first is "swim" from 4:00 to a quarter past 4:00.', 0),
        ("Good morning.", 0),
    ],
)
def test_that_a_reply_reaches_a_level(reply: str, reached: int) -> None:
    assert examine(Turn("d", 0, MONDAY, reply)).level == reached


def test_that_levels_leave_less_and_less_open() -> None:
    grammar = transduce(
        Graph(from_lispress(GYM, calendar_library), calendar_library, [World(dt.datetime(2020, 3, 4, 10), [gym()])]),
        calendar_rules,
    )
    replies = {
        'The event matching "gym" is tomorrow at 3:00 PM.': 4,
        'The event matching "gym" is tomorrow at 5:00 PM.': 4,
        'The event matching "gym" is today at 5:00 PM.': 3,
        'The event matching "swim" is today at 5:00 PM.': 2,
        "The event matching 3:00 is today at 5:00 PM.": 1,
        "The event is on fire.": 0,
    }
    assert {reply: level(reply, [grammar]) for reply in replies} == replies


def test_that_a_turn_is_examined_and_summarised() -> None:
    good = examine(Turn("d", 0, GYM, "It starts tomorrow at 8:15 AM."))
    bad = examine(Turn("d", 1, "(Yield (NoSuchFunction))", "x"))
    assert (good.parsed, good.executed, good.described, good.derived) == (True, True, True, True)
    assert not bad.parsed
    assert "NoSuchFunction" in bad.problem
    summary = summarise([good, bad])
    assert (summary.turns, summary.parsed, summary.derived) == (2, 0.5, 0.5)


def test_that_the_subset_asks_and_does_not_act() -> None:
    assert is_event_query(GYM)
    assert not is_event_query("(Yield (Today))")
    assert not is_event_query(f"(Yield (DeleteCommitEventWrapper (DeletePreflightEventWrapper (Event.id {GYM}))))")


def test_that_a_broken_file_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"dialogue_id": "a", "turns": []}\nnot json\n')
    with pytest.raises(InvalidFile, match="line 2"):
        list(read_turns(path))
    with pytest.raises(InvalidFile, match="cannot be read"):
        list(read_turns(tmp_path / "absent.jsonl"))


@pytest.mark.data
def test_that_most_of_a_real_sample_is_derivable(data: Path) -> None:
    path = data / "smcalflow" / "valid.dev.dataflow_dialogues.jsonl.gz"
    turns = [turn for turn in read_turns(path) if is_event_query(turn.program)]
    assert len(turns) == 1312
    summary = summarise(examine(turn, worlds_tried=60) for turn in turns[::12])
    assert summary.parsed == 1
    assert summary.executed >= 0.95
    assert summary.described >= 0.95
    assert summary.derived >= 0.8
    assert json.dumps(summary.milliseconds)
