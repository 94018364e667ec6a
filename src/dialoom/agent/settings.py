"""What a person may say about learning, checked once: the keys of `--set` and of the project file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from dialoom.errors import UnknownName, UsageError


class LearnSettings(BaseModel):
    """How to learn an agent from transcripts. Defaults are those of the papers or, where these fail, measured ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: Literal["predictive", "paper"] = Field(
        "predictive", description="`predictive`: states are what is likely to come next; `paper`: tag tree and merging."
    )
    tagger: str = Field(
        "embedded",
        description="`embedded` learns tags from the transcripts; `annotations` takes theirs; `llm:MODEL` asks a "
        "model; `distil:MODEL` asks a model once and teaches the embedded tagger.",
    )
    redact: bool = Field(True, description="Replace names, addresses and numbers by placeholders before anything else.")
    keep: tuple[str, ...] = Field(
        (), description="Values that redaction leaves, such as your own hotline; separated by commas."
    )
    tools: bool = Field(True, description="Keep tool calls and results as rounds of their own.")
    tau: int = Field(5, ge=0, description="paper: a state splits only if more dialogues than this pass through it.")
    merge_threshold: float = Field(0.1, ge=0.0, description="paper: states more similar than this are merged (lambda).")
    merge_share: float | None = Field(
        None, gt=0.0, lt=1.0, description="paper: merge until this share of states is gone, instead of a threshold."
    )
    max_states: int = Field(200, ge=2, le=400, description="predictive: at most this many states.")
    examples: int = Field(5, ge=1, le=50, description="Past dialogues shown for a turn.")
    seed: int = Field(0, ge=0, description="Fixes every choice made by chance.")

    @field_validator("keep", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


def parse_settings(values: Mapping[str, str]) -> LearnSettings:
    """Settings from words, as `--set NAME=VALUE` gives them. Raises `UnknownName`, or `UsageError` for a bad value."""
    for name in values:
        if name not in LearnSettings.model_fields:
            raise UnknownName("setting", name, LearnSettings.model_fields)
    try:
        return LearnSettings.model_validate(dict(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0])
        told = LearnSettings.model_fields[name].description
        raise UsageError(f"Setting '{name}' is '{values[name]}': {first['msg']}.", hint=f"{name}: {told}") from error
