"""What every prompt of this package shares: the transcript as data, and answers held to a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema

from dialoom.dialogue import Dialogue, Role
from dialoom.models.base import Constraint, LanguageModel, Message, Request, Sampling

_SPEAKERS = {Role.USER: "User", Role.SYSTEM: "Agent", Role.TOOL: "Tool"}
INDICATORS = ("[SOURCE]", "[EOS]", "[EVIDENCE]", "[EOE]")
"""The paper's indicator tokens (UniMS-RAG table I)."""


def transcript(context: Dialogue, turns: int = 6) -> str:
    """The last `turns` utterances, one line each, speaker first."""
    return "\n".join(f"{_SPEAKERS[u.role]}: {plain(u.text)}" for u in context.utterances[-turns:])


def plain(text: str) -> str:
    """`text` on one line and unable to imitate the prompt's own marks: indicator tokens lose their brackets."""
    line = " ".join(text.split())
    for mark in INDICATORS:
        line = line.replace(mark, mark.strip("[]").lower())
    return line


async def ask_json(
    model: LanguageModel, messages: Sequence[Message], schema: Mapping[str, Any], *, max_tokens: int = 128
) -> Any:
    """The model's answer as JSON that matches `schema`; None when it is not. Raises `ModelError` when the call fails.

    The schema is sent as a constraint where the model can obey one, and checked here whatever the model says.
    """
    constraint = Constraint("json_schema", schema) if "json_schema" in model.capabilities.constraints else None
    request = Request(tuple(messages), Sampling(max_tokens=max_tokens), constraint)
    text = (await model.generate(request)).text
    start, end = text.find("{"), text.rfind("}")
    try:
        answer = json.loads(text[start : end + 1])
        jsonschema.validate(answer, schema)
    except (ValueError, jsonschema.ValidationError):
        return None
    return answer
