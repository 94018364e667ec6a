"""The data pre-processor of S-ICL (sec. 2.2): JSON with a context and a query, and its two textual forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord
from dialoom.examples.base import Example
from dialoom.examples.prompt import Speakers

NAMES = Speakers()


def inquiry(value: Mapping[str, Any], speakers: Speakers = NAMES, *, id: str = "inquiry") -> Dialogue:  # noqa: A002
    """The conversation of {"context": [{"speaker", "text"}], "query": {"speaker", "text"}, "response": {...}}.

    A speaker is one of `speakers` or `user`, `system`, `tool`, in any case. A query that is a bare text is the user's,
    a bare response the system's; context and response may be absent. Raises `InvalidRecord` that names the field.
    """
    if not isinstance(value, Mapping):
        raise InvalidRecord(id, f"expected an object with context and query, found {type(value).__name__}.")
    context = value.get("context", [])
    if not isinstance(context, list):
        raise InvalidRecord(id, f"expected a list, found {type(context).__name__}.", field="context")
    said = [_utterance(turn, speakers, None, id, f"context[{place}]") for place, turn in enumerate(context)]
    if "query" not in value:
        raise InvalidRecord(id, "there is no query.", field="query", hint="It is the utterance to be answered.")
    said.append(_utterance(value["query"], speakers, Role.USER, id, "query"))
    if "response" in value:
        said.append(_utterance(value["response"], speakers, Role.SYSTEM, id, "response"))
    return Dialogue(id, tuple(said))


def concatenation(dialogue: Dialogue) -> str:
    """Concatenation: all that the two speakers say, in one string; what the search part embeds. Tools say nothing."""
    return " ".join(said.text for said in dialogue.utterances if said.role is not Role.TOOL)


def sample(dialogue: Dialogue, speakers: Speakers = NAMES) -> str:
    """Sample: the flow of the conversation, a line an utterance with its speaker's name in front."""
    return "\n".join(f"{speakers.name(said.role)}: {' '.join(said.text.split())}" for said in dialogue.utterances)


def record(example: Example) -> Example:
    """The example as S-ICL's training sets hold it: its dialogue ends with the reply to imitate."""
    cut = example.dialogue.utterances[: example.reply + 1]
    return replace(example, dialogue=replace(example.dialogue, utterances=cut))


def _utterance(turn: Any, speakers: Speakers, default: Role | None, id: str, field: str) -> Utterance:  # noqa: A002
    if isinstance(turn, str) and default is not None:
        return Utterance(default, turn)
    if not isinstance(turn, Mapping) or not isinstance(turn.get("text"), str):
        raise InvalidRecord(id, "expected an object with a text.", field=field, raw=repr(turn)[:80])
    roles = {speakers.name(role).lower(): role for role in Role} | {role.value: role for role in Role}
    speaker = str(turn.get("speaker", default.value if default else "")).strip()
    if speaker.lower() not in roles:
        valid = ", ".join(speakers.name(role) for role in Role)
        raise InvalidRecord(id, f"the speaker is '{speaker}'.", field=f"{field}.speaker", hint=f"Speakers: {valid}.")
    return Utterance(roles[speaker.lower()], turn["text"])
