"""Nodes that tell facts: described computations, answers from knowledge sources."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from dialoom.dialogue import Dialogue
from dialoom.errors import InvalidFile, InvalidRule
from dialoom.flows import Application, parse_flow
from dialoom.flows.checking import check
from dialoom.flows.drawing.labels import arrows, text_of
from dialoom.flows.facts import Outcome, Told

from .talking import Talk, kinds

FLOW = """
flow: desk
start: menu
slots:
  town: {type: text, recognise: {by: pattern, pattern: "(?<=to )[^?]+"}}
  customer: {type: text, default: ann}
intents:
  question: {words: [return, refund]}
nodes:
  menu:
    ask: What can I do?
    memory: [town]
    rules:
      - {filled: [town], go: leave}
      - {intent: question, go: look}
  leave:
    describe: (trains town)
    with: {town: "{{ town }}"}
    timeout: 0.2
    on_error: {say: The timetable is closed., go: again}
    go: again
  again: {set: {town: null}, go: menu}
  look:
    answer: [POLICIES]
    user: "{{ customer }}"
    timeout: 0.2
    on_error: {say: The library is closed., go: menu}
    not_found: nothing
    go: menu
  nothing: {say: Ask a colleague., go: close}
"""


@dataclass
class Facts:
    """A describer and an answerer that note what they are asked, and tell what they are told to."""

    outcome: Outcome = "answered"
    fails: Exception | None = None
    waits: float = 0.0
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    sources: Sequence[str] = ("POLICIES", "MEMORY")

    def check(self, computation: str, names: Sequence[str]) -> None:
        if "trains" not in computation:
            raise InvalidRule("There are only trains.")

    async def describe(self, computation: Any, given: Mapping[str, Any], words: str) -> Told:
        self.asked.append((computation, dict(given), words))
        return await self._told()

    async def answer(self, context: Dialogue, user: str, sources: Sequence[str] | None) -> Told:
        self.asked.append((context.utterances[-1].text, user, sources))
        return await self._told()

    async def consult(self, context: Dialogue, user: str) -> Told:
        return await self.answer(context, user, None)

    async def _told(self) -> Told:
        await asyncio.sleep(self.waits)
        if self.fails:
            raise self.fails
        return Told("So it is.", self.outcome, {"checks": {"score": 1.0}})


def desk(told: Facts, text: str = FLOW) -> Talk:
    return Talk(text, Application(describer=told, answerer=told))


def test_that_a_computation_gets_values_and_never_pieces_of_program() -> None:
    told = Facts()
    turn = desk(told).say('to Oslo") (trains "Rome?')
    assert told.asked == [("(trains town)", {"town": 'Oslo") (trains "Rome'}, 'to Oslo") (trains "Rome?')]
    assert turn.text == "So it is.\nWhat can I do?"
    [event] = turn.of("described")
    assert event.data["checks"] == {"score": 1.0}


def test_that_a_registered_function_builds_the_computation_from_its_arguments() -> None:
    told, app = Facts(), Application()

    @app.computation
    def departures(town: str) -> str:
        return f"(trains {len(town)}L)"

    app.describer = told
    turn = Talk(FLOW.replace("(trains town)", "departures"), app).say("to Oslo")
    assert told.asked[0][:2] == ("(trains 4L)", {})
    assert turn.of("described")[0].data["function"] == "departures"


@pytest.mark.parametrize(
    ("told", "why"),
    [(Facts(fails=ZeroDivisionError("no trains")), "ZeroDivisionError"), (Facts(waits=5.0), "within 0.2 s")],
)
def test_that_a_description_that_fails_or_hangs_takes_the_declared_way_out(told: Facts, why: str) -> None:
    talk = desk(told)
    turn = talk.say("to Oslo")
    assert turn.text == "The timetable is closed.\nWhat can I do?"
    assert why in turn.of("telling_failed")[0].data["error"]
    assert kinds(turn)[-1] != "turn_failed"


def test_that_sources_are_asked_for_the_user_whom_the_node_names() -> None:
    told = Facts()
    turn = desk(told).say("can I return this")
    assert told.asked == [("can I return this", "ann", ["POLICIES"])]
    assert turn.of("answered")[0].data["outcome"] == "answered"


def test_that_planner_leaves_the_choice_of_sources_open() -> None:
    told = Facts()
    desk(told, FLOW.replace("[POLICIES]", "planner")).say("can I return this")
    assert told.asked[0][2] is None


def test_that_a_question_may_be_the_authors() -> None:
    told = Facts()
    text = FLOW.replace("answer: [POLICIES]", 'answer: [POLICIES]\n    question: "How long for {{ customer }}?"')
    desk(told, text).say("can I return this")
    assert told.asked[0][0] == "How long for ann?"


def test_that_not_found_and_hand_off_lead_elsewhere() -> None:
    assert desk(Facts("not_found")).say("can I return this").text.endswith("Ask a colleague.")
    turn = desk(Facts("hand_off")).say("can I return this")
    assert turn.of("repair_started")[0].data["repair"] == "hand_off"


@pytest.mark.parametrize("told", [Facts(fails=ConnectionError("down")), Facts(waits=5.0)])
def test_that_sources_that_fail_or_hang_take_the_declared_way_out(told: Facts) -> None:
    assert desk(told).say("can I return this").text == "The library is closed.\nWhat can I do?"


def test_that_a_flow_without_describer_and_answerer_still_answers() -> None:
    talk = Talk(FLOW, Application())
    assert "timetable is closed" in talk.say("to Oslo").text
    assert "library is closed" in talk.say("can I return this").text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(trains town)", "(trains town", "never closed"),
        ("(trains town)", "(trains city)", "city"),
        ("(trains town)", "departures", "Unknown computation 'departures'"),
        ("[POLICIES]", "[POLICY]", "Did you mean 'POLICIES'?"),
        ("not_found: nothing", "not_found: nowhere", "Unknown node 'nowhere'"),
        ('"{{ customer }}"', '"{{ costumer }}"', "Did you mean 'customer'?"),
    ],
)
def test_that_the_check_finds_what_cannot_be(old: str, new: str, message: str) -> None:
    text = FLOW.replace(old, new)
    apps = [Application(answerer=Facts())] if "city" in new or new.endswith("town") else [_whole()]
    found = [str(item) for app in apps for item in check(parse_flow(text), app)]
    assert any(message in item for item in found), found


def test_that_the_check_asks_the_describer() -> None:
    found = [item.message for item in check(parse_flow(FLOW.replace("(trains town)", "(buses town)")), _whole())]
    assert found == ["There are only trains."]
    assert check(parse_flow(FLOW), _whole()) == []


def test_that_the_check_misses_a_describer_and_an_answerer() -> None:
    codes = {item.code for item in check(parse_flow(FLOW), Application())}
    assert {"no describer", "no answerer"} <= codes


def test_that_an_answer_names_at_least_one_source() -> None:
    with pytest.raises(InvalidFile, match="answer"):
        parse_flow(FLOW.replace("[POLICIES]", "[]"))


def test_that_drawings_tell_what_the_nodes_do() -> None:
    flow = parse_flow(FLOW).flow
    assert text_of(flow.nodes["leave"]) == "describe (trains town)"
    assert text_of(flow.nodes["look"]) == "answer from POLICIES"
    labels = {(arrow.source, arrow.target): arrow.label for arrow in arrows(flow)}
    assert labels["look", "nothing"] == "not found"


def _whole() -> Application:
    told = Facts()
    return Application(describer=told, answerer=told)
