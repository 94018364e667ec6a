"""What a training run of the unified model is told, from one YAML or JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialoom.errors import InvalidFile
from dialoom.files import read_text


class LoraSettings(BaseModel):
    """Low-rank adapters: only these, the embeddings and the output layer are trained."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: int = Field(8, ge=1)
    alpha: int = Field(32, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)


class UnifiedSettings(BaseModel):
    """`model` is a local Hugging Face folder, `train` and `dev` files of labelled turns, `out` the folder to write.

    `relevance` says where the labels of evaluation tokens come from: "hard" is 1.0 for evidence that was used and 0.0
    for the rest, "lexical" weighs words. `negatives` unused candidates a source join each turn. `batch` turns make one
    step's part, `accumulate` parts one step. Training stops after `epochs`, or `steps` where that is given.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    train: list[str] = Field(min_length=1)
    dev: list[str] = Field(min_length=1)
    out: str
    format: Literal["labelled", "kbp"] = "labelled"
    relevance: Literal["hard", "lexical"] = "hard"
    negatives: int = Field(2, ge=0)
    masked: bool = True
    lora: LoraSettings | None = None
    epochs: int = Field(3, ge=1)
    steps: int | None = Field(None, ge=1)
    batch: int = Field(8, ge=1)
    accumulate: int = Field(1, ge=1)
    rate: float = Field(2e-5, gt=0)
    warmup: float = Field(0.05, ge=0, lt=1)
    validate_every: int = Field(200, ge=1)
    validate_turns: int = Field(200, ge=1)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    bf16: bool = True
    seed: int = 0


def read_settings(path: Path | str) -> UnifiedSettings:
    """The settings in a YAML (or JSON) file; its relative paths are relative to the file.

    Raises `InvalidFile` naming the field.
    """
    source = Path(path)
    try:
        raw: Any = yaml.safe_load(read_text(source))
        settings = UnifiedSettings.model_validate(raw)
    except yaml.YAMLError as error:
        raise InvalidFile(source, f"not YAML ({error}).") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidFile(source, f"{first['msg']}.", place=place) from error
    home = source.parent

    def placed(name: str) -> str:
        return str(home / name)

    return settings.model_copy(
        update={
            "model": placed(settings.model),
            "train": [placed(name) for name in settings.train],
            "dev": [placed(name) for name in settings.dev],
            "out": placed(settings.out),
        }
    )
