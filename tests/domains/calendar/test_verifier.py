"""The verifier knows no rules: it finds false claims in free text, and none in what rules derive."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from dialoom.dataflow import Graph, from_lispress
from dialoom.domains.calendar import Attendee, Event, EventId, Recipient, World, calendar_library, calendar_rules
from dialoom.domains.calendar.lies import Lie, caught, lies
from dialoom.domains.calendar.questions import questions
from dialoom.domains.calendar.sample import sample_world
from dialoom.domains.calendar.truth_bench import made_up_cases, measure
from dialoom.domains.calendar.verifier import precision, verify
from dialoom.generation import sampler, text_of, transduce

ANY = "(^(Event) EmptyStructConstraint)"
TOMORROW = f"(FindEventWrapperWithDefaults (EventOnDate (Tomorrow) {ANY}))"


@pytest.fixture
def world() -> World:
    start = dt.datetime(2020, 3, 5, 12)
    lunch = Event(EventId(1), "lunch", start, start + dt.timedelta(hours=1), (Attendee(Recipient("Bo Hale")),), "Lido")
    later = dt.datetime(2020, 3, 20, 9)
    other = Event(EventId(2), "swim", later, later + dt.timedelta(hours=2), (Attendee(Recipient("Ann Lee")),), "Pool")
    return World(dt.datetime(2020, 3, 4, 10), [lunch, other], [Recipient("Bo Hale"), Recipient("Ann Lee")])


@pytest.mark.parametrize(
    ("reply", "false"),
    [
        ('I found one event tomorrow. It\'s "lunch" from 12:00 to 1:00 PM.', set()),
        ("I found 3 events tomorrow.", {"count"}),
        ("I didn't find any events tomorrow.", {"count"}),
        ('I found one event tomorrow. It\'s "swim" from 12:00 to 1:00 PM.', {"quotation", "event"}),
        ('I found one event tomorrow. It\'s "lunch" from 12:00 to 1:30 PM.', {"times", "event"}),
        ('I found one event tomorrow. It\'s "lunch" on Friday the 6th.', {"day"}),
        ("You have one event with Ann Lee tomorrow.", {"person"}),
        ("You have one event with Bo Hale tomorrow.", set()),
        ("You have one event tomorrow at 3:00 PM.", {"time"}),
        ("You have one event tomorrow at the Pool.", {"place"}),
        ("It's for 2 hours.", {"length"}),
        ("I like calendars.", set()),
        ("There are two meetings tomorrow.", {"count"}),
        ("There is one meeting tomorrow.", set()),
        ("You don't have any meetings tomorrow.", {"existence"}),
        ("You have one event with Zora Quist tomorrow.", {"person"}),
    ],
)
def test_that_false_claims_are_found(reply: str, false: set[str], world: World) -> None:
    graph = Graph(from_lispress(f"(Yield {TOMORROW})", calendar_library), calendar_library, [world])
    assert {claim.kind for claim in verify(reply, graph) if not claim.true} == false


def test_that_a_wrong_yes_is_found(world: World) -> None:
    program = f"(Yield (> (size (QueryEventResponse.results {TOMORROW})) 0L))"
    graph = Graph(from_lispress(program, calendar_library), calendar_library, [world])
    assert precision(verify("No, I found one event.", graph)) == 0.5
    assert precision(verify("Yes, I found one event.", graph)) == 1


def test_that_what_failed_has_no_yes_in_it(world: World) -> None:
    program = f"(Yield (> (Event.start (FindNumNextEvent {ANY} 7L)) (Now)))"
    graph = Graph(from_lispress(program, calendar_library), calendar_library, [world])
    assert [(claim.kind, claim.true) for claim in verify("Yes. There are only 2 events.", graph)][:1] == [
        ("verdict", False)
    ]


def test_that_subject_and_times_must_be_of_one_event(world: World) -> None:
    program = f"(Yield (FindEventWrapperWithDefaults {ANY}))"
    graph = Graph(from_lispress(program, calendar_library), calendar_library, [world])
    mixed = verify('I found 2 events. The first is "lunch" from 9:00 to 11:00 AM.', graph)
    assert [claim.kind for claim in mixed if not claim.true] == ["event"]


REMEMBERED = "(Execute (refer (extensionConstraint (^(Event) EmptyStructConstraint))))"
OTHERS = f"(FindEventWrapperWithDefaults (Event.id_? (negate (?= (Event.id {REMEMBERED})))))"


@pytest.mark.parametrize(
    ("reply", "true"),
    [
        ('I found one other event. It\'s "swim" from 9:00 to 11:00 AM.', True),
        ("I found 2 other events.", False),
        ("I didn't find any other events.", False),
        ('I found one other event. It\'s "lunch" from 12:00 to 1:00 PM.', False),
    ],
)
def test_that_an_event_a_search_refers_to_is_not_what_it_found(reply: str, true: bool, world: World) -> None:
    world.salient_event = world.events[0]
    graph = Graph(from_lispress(f"(Yield {OTHERS})", calendar_library), calendar_library, [world])
    assert all(claim.true for claim in verify(reply, graph)) is true


def test_that_nothing_on_a_day_follows_from_nothing_at_all(world: World) -> None:
    program = '(Yield (FindEventWrapperWithDefaults (Event.subject_? (?~= "opera"))))'
    graph = Graph(from_lispress(program, calendar_library), calendar_library, [world])
    today, tomorrow = "I didn't find any events today.", "I didn't find any events tomorrow."
    assert all(claim.true for claim in verify(today, graph))
    assert [claim.kind for claim in verify(tomorrow, graph) if not claim.true] == ["day"]


def test_that_a_name_in_a_subject_is_no_claim_about_a_person(world: World) -> None:
    world.events[0] = replace(world.events[0], subject="tea with Ann Lee")
    graph = Graph(from_lispress(f"(Yield {TOMORROW})", calendar_library), calendar_library, [world])
    assert all(claim.true for claim in verify("You have one event. Your tea with Ann Lee is at noon.", graph))
    assert not all(claim.true for claim in verify("You have one event with Ann Lee.", graph))


def test_that_each_planted_lie_changes_one_fact(world: World) -> None:
    graph = Graph(from_lispress(f"(Yield {TOMORROW})", calendar_library), calendar_library, [world])
    reply = 'I found one event tomorrow. It\'s "lunch" with Bo Hale at Lido from 12:00 to 1:00 PM.'
    planted = {lie.kind: lie.text for lie in lies(reply, graph)}
    assert planted == {
        "count": reply.replace("one", "2"),
        "existence": "I didn't find any events.",
        "time": reply.replace("12:00", "12:07"),
        "name": reply.replace("Bo Hale", "Ann Lee"),
        "subject": reply.replace("lunch", "swim"),
        "place": reply.replace("Lido", "Pool"),
        "day": reply.replace("tomorrow", "yesterday"),
    }
    (longer,) = [lie for lie in lies("It's for an hour.", graph) if lie.kind == "length"]
    assert longer.text == "It's for 25 minutes."
    assert caught(longer, graph)
    assert {lie.kind: lie.text for lie in lies("Yes, it is.", graph)} == {"verdict": "No, it is."}
    assert [lie.text for lie in lies("I didn't find any events.", graph)] == ["I found 3 events."]


def test_that_nothing_the_rules_derive_is_false() -> None:
    claims = 0
    for number, program in enumerate(questions(sample_world(), 120, seed=5)):
        graph = Graph(from_lispress(program, calendar_library), calendar_library, [sample_world()])
        grammar = transduce(graph, calendar_rules)
        draw = sampler(grammar, seed=number, weighted=number % 2 == 0)
        for _ in range(5):
            text = text_of(grammar, draw())
            found = verify(text, graph)
            claims += len(found)
            assert [claim for claim in found if not claim.true] == [], (text, program)
    assert claims > 600


def test_that_almost_every_planted_lie_is_caught() -> None:
    planted: list[tuple[Lie, bool]] = []
    for seed, case in enumerate(made_up_cases(80)):
        reply = text_of(case.grammar, sampler(case.grammar, seed=seed, weighted=True)())
        planted += [(lie, caught(lie, case.graph)) for lie in lies(reply, case.graph, seed)]
        assert all(lie.text != reply for lie, _ in planted[-3:])
    assert {lie.kind for lie, _ in planted} >= {"count", "existence", "verdict", "name", "subject", "day", "time"}
    missed = [lie for lie, found in planted if not found]
    assert len(planted) > 100
    assert len(missed) <= 0.05 * len(planted), missed


def test_that_a_system_is_measured() -> None:
    cases = made_up_cases(4)
    lie = measure("liar", lambda graph, grammar, seed: "I found 77 events.", cases, lambda text: 5)
    assert (lie.truthful, lie.precision, lie.silent, lie.replies) == (0, 0, 0, 4)
    assert lie.bleu is None
    mute = measure("mute", lambda graph, grammar, seed: "Hm.", cases, lambda text: 1)
    assert (mute.truthful, mute.silent, mute.distinct) == (1, 1, 0.25)
