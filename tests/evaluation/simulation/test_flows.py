"""The same users and goals with an authored flow, alone and beside a learned agent."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialoom import Agent, Model
from dialoom.agent.responders import GenerateResponder
from dialoom.dialogue import Role
from dialoom.errors import InvalidFlow, UsageError
from dialoom.evaluation.experiments.definition import Price
from dialoom.evaluation.simulation import (
    AgentPartner,
    Answer,
    Bill,
    Called,
    FlowPartner,
    Goal,
    Metered,
    ModelUser,
    SampledUser,
    ScriptedUser,
    measured,
    sampled_goals,
    simulate,
)
from dialoom.flows import Application, Ports
from dialoom.models.base import Completion, Message, Request, Usage
from dialoom.models.scripted import Fault, ScriptedModel

FLOW = """
flow: returns
version: 1
start: ask
slots:
  number: {type: text, recognise: {by: pattern, pattern: '[A-Z]{2}-[0-9]{3}'}}
  amount: {type: number, min: 0}
intents:
  parcel: {description: asks for the parcel, words: [parcel]}
nodes:
  ask:
    ask: {number: "What is your order number?"}
    rules: [{filled: [number], go: told}]
  told: {say: "Order {{ number }} is on its way.", go: end}
"""
GOAL = Goal(
    id="parcel",
    domain="parcels",
    opening="Where is my parcel?",
    answers=(Answer(when=("order number",), say="It is QF-481."),),
    reached=("is on its way",),
    memory={"number": "qf-481"},
)
PRICES = {"paid": Price(prompt=1.0, completion=10.0)}


@pytest.fixture
def flow(tmp_path: Path) -> Path:
    path = tmp_path / "returns.yaml"
    path.write_text(FLOW, encoding="utf-8")
    return path


async def test_that_a_flow_is_talked_to_until_it_says_and_remembers_what_is_wanted(flow: Path) -> None:
    partner = FlowPartner(flow)
    talk = await simulate(partner, ScriptedUser(), GOAL)
    system, user = Role.SYSTEM, Role.USER
    assert [said.role for said in talk.dialogue.utterances] == [system, user, system, user, system]
    assert (talk.reached, talk.turns, talk.hand_off, talk.called) == (True, 2, False, ())
    found = measured([talk], partner)
    assert found.conformance == 0.5  # "Where is my parcel?" is no answer to what was asked
    assert (found.repairs, found.bill, found.p50 > 0) == (1.0, Bill(), True)


@pytest.mark.parametrize(
    ("held", "reached"), [("QF-481", True), ("qf-481", True), ("QF-482", False), (["QF-481"], False)]
)
async def test_that_what_the_flow_remembers_decides(held: object, reached: bool, flow: Path) -> None:
    goal = Goal.model_validate({**GOAL.model_dump(), "reached": (), "memory": {"number": held}})
    assert (await simulate(FlowPartner(flow), ScriptedUser(), goal)).reached is reached


def test_that_values_are_compared_as_a_person_would() -> None:
    goal = Goal(id="g", opening="hi", memory={"total": 7, "basket": [{"item": "Greek Salad"}], "paid": True})
    assert goal.met("", {"total": 7.0, "basket": [{"item": "greek  salad"}], "paid": True})
    assert not goal.met("", {"total": 7.0, "basket": [{"item": "greek salad"}], "paid": 1})
    assert not goal.met("", None)


async def test_that_a_goal_of_memory_is_refused_for_an_agent_without_one(model: Model) -> None:
    with pytest.raises(UsageError, match="remembers no slots"):
        await simulate(AgentPartner(Agent(model)), ScriptedUser(), GOAL)
    with pytest.raises(ValueError, match="what reaches the goal"):
        Goal(id="g", opening="hi")


async def test_that_a_flow_that_hands_over_ends_the_talk(flow: Path) -> None:
    lost = Goal(id="lost", opening="blorb", otherwise="blorb", reached=("never said",))
    talk = await simulate(FlowPartner(flow), ScriptedUser(), lost, most=20)
    assert (talk.reached, talk.hand_off or talk.turns == 2) == (False, True)
    person = Goal(id="person", opening="I want to speak to a human agent", reached=("never said",))
    assert (await simulate(FlowPartner(flow), ScriptedUser(), person)).hand_off


async def test_that_a_flow_beside_an_agent_answers_what_it_does_not_understand(flow: Path, model: Model) -> None:
    answering = Agent(model, GenerateResponder(ScriptedModel(["Jackets are waterproof."], name="paid")))
    partner = FlowPartner(flow, agent=answering)
    goal = GOAL.model_copy(update={"opening": "are the jackets waterproof", "otherwise": "It is QF-481."})
    talk = await simulate(partner, ScriptedUser(), goal)
    assert "Jackets are waterproof." in [said.text for said in talk.dialogue.utterances]
    assert talk.reached
    assert [call.model for call in talk.called] == ["paid"]
    assert talk.conforming == talk.turns - 1


async def test_that_sampled_users_talk_to_a_flow_by_the_automaton(flow: Path, model: Model) -> None:
    goals = sampled_goals(model.index.dialogues(), 4)
    known = {said.text for d in model.index.dialogues() for said in d.utterances if said.role is Role.USER}
    talks = [await simulate(FlowPartner(flow), SampledUser(model, 1), goal, most=3) for goal in goals]
    assert {u.text for talk in talks for u in talk.dialogue.utterances if u.role is Role.USER} <= known
    assert all(talk.turns >= 1 for talk in talks)


async def test_that_calls_of_a_flows_model_and_of_the_players_are_priced(tmp_path: Path) -> None:
    path = tmp_path / "asked.yaml"
    prompt = '    prompt: "Say what to do next. {{ ADDITIONAL_ERROR_MESSAGES }}"\n    rules'
    asks = FLOW.replace("    rules", prompt, 1)
    path.write_text(asks, encoding="utf-8")
    usage = Usage(1000, 100)
    answer = Completion('{"ASSISTANT_UTTERANCE": "Which number?", "NEXT_NODE": "ask"}', usage=usage)
    player = ModelUser(ScriptedModel([Completion("QF-481", usage=Usage(10, 1))], name="player"))
    partner = FlowPartner(path, Ports(Application(), ScriptedModel(lambda _: answer, name="paid")))
    talk = await simulate(partner, player, GOAL)
    assert talk.called
    assert {call.model for call in talk.called} == {"paid"}
    found = measured([talk], partner, PRICES)
    assert found.bill.dollars == pytest.approx(len(talk.called) * 0.002)
    assert (found.bill.tokens, found.bill.unpriced) == (1100 * len(talk.called), 0)
    assert (found.players.calls, found.players.dollars, found.players.unpriced) == (len(talk.played), None, 1)


def test_that_a_bill_knows_what_it_does_not_know() -> None:
    calls = [Called("paid", Usage(1000, 100)), Called("other", Usage(5, 5)), Called("told", Usage(1, 1, cost=0.5))]
    bill = Bill.of(calls, PRICES)
    assert (bill.calls, bill.tokens, bill.unpriced) == (3, 1112, 1)
    assert bill.dollars == pytest.approx(0.502)
    assert Bill.of(calls[1:2], PRICES) == Bill(1, 10, None, 1)
    assert Bill.of([], PRICES) == Bill(0, 0, 0.0, 0)


async def test_that_failed_calls_are_counted_and_told(model: Model) -> None:
    answering = Agent(model, GenerateResponder(ScriptedModel([Fault("refused")], name="paid")))
    talk = await simulate(AgentPartner(answering), ScriptedUser(), Goal(id="g", opening="hello", reached=("zzz",)))
    assert talk.fallbacks == talk.turns > 0
    meter = Metered(ScriptedModel([Fault("refused")], name="paid"))
    with pytest.raises(Exception, match="refuse"):
        await meter.generate(Request((Message("user", "hi"),)))
    assert meter.since(0) == (Called("paid", Usage()),)
    assert [piece async for piece in Metered(ScriptedModel(["fine"])).stream(Request((Message("user", "hi"),)))]


def test_that_a_flow_with_an_error_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(FLOW.replace("go: told", "go: nowhere"), encoding="utf-8")
    with pytest.raises(InvalidFlow, match="nowhere"):
        FlowPartner(path)
