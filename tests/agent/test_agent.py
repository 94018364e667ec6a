from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from dialoom import Agent, Dialogue, Model, Role, Utterance
from dialoom.agent.responders import GenerateResponder, RankedResponder, open_responder
from dialoom.automata.router import Route
from dialoom.demo import conversations
from dialoom.errors import InvalidFile, UnknownName, UsageError
from dialoom.models.base import Message
from dialoom.models.scripted import ScriptedModel

LINES = next(iter(conversations().values()))


def test_that_a_turn_tells_its_state_examples_and_reason(model: Model) -> None:
    turn = Agent(model).chat().say(LINES[0])
    assert turn.text
    assert turn.state is model.automaton.state(turn.route.state)
    assert 1 <= len(turn.examples) <= model.settings.examples
    assert [stage.name for stage in turn.trace.stages] == ["tag", "route", "examples", "reply", "refill"]
    json.dumps(turn.to_json())


def test_that_the_same_conversation_gives_the_same_turns(model: Model) -> None:
    def played() -> list[tuple[str, int]]:
        chat = Agent(model).chat()
        return [(turn.text, turn.state.id) for turn in map(chat.say, LINES)]

    assert played() == played()


def test_that_the_state_is_estimated_anew_at_every_turn(model: Model) -> None:
    chat = Agent(model).chat()
    turns = [chat.say(line) for line in LINES]
    for number, turn in enumerate(turns):
        assert turn.route.path[-1].round == 2 * number


def test_that_the_paper_strategy_answers_from_the_last_valid_state(paper_model: Model) -> None:
    chat = Agent(paper_model).chat()
    turns = [chat.say(line) for line in LINES]
    [first, *_] = [turn for turn in turns if turn.route.fallback == "out_of_distribution"]
    assert first.route.state == (first.route.path[-1].state if first.route.path else 0)
    assert "no transition leaves" in first.route.reason
    assert all(turn.text for turn in turns)


def test_that_a_hook_may_answer_where_the_automaton_cannot(paper_model: Model) -> None:
    def hook(context: Dialogue, route: Route) -> Utterance:
        return Utterance(Role.SYSTEM, f"Asked elsewhere: {route.fallback}")

    chat = Agent(paper_model, hook=hook).chat()
    for turn in map(chat.say, LINES):
        asked = turn.route.fallback is not None
        assert (turn.answer.source == "hook") is asked
        assert (turn.text == "Asked elsewhere: out_of_distribution") is asked
    assert asked


def test_that_a_tool_result_is_a_round_of_its_own(model: Model) -> None:
    chat = Agent(model).chat()
    chat.say(LINES[0])
    chat.observe("order_lookup", "found", count=1)
    turn = chat.say("so where is it?")
    assert [step.symbol.partition(":")[0] for step in turn.route.path] == ["user", "system", "tool", "user"]


def test_that_a_generating_model_sees_the_examples_and_is_in_the_trace(model: Model) -> None:
    scripted = ScriptedModel(["1 System: Let me look that up."])
    turn = Agent(model, GenerateResponder(scripted)).chat().say(LINES[0])
    assert turn.text == "Let me look that up."
    [call] = turn.trace.calls
    assert turn.examples[0].reply_text in " ".join(message.content for message in call.messages)


@pytest.mark.parametrize("answers", [[], [""]])
def test_that_a_model_that_fails_does_not_end_the_turn(model: Model, answers: list[str]) -> None:
    turn = Agent(model, GenerateResponder(ScriptedModel(answers))).chat().say(LINES[0])
    assert turn.text
    assert turn.answer.source == "retrieve"
    assert "scripted" in turn.trace.decided("reply")["failed"]


class Fond:
    """A scorer that likes one text."""

    def __init__(self, text: str) -> None:
        self.text = text

    async def score(self, messages: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        return [0.0 if candidate == self.text else -1.0 for candidate in candidates]


def test_that_ranking_chooses_among_vetted_replies_only(model: Model) -> None:
    vetted = [example.reply_text for example in Agent(model).chat().say(LINES[0]).examples]
    for text in (vetted[-1], "something nobody ever said"):
        ranked = RankedResponder(Fond(text), margin=2.0)
        assert Agent(model, ranked).chat().say(LINES[0]).answer.text in vetted
    chosen = Agent(model, RankedResponder(Fond(vetted[-1]), margin=2.0)).chat().say(LINES[0])
    assert chosen.answer.text == vetted[-1]


def test_that_a_blank_message_is_refused_and_changes_nothing(model: Model) -> None:
    chat = Agent(model).chat()
    with pytest.raises(UsageError, match="word"):
        chat.say("  ")
    assert not chat.dialogue.utterances


def test_that_a_failing_turn_leaves_the_conversation_as_it_was(model: Model, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    chat = Agent(model).chat(log=tmp_path / "folder")
    with pytest.raises(InvalidFile, match="folder: cannot be written"):
        chat.say(LINES[0])
    assert not chat.dialogue.utterances


def test_that_the_log_holds_a_line_for_every_turn(model: Model, tmp_path: Path) -> None:
    chat = Agent(model).chat("s1", log=tmp_path / "log.jsonl")
    turns = [chat.say(line) for line in LINES[:2]]
    logged = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
    assert [entry["reply"] for entry in logged] == [turn.text for turn in turns]
    assert [entry["message"] for entry in logged] == list(LINES[:2])
    assert {entry["session"] for entry in logged} == {"s1"}


def test_that_an_unknown_responder_lists_the_valid_ones() -> None:
    with pytest.raises(UnknownName, match="retrieve"):
        open_responder("magic")


def test_that_a_message_too_long_for_a_prompt_is_answered_without_the_model(model: Model) -> None:
    scripted = ScriptedModel(["1 System: One moment."])
    turn = Agent(model, GenerateResponder(scripted)).chat().say("where is my parcel? " * 2000)
    assert turn.text
    assert turn.answer.source == "retrieve"
    assert "tokens" in turn.trace.decided("reply")["failed"]
