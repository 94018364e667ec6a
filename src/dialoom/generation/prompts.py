"""The prompt of a reply: the computation, its result and the user's words; each but the first can be left out."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import json
from typing import Any

from dialoom.dataflow import Computation, Failure, Graph, label, to_lispress
from dialoom.errors import InvalidRule

TASK = "Answer the user in one or two sentences. Say only what the result shows."
ITEMS = 5


def reply_prompt(graph: Graph, *, words: str = "", result: bool = True) -> str:
    """The text that a model reads before it replies (sec. 5.1, 5.3).

    `words` are the user's, left out when empty; `result` adds the value of the computation as JSON, of a longer list
    its first items and how many more there are.
    """
    parts = [TASK]
    if words:
        parts.append(f"User: {words}")
    parts.append(f"Computation: {program_of(graph.root)}")
    if result:
        outcome = graph.outcome(graph.root)
        shown = f"error: {outcome.error}" if isinstance(outcome, Failure) else json.dumps(_plain(outcome, 4))
        parts.append(f"Result: {shown}")
    return "\n".join(parts)


def program_of(root: Computation) -> str:
    """The computation in Lispress, or its label where a node holds a value that has no written form."""
    try:
        return to_lispress(root)
    except InvalidRule:
        return label(root)


def _plain(value: Any, depth: int) -> Any:
    """A value as JSON can hold it; what lies deeper than `depth` is its text."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if depth and isinstance(value, list | tuple | set | frozenset):
        items = [_plain(item, depth - 1) for item in itertools.islice(value, ITEMS)]
        return [*items, f"{len(value) - ITEMS} more, {len(value)} in all"] if len(value) > ITEMS else items
    if depth and isinstance(value, dict):
        return {str(key): _plain(item, depth - 1) for key, item in value.items()}
    if depth and dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {field.name: _plain(getattr(value, field.name), depth - 1) for field in fields}
    return str(value)
