"""Flow files: YAML (or JSON) to a `Flow`; what is wrong with one is told with its line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dialoom.errors import InvalidFile
from dialoom.files import read_text
from dialoom.flows.flow import Flow
from dialoom.flows.source import Place, Source, parse_yaml

MAX_FLOW_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True)
class LoadedFlow:
    """A flow and its source."""

    flow: Flow
    source: Source
    text: str


def parse_flow(text: str, path: str = "flow") -> LoadedFlow:
    """A flow from YAML text. Raises `InvalidFile` that names line, place, the problem and the mend."""
    data, source = parse_yaml(text, path)
    if not isinstance(data, dict):
        raise InvalidFile(path, "a flow file is a mapping.", hint="It begins with 'flow: NAME'.")
    try:
        return LoadedFlow(Flow.model_validate(data), source, text)
    except ValidationError as error:
        raise _explained(error, data, source) from error


def load_flow(path: Path | str) -> LoadedFlow:
    """A flow from a file. Raises `InvalidFile`."""
    return parse_flow(read_text(path, limit=MAX_FLOW_BYTES), str(path))


def place_of(location: tuple[Any, ...], data: Any) -> Place:
    """A pydantic error location as a key path of the data: the tags of unions are left out."""
    place: list[str | int] = []
    for step in location:
        if (isinstance(data, dict) and step in data) or (
            isinstance(data, list) and isinstance(step, int) and step < len(data)
        ):
            data = data[step]
        else:
            continue
        place.append(step)
    return tuple(place)


def _explained(error: ValidationError, data: Any, source: Source) -> InvalidFile:
    problems = []
    for item in error.errors(include_url=False):
        place = place_of(item["loc"], data)
        problem = item["msg"].removeprefix("Value error, ")
        if item["type"] in ("missing", "extra_forbidden"):
            key = item["loc"][-1]
            problem = f"'{key}' is missing" if item["type"] == "missing" else f"'{key}' is not a key here"
        problems.append((source.line(place), ".".join(map(str, place)) or "the file", problem))
    line, where, problem = min(problems)
    more = f" ({len(problems) - 1} more like this below it.)" if len(problems) > 1 else ""
    return InvalidFile(
        source.path,
        f"{where}: {problem}.{more}",
        place=f"line {line}",
        hint="The JSON Schema (dialoom flow schema) lists what may stand here.",
    )


def flow_schema() -> dict[str, Any]:
    """The JSON Schema of flow files, for editors and other tools."""
    schema = Flow.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "Dialoom flow"}
