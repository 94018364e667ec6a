"""Recorded sessions: a line of JSON for the session, then one for every event, appended as they happen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from dialoom.errors import InvalidFile, StoreError
from dialoom.files import read_text
from dialoom.flows.state import Event

Part = TypeVar("Part", bound=BaseModel)


class Header(BaseModel):
    """The first line of a recording."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["dialoom.session"] = "dialoom.session"
    version: Literal[1] = 1
    session: str
    flow: str
    fingerprint: str = ""
    signals: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Recording:
    """A session as it was recorded."""

    header: Header
    events: tuple[Event, ...]

    def turns(self) -> list[tuple[Event, ...]]:
        """The events of each turn; the first is the opening where the session was opened without words."""
        turns: list[list[Event]] = []
        for event in self.events:
            if event.kind == "user_said" or not turns:
                turns.append([])
            turns[-1].append(event)
        return [tuple(turn) for turn in turns]


def append(path: Path, header: Header, events: Iterable[Event]) -> None:
    """Add events to a recording, beginning it with the header. Raises `StoreError` when it cannot be written."""
    lines = [] if path.exists() and path.stat().st_size else [header.model_dump_json()]
    lines += [event.model_dump_json() for event in events]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
    except OSError as error:
        raise StoreError(f"{path} cannot be written ({error.strerror}).") from error


def read_recording(path: Path) -> Recording:
    """A recording; a last line that was not written to its end is left out. Raises `InvalidFile`."""
    lines = read_text(path).split("\n")
    complete, rest = lines[:-1], lines[-1]
    if rest and _whole(rest):
        complete.append(rest)
    if not complete:
        raise InvalidFile(path, "the recording is empty.")
    header = _parsed(Header, complete[0], path, 1)
    return Recording(header, tuple(_parsed(Event, line, path, at) for at, line in enumerate(complete[1:], 2)))


def _parsed(kind: type[Part], line: str, path: Path, number: int) -> Part:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise InvalidFile(path, f"not a recorded session: {first['msg']}.", place=f"line {number}") from None


def _whole(line: str) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
