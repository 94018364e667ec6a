"""The project file `dialoom.yaml`: what to learn from, how, and where the model goes."""

from __future__ import annotations

from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dialoom.agent.settings import LearnSettings
from dialoom.errors import InvalidFile, UsageError
from dialoom.files import read_text

NAME = "dialoom.yaml"
MAX_BYTES = 1024 * 1024


class Project(BaseModel):
    """The values of a project file. Paths are relative to the folder it lies in."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    transcripts: tuple[str, ...] = Field(min_length=1)
    format: str = "auto"
    columns: dict[str, str] = {}
    roles: dict[str, str] = {}
    model: str = "agent.dialoom"
    learn: LearnSettings = LearnSettings()


def find_project(folder: Path) -> Project:
    """The project file of `folder`. Raises `UsageError` when there is none and `InvalidFile` when it is wrong."""
    path = folder / NAME
    if not path.exists():
        raise UsageError(
            f"No transcripts are given and there is no {NAME} here.",
            hint="Name transcripts (dialoom learn FILE ...) or start a project (dialoom init FOLDER).",
        )
    try:
        return Project.model_validate(yaml.safe_load(read_text(path, limit=MAX_BYTES)) or {})
    except yaml.YAMLError as error:
        raise InvalidFile(path, f"not YAML ({error}).") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        valid = ", ".join(Project.model_fields)
        raise InvalidFile(path, f"{first['msg']}.", place=place, hint=f"Fields: {valid}.") from error
