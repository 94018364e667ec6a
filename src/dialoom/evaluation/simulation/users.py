"""Who plays the user: answers written down, the users of past dialogues, or a language model."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Protocol

from dialoom.agent.agent import Agent
from dialoom.agent.model import Model
from dialoom.agent.trace import Recorder
from dialoom.dialogue import Dialogue, Role
from dialoom.evaluation.simulation.goals import Goal, place_of
from dialoom.examples.prompt import FENCES
from dialoom.models.base import LanguageModel, Request, Sampling
from dialoom.models.templates import one_line, rendered, template_source

STOP = "[END]"


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
        if _silent(conversation):
            return Line(goal.opening)
        heard = conversation.utterances[-1].text
        matches = [(place, answer.say) for answer in goal.answers if (place := place_of(answer.when, heard)) >= 0]
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
        if _silent(conversation):
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
        if _silent(conversation):
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


def _silent(conversation: Dialogue) -> bool:
    """Whether the user has said nothing yet; an agent may have said the first word."""
    return all(said.role is not Role.USER for said in conversation.utterances)
