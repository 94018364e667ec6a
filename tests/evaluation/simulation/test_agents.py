from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dialoom import Agent, Model
from dialoom.agent.responders import GenerateResponder
from dialoom.dialogue import Role
from dialoom.errors import InvalidFile, NothingToLearn
from dialoom.evaluation.simulation import (
    AgentPartner,
    Answer,
    Goal,
    ModelUser,
    SampledUser,
    ScriptedUser,
    measured,
    read_goals,
    sampled_goals,
    simulate,
    talk_json,
)
from dialoom.models.scripted import Answers, Fault, ScriptedModel

GOAL = Goal(
    id="parcel",
    domain="parcels",
    opening="Where is my parcel?",
    wants="to know where the parcel is",
    answers=(Answer(when=("order number",), say="QF-1"), Answer(when=("name",), say="Ann")),
    reached=("on its way | in transit",),
)


def agent(model: Model, answers: Answers) -> AgentPartner:
    return AgentPartner(Agent(model, GenerateResponder(ScriptedModel(answers))))


async def test_that_a_scripted_user_answers_what_is_asked_until_the_goal_is_reached(model: Model) -> None:
    said = ["Your order number, please?", "And your name?", "It is in transit."]
    talk = await simulate(agent(model, said), ScriptedUser(), GOAL)
    users = [u.text for u in talk.dialogue.utterances if u.role is Role.USER]
    assert users == ["Where is my parcel?", "QF-1", "Ann"]
    assert (talk.reached, talk.turns, talk.repairs, talk.hand_off, len(talk.called)) == (True, 3, 0, False, 3)
    told = json.loads(json.dumps(talk_json(talk)))
    assert (told["goal"], told["reached"], len(told["utterances"])) == ("parcel", True, 6)


async def test_that_what_was_asked_last_is_answered(model: Model) -> None:
    talk = await simulate(agent(model, ["I need your name. Or the order number?", "in transit"]), ScriptedUser(), GOAL)
    assert talk.dialogue.utterances[2].text == "QF-1"


async def test_that_words_match_whole(model: Model) -> None:
    talk = await simulate(agent(model, ["Rename it."]), ScriptedUser(), GOAL)
    assert (talk.reached, talk.repairs, talk.turns) == (False, 2, 3)  # two repairs, then the user leaves


async def test_that_a_hand_off_ends_the_talk_and_is_counted(model: Model) -> None:
    talk = await simulate(agent(model, ["Let me pass you on to a colleague."]), ScriptedUser(), GOAL)
    assert (talk.hand_off, talk.reached, talk.turns) == (True, False, 1)


async def test_that_a_talk_without_end_is_ended(model: Model) -> None:
    talk = await simulate(agent(model, ["Your name?"]), ScriptedUser(), GOAL, most=4)
    assert (talk.turns, talk.reached) == (4, False)


async def test_that_a_sampled_user_says_what_past_users_said_and_the_same_every_time(model: Model) -> None:
    goals = sampled_goals(model.index.dialogues(), 5)
    known = {u.text for d in model.index.dialogues() for u in d.utterances if u.role is Role.USER}
    first = [await simulate(AgentPartner(Agent(model)), SampledUser(model, 3), goal, most=4) for goal in goals]
    again = [await simulate(AgentPartner(Agent(model)), SampledUser(model, 3), goal, most=4) for goal in goals]
    assert [talk.dialogue for talk in first] == [talk.dialogue for talk in again]
    assert any(talk.turns > 1 for talk in first)
    assert {u.text for talk in first for u in talk.dialogue.utterances if u.role is Role.USER} <= known


async def test_that_a_model_plays_the_user_by_the_goal_and_says_when_it_ends(model: Model) -> None:
    player = ScriptedModel(["You: It is QF-1.", "[END]"])
    talk = await simulate(agent(model, ["Which order?"]), ModelUser(player), GOAL)
    assert [u.text for u in talk.dialogue.utterances if u.role is Role.USER] == [GOAL.opening, "It is QF-1."]
    assert "to know where the parcel is" in player.requests[0].messages[0].content
    assert "Agent: Which order?" in player.requests[0].messages[1].content


async def test_that_a_failing_user_is_counted_and_not_raised(model: Model) -> None:
    talk = await simulate(agent(model, ["Which order?"]), ModelUser(ScriptedModel([Fault("refused")])), GOAL)
    assert "refuses" in talk.failed
    assert measured([talk]).failed == 1.0


async def test_that_measures_are_means_over_talks(model: Model) -> None:
    good = await simulate(agent(model, ["It is on its way."]), ScriptedUser(), GOAL)
    bad = await simulate(agent(model, ["What?"]), ScriptedUser(), GOAL.model_copy(update={"domain": "other"}))
    found = measured([good, bad], AgentPartner(Agent(model)))
    assert (found.talks, found.completion, found.turns_to_success, found.repairs) == (2, 0.5, 1.0, 1.0)
    assert found.domains == {"other": 0.0, "parcels": 1.0}
    assert found.bill.calls == 4
    assert found.conformance is not None
    assert 0.0 <= found.conformance <= 1.0
    assert found.p50 <= found.p95
    assert [found.low, found.high] == pytest.approx([0.0945312, 0.9054688], abs=1e-6)  # Wilson's interval of 1 of 2
    with pytest.raises(NothingToLearn):
        measured([])


async def test_that_the_middle_and_the_slowest_turns_are_told(model: Model) -> None:
    talk = await simulate(agent(model, ["What?"]), ScriptedUser(), GOAL)
    timed = replace(talk, milliseconds=tuple(float(n) for n in range(1, 101)))
    found = measured([timed])
    assert [found.p50, found.p95] == pytest.approx([50.5, 95.05])


async def test_that_a_talk_as_in_training_conforms_and_another_does_not(model: Model) -> None:
    partner = AgentPartner(Agent(model))
    known = next(d for d in model.index.dialogues() if len(d.utterances) > 3)
    odd = replace(known, utterances=tuple(reversed(known.utterances)))
    talk = await simulate(agent(model, ["It is on its way."]), ScriptedUser(), GOAL)
    as_trained, turned = (measured([replace(talk, dialogue=d)], partner).conformance for d in (known, odd))
    assert as_trained is not None
    assert turned is not None
    assert turned < as_trained
    assert measured([talk]).conformance is None


def test_that_goals_are_read_and_mistakes_named(tmp_path: Path) -> None:
    path = tmp_path / "goals.yaml"
    path.write_text("- {id: a, opening: hello, reached: [hi | hello]}\n")
    assert read_goals(path)[0].reached == ("hi | hello",)
    for text, told in (("{}", "a list"), ("- {id: a}", "opening"), ("[", "not YAML")):
        path.write_text(text)
        with pytest.raises(InvalidFile, match=told):
            read_goals(path)
    path.write_text("- {id: a, opening: hello, reached: [hi]}\n" * 2)
    with pytest.raises(InvalidFile, match="one id"):
        read_goals(path)
