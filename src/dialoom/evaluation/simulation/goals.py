"""What simulated users want, and how it is told that they got it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, model_validator

from dialoom.dialogue import Dialogue, Role
from dialoom.errors import InvalidFile, NothingToLearn
from dialoom.files import read_text

MAX_BYTES = 4 * 1024 * 1024


class Answer(BaseModel):
    """What the user says when the agent's words match: `when` is a list of words or phrases, any of which matches."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    when: tuple[str, ...] = Field(min_length=1)
    say: str = Field(min_length=1)


class Goal(BaseModel):
    """What a simulated user wants: how they begin, what they know, and how it is told that they got it.

    It is reached when for each entry of `reached` the agent has said one of its phrases (phrases separated by " | "),
    in any case, and an authored flow remembers each value of `memory`. `hands_off` are phrases by which the agent
    passes the user on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    domain: str = "all"
    opening: str = Field(min_length=1)
    wants: str = Field("", description="The goal in words, for a model that plays the user.")
    answers: tuple[Answer, ...] = ()
    otherwise: str = Field("Sorry, what do you need to know?", description="Said where no answer matches: a repair.")
    reached: tuple[str, ...] = ()
    memory: dict[str, JsonValue] = Field(
        default_factory=dict, description="Slots of a flow and the values to be in them."
    )
    hands_off: tuple[str, ...] = ("pass you on", "colleague", "transfer you", "human agent")

    @model_validator(mode="after")
    def _can_be_reached(self) -> Goal:
        if not self.reached and not self.memory:
            raise ValueError("say what reaches the goal: phrases in reached, or slots in memory")
        return self

    def met(self, heard: str, memory: Mapping[str, Any] | None) -> bool:
        """Whether what the agent has said (`heard`) and what its flow remembers reach the goal."""
        said = all(place_of(entry.split(" | "), heard) >= 0 for entry in self.reached)
        held = memory or {}
        return said and all(_plain(held.get(slot)) == _plain(value) for slot, value in self.memory.items())

    def hands_over(self, text: str) -> bool:
        """Whether the agent passes the user on with these words."""
        return place_of(self.hands_off, text) >= 0


def place_of(phrases: Sequence[str], text: str) -> int:
    """Where the last of the phrases stands in `text`, -1 for none; words match whole, case aside."""
    found = [match.start() for phrase in phrases for match in re.finditer(_pattern(phrase), text.lower())]
    return max(found, default=-1)


def _pattern(phrase: str) -> str:
    escaped = r"\s+".join(map(re.escape, phrase.lower().split()))
    return rf"(?<!\w){escaped}(?!\w)"


def _plain(value: Any) -> Any:
    """A value as a person would compare it: numbers by size, all else by its words, letter case aside."""
    if isinstance(value, bool):
        return ("no", "yes")[value]
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    return value if value is None else " ".join(str(value).casefold().split())


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
