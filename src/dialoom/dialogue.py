"""Dialogues as immutable values: `Utterance`, `Dialogue`, `Role`. Imports nothing of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

EMPTY: Mapping[str, Any] = MappingProxyType({})


class Role(StrEnum):
    """Who speaks: the person served, the agent, or a tool that was called and returned."""

    USER = "user"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of one speaker.

    `tags` are what a tagger or an annotation says the utterance is about (DFA-RAG sec. 3.1.2). `action` is a gold
    label for evaluation only: nothing that learns or replies reads it. `annotations` keeps what else the source said.
    """

    role: Role
    text: str
    tags: tuple[str, ...] = ()
    action: str | None = None
    annotations: Mapping[str, Any] = field(default_factory=lambda: EMPTY)

    def tagged(self, tags: tuple[str, ...]) -> Utterance:
        """The same utterance with other tags."""
        return replace(self, tags=tags)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One conversation, in order. `id` is unique inside a corpus."""

    id: str
    utterances: tuple[Utterance, ...]
    metadata: Mapping[str, Any] = field(default_factory=lambda: EMPTY)

    def __len__(self) -> int:
        return len(self.utterances)

    def joined(self) -> Dialogue:
        """The dialogue with consecutive utterances of one speaker joined into one round.

        Texts are joined by a space and tags united in order. Lists in annotations are united too (acts, intents, the
        values of slots); of an action and of other annotations the last one counts.
        Tool rounds are never joined: each call and each result is an observation of its own.
        """
        rounds: list[Utterance] = []
        for utterance in self.utterances:
            if rounds and rounds[-1].role is utterance.role and utterance.role is not Role.TOOL:
                last = rounds[-1]
                rounds[-1] = Utterance(
                    role=last.role,
                    text=f"{last.text} {utterance.text}".strip(),
                    tags=tuple(dict.fromkeys((*last.tags, *utterance.tags))),
                    action=utterance.action if utterance.action is not None else last.action,
                    annotations=MappingProxyType(_united(last.annotations, utterance.annotations)),
                )
            else:
                rounds.append(utterance)
        return replace(self, utterances=tuple(rounds))


def as_json(dialogue: Dialogue) -> dict[str, Any]:
    """The JSON form of a dialogue, as Dialoom JSONL holds it; what is empty is left out."""
    turns = []
    for utterance in dialogue.utterances:
        turn: dict[str, Any] = {"role": utterance.role.value, "text": utterance.text}
        if utterance.tags:
            turn["tags"] = list(utterance.tags)
        if utterance.action is not None:
            turn["action"] = utterance.action
        if utterance.annotations:
            turn["annotations"] = dict(utterance.annotations)
        turns.append(turn)
    whole: dict[str, Any] = {"id": dialogue.id, "utterances": turns}
    return {**whole, "metadata": dict(dialogue.metadata)} if dialogue.metadata else whole


def _united(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Both, key by key: lists one after the other without repeats, mappings in the same way, else the second."""
    united = dict(first)
    for key, value in second.items():
        held = united.get(key)
        if isinstance(held, list | tuple) and isinstance(value, list | tuple):
            united[key] = [*held, *(each for each in value if each not in held)]
        elif isinstance(held, Mapping) and isinstance(value, Mapping):
            united[key] = _united(held, value)
        else:
            united[key] = value
    return united
