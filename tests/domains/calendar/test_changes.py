"""Changes wait for a yes, are carried out once, and are said as what they are."""

from __future__ import annotations

import datetime as dt

import pytest

from dialoom.dataflow import Graph, from_lispress
from dialoom.domains.calendar import Event, EventId, World, calendar_library, calendar_rules
from dialoom.generation import Recogniser, transduce

FIND = (
    '(Event.id (singleton (QueryEventResponse.results (FindEventWrapperWithDefaults (Event.subject_? (?~= "lunch"))))))'
)
CREATE = (
    '(Yield (CreateCommitEventWrapper (CreatePreflightEventWrapper (& (Event.subject_? (?= "tea")) '
    "(Event.start_? (?= (DateAtTimeWithDefaults (Tomorrow) (NumberPM 3L))))))))"
)
UPDATE = (
    f"(Yield (UpdateCommitEventWrapper (UpdatePreflightEventWrapper {FIND} "
    "(Event.start_? (?= (DateAtTimeWithDefaults (Tomorrow) (NumberPM 1L)))))))"
)
DELETE = f"(Yield (DeleteCommitEventWrapper (DeletePreflightEventWrapper {FIND})))"
YES = "(Yield (^(Dynamic) Execute (^(Dynamic) ConfirmAndReturnAction)))"


@pytest.fixture
def world() -> World:
    start = dt.datetime(2020, 3, 5, 12)
    return World(dt.datetime(2020, 3, 4, 10), [Event(EventId(1), "lunch", start, start + dt.timedelta(hours=1))])


def says(program: str, world: World) -> Recogniser:
    graph = Graph(from_lispress(program, calendar_library), calendar_library, [world])
    return Recogniser(transduce(graph, calendar_rules))


def test_that_an_event_is_created_after_a_yes_and_not_before(world: World) -> None:
    asked = says(CREATE, world)
    assert asked.accepts('Shall I create "tea" tomorrow from 3:00 to 3:30 PM?')
    assert not asked.accepts('I created "tea" tomorrow from 3:00 to 3:30 PM.')
    assert len(world.events) == 1
    done = says(YES, world)
    assert done.accepts('I created "tea" tomorrow from 3:00 to 3:30 PM.')
    assert [event.subject for event in world.events] == ["lunch", "tea"]
    assert says(YES, world).accepts("There is nothing to confirm.")
    assert len(world.events) == 2


def test_that_an_event_is_moved(world: World) -> None:
    assert says(UPDATE, world).accepts('Shall I move "lunch" tomorrow from 12:00 to 1:00 PM to tomorrow at 1:00 PM?')
    assert says(YES, world).accepts(
        'I changed "lunch" tomorrow from 12:00 to 1:00 PM to "lunch" tomorrow from 1:00 to 2:00 PM.'
    )
    assert [event.start.hour for event in world.events] == [13]


def test_that_an_event_is_deleted(world: World) -> None:
    assert says(DELETE, world).accepts('Should I delete "lunch" tomorrow from 12:00 to 1:00 PM?')
    assert says(YES, world).accepts('I deleted "lunch" tomorrow from 12:00 to 1:00 PM.')
    assert world.events == []
    assert says(DELETE, world).accepts('I didn\'t find any events matching "lunch".')
