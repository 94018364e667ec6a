"""Simulated users talk to an agent until their goal is met, and what such conversations measure."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialoom.agent.agent import Agent
from dialoom.agent.conformance import conform_model
from dialoom.agent.model import Model
from dialoom.agent.responders import NOTHING_TO_SAY
from dialoom.agent.trace import Recorder
from dialoom.dialogue import Dialogue, Role
from dialoom.errors import InvalidFile, NothingToLearn, RunError
from dialoom.examples.prompt import FENCES
from dialoom.files import read_text
from dialoom.models.base import LanguageModel, Request, Sampling
from dialoom.models.scrubbing import scrubbed
from dialoom.models.templates import one_line, rendered, template_source

MAX_BYTES = 4 * 1024 * 1024
STOP = "[END]"


class Answer(BaseModel):
    """What the user says when the agent's words match: `when` is a list of words or phrases, any of which matches."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: tuple[str, ...] = Field(min_length=1)
    say: str = Field(min_length=1)


class Goal(BaseModel):
    """What a simulated user wants: how they begin, what they know, and the agent's words by which it is reached.

    It is reached when for each entry of `reached` the agent has said one of its phrases (phrases separated by " | "),
    in any case. `hands_off` are phrases by which the agent passes the user on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    domain: str = "all"
    opening: str = Field(min_length=1)
    wants: str = Field("", description="The goal in words, for a model that plays the user.")
    answers: tuple[Answer, ...] = ()
    otherwise: str = Field("Sorry, what do you need to know?", description="Said where no answer matches: a repair.")
    reached: tuple[str, ...] = Field(min_length=1)
    hands_off: tuple[str, ...] = ("pass you on", "colleague", "transfer you", "human agent")


@dataclass(frozen=True, slots=True)
class Line:
    """What a simulated user says next; `repair` where the agent was not understood or repeats itself."""

    text: str
    repair: bool = False


class User(Protocol):
    """Plays the user of a goal."""

    async def say(self, goal: Goal, conversation: Dialogue) -> Line | None:
        """The next line, None to leave."""
        ...


class ScriptedUser:
    """Answers what the agent asks from the goal's own words, each answer where its phrase stands last in the reply."""

    async def say(self, goal: Goal, conversation: Dialogue) -> Line | None:
        """The opening, an answer, or a request to say it again; the user leaves after two repairs in a row."""
        if not conversation.utterances:
            return Line(goal.opening)
        heard = conversation.utterances[-1].text
        matches = [(place, answer.say) for answer in goal.answers if (place := _place(answer.when, heard)) >= 0]
        if matches:
            return Line(max(matches)[1])
        said = [utterance.text for utterance in conversation.utterances if utterance.role is Role.USER]
        return None if said[-2:] == [goal.otherwise] * 2 else Line(goal.otherwise, repair=True)


@dataclass(slots=True)
class SampledUser:
    """Says what users said in training after the state the conversation stands in: drawn by traffic, fixed by `seed`.

    It knows nothing of the goal beyond its opening, so it tests an agent with likely users, not with purposeful ones.
    """

    model: Model
    seed: int = 0

    async def say(self, goal: Goal, conversation: Dialogue) -> Line | None:
        """A past user's line; None where the automaton knows no user who went on."""
        if not conversation.utterances:
            return Line(goal.opening)
        _, route = Agent(self.model).place(conversation, Recorder())
        automaton = self.model.automaton
        ways = [
            transition
            for transition in automaton.transitions
            if transition.source == route.state and automaton.state(transition.target).role == Role.USER.value
        ]
        draw = random.Random(f"{self.seed}:{goal.id}:{len(conversation)}")  # noqa: S311 - a simulation is no secret
        ends = automaton.state(route.state).ends
        if not ways or draw.random() < ends / (ends + sum(way.traffic for way in ways)):
            return None
        chosen = draw.choices(ways, [max(1, way.traffic) for way in ways])[0]
        visits = automaton.visits(chosen.target)
        numbers = {id_: number for number, id_ in enumerate(self.model.index.ids)}
        visit = visits[draw.randrange(len(visits))]
        return Line(self.model.index.dialogue(numbers[visit.dialogue_id]).utterances[visit.round].text)


@dataclass(slots=True)
class ModelUser:
    """A language model plays the user, told what the goal is. It ends with the word [END]."""

    model: LanguageModel
    timeout: float = 60.0

    async def say(self, goal: Goal, conversation: Dialogue) -> Line | None:
        """What the model says as the user. Raises a `ModelError` when it fails."""
        if not conversation.utterances:
            return Line(goal.opening)
        values = {
            "wants": one_line(goal.wants or goal.opening, FENCES),
            "facts": [one_line(answer.say, FENCES) for answer in goal.answers],
            "conversation": [
                {"speaker": "You" if said.role is Role.USER else "Agent", "text": one_line(said.text, FENCES)}
                for said in conversation.utterances
            ],
            "stop": STOP,
        }
        messages = rendered(template_source("dialoom.evaluation", "simulated-user"), values, "simulated-user.j2")
        request = Request(messages, Sampling(max_tokens=80, stop=("\nAgent:", "\nYou:")), timeout=self.timeout)
        text = (await self.model.generate(request)).text
        said = " ".join(text.replace("You:", "").split())
        return None if STOP in said or not said else Line(said)


@dataclass(frozen=True, slots=True)
class Talk:
    """One simulated conversation: whether and after how many agent turns the goal was reached, and what it took."""

    goal: str
    domain: str
    dialogue: Dialogue
    reached: bool
    turns: int
    repairs: int
    hand_off: bool
    calls: int
    tokens: int
    dollars: float | None
    milliseconds: tuple[float, ...]
    failed: str = ""


@dataclass(frozen=True, slots=True)
class Measures:
    """Means over talks. `turns_to_success` and `conformance` are None where there is nothing to say it of.

    `completion`, `handed_off` and `failed` are shares of talks, `repairs` a mean a talk, `p50` and `p95` milliseconds
    of an agent's turn, `conformance` the share of rounds that the automaton explains.
    """

    talks: int
    completion: float
    turns_to_success: float | None
    repairs: float
    handed_off: float
    failed: float
    conformance: float | None
    calls: int
    tokens: int
    dollars: float | None
    p50: float
    p95: float
    domains: dict[str, float] = field(default_factory=dict)


async def simulate(agent: Agent, user: User, goal: Goal, *, most: int = 12) -> Talk:
    """One conversation of at most `most` agent turns. A failing user model ends it, and `failed` tells why."""
    chat = agent.chat(f"simulated-{goal.id}")
    took: list[float] = []
    calls = tokens = repairs = 0
    costs: list[float] = []
    hand_off, failed, heard = False, "", ""
    while len(took) < most and not _reached(goal, heard) and not hand_off:
        try:
            line = await user.say(goal, chat.dialogue)
        except (RunError, TimeoutError) as error:
            failed = scrubbed(str(error) or type(error).__name__)
            break
        if line is None:
            break
        repairs += line.repair
        turn = await chat.say_async(line.text)
        took.append(turn.trace.milliseconds)
        calls += len(turn.trace.calls)
        tokens += sum(call.usage.prompt_tokens + call.usage.completion_tokens for call in turn.trace.calls)
        costs += [call.usage.cost for call in turn.trace.calls if call.usage.cost is not None]
        heard += f"\n{turn.text}"
        hand_off = turn.text == NOTHING_TO_SAY or _place(goal.hands_off, turn.text) >= 0
    reached = _reached(goal, heard)
    dollars = sum(costs) if costs else None
    times = tuple(took)
    return Talk(
        goal.id,
        goal.domain,
        chat.dialogue,
        reached,
        len(took),
        repairs,
        hand_off,
        calls,
        tokens,
        dollars,
        times,
        failed,
    )


def measured(talks: Sequence[Talk], model: Model | None = None) -> Measures:
    """Means over `talks`; with `model`, how much of them its automaton explains. Raises `NothingToLearn` for none."""
    if not talks:
        raise NothingToLearn("No conversation was held, so there is nothing to measure.")
    times = np.asarray([one for talk in talks for one in talk.milliseconds] or [0.0])
    reached = [talk.turns for talk in talks if talk.reached]
    costs = [talk.dollars for talk in talks if talk.dollars is not None]
    held = [talk.dialogue for talk in talks if talk.dialogue.utterances]
    by_domain: dict[str, list[bool]] = {}
    for talk in talks:
        by_domain.setdefault(talk.domain, []).append(talk.reached)
    return Measures(
        talks=len(talks),
        completion=len(reached) / len(talks),
        turns_to_success=float(np.mean(reached)) if reached else None,
        repairs=float(np.mean([talk.repairs for talk in talks])),
        handed_off=float(np.mean([talk.hand_off for talk in talks])),
        failed=float(np.mean([bool(talk.failed) for talk in talks])),
        conformance=conform_model(model, held).turn_share if model is not None and held else None,
        calls=sum(talk.calls for talk in talks),
        tokens=sum(talk.tokens for talk in talks),
        dollars=sum(costs) if costs else None,
        p50=float(np.quantile(times, 0.5)),
        p95=float(np.quantile(times, 0.95)),
        domains={domain: float(np.mean(by_domain[domain])) for domain in sorted(by_domain)},
    )


def read_goals(path: Path) -> tuple[Goal, ...]:
    """The goals of a YAML file, a list. Raises `InvalidFile` that names the place."""
    try:
        listed = yaml.safe_load(read_text(path, limit=MAX_BYTES))
        if not isinstance(listed, list) or not listed:
            raise InvalidFile(path, "expected a list of goals.")
        goals = tuple(Goal.model_validate(value) for value in listed)
    except yaml.YAMLError as error:
        raise InvalidFile(path, f"not YAML ({error}).") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InvalidFile(
            path, f"{first['msg']}.", place=place, hint=f"Fields: {', '.join(Goal.model_fields)}."
        ) from error
    if len({goal.id for goal in goals}) < len(goals):
        raise InvalidFile(path, "two goals have one id.")
    return goals


def sampled_goals(dialogues: Iterable[Dialogue], count: int, seed: int = 0) -> tuple[Goal, ...]:
    """Goals for a sampled user: to begin as past users began, and to hear the last words of their agents.

    Raises `NothingToLearn` when no dialogue begins with a user and has a reply.
    """
    known = []
    for dialogue in dialogues:
        said = [utterance for utterance in dialogue.utterances if utterance.role is not Role.TOOL]
        last = next((utterance.text for utterance in reversed(said) if utterance.role is Role.SYSTEM), "")
        if said and said[0].role is Role.USER and last:
            known.append(Goal(id=dialogue.id, opening=said[0].text, reached=(last.replace(" | ", " "),)))
    if not known:
        raise NothingToLearn("No dialogue begins with a user and has a reply, so no goal can be drawn.")
    known.sort(key=lambda goal: goal.id)
    return tuple(random.Random(seed).sample(known, min(count, len(known))))  # noqa: S311 - a sample is no secret


def talk_json(talk: Talk) -> dict[str, Any]:
    """A talk as JSON values."""
    said = [{"role": utterance.role.value, "text": utterance.text} for utterance in talk.dialogue.utterances]
    told = {name: getattr(talk, name) for name in Talk.__dataclass_fields__ if name != "dialogue"}
    return {**told, "id": talk.dialogue.id, "utterances": said}


def _reached(goal: Goal, heard: str) -> bool:
    return all(_place(entry.split(" | "), heard) >= 0 for entry in goal.reached)


def _place(phrases: Sequence[str], text: str) -> int:
    """Where the last of the phrases stands in `text`, -1 for none; words match whole, case aside."""
    found = [match.start() for phrase in phrases for match in re.finditer(_pattern(phrase), text.lower())]
    return max(found, default=-1)


def _pattern(phrase: str) -> str:
    escaped = r"\s+".join(map(re.escape, phrase.lower().split()))
    return rf"(?<!\w){escaped}(?!\w)"
