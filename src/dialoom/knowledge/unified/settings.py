"""What a training run of the unified model is told, from one YAML or JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from dialoom.training.settings import LoraSettings, RunSettings
from dialoom.training.settings import read_settings as read_run_settings


class UnifiedSettings(RunSettings):
    """`model` is a local Hugging Face folder, `train` and `dev` are files of labelled turns.

    `relevance` says where the labels of evaluation tokens come from: "hard" is 1.0 for evidence that was used and 0.0
    for the rest, "lexical" weighs words. `negatives` unused candidates a source join each turn. With `lora`, only
    adapters, the embeddings and the output layer are trained.
    """

    train: list[str] = Field(min_length=1)
    dev: list[str] = Field(min_length=1)
    format: Literal["labelled", "kbp"] = "labelled"
    relevance: Literal["hard", "lexical"] = "hard"
    negatives: int = Field(2, ge=0)
    masked: bool = True
    lora: LoraSettings | None = None
    validate_turns: int = Field(200, ge=1)


def read_settings(path: Path | str) -> UnifiedSettings:
    """The settings in a YAML (or JSON) file; its relative paths are relative to the file.

    Raises `InvalidFile` naming the field.
    """
    return read_run_settings(path, UnifiedSettings, ("model", "train", "dev", "out"))
