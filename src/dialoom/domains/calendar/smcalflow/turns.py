"""Event-query turns of an SMCalFlow 2.0 file: the subset CORE, by the functions that a program uses."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.dataflow import UNCHECKED, Call, from_lispress, walk
from dialoom.errors import InvalidFile, InvalidRule

_SEARCHES = {"FindEventWrapperWithDefaults", "FindNumNextEvent", "FindLastEvent"}
# Programs that act, leave the calendar, or change an earlier program.
_OUTSIDE = re.compile(
    r"(Create|Update|Delete).*(Preflight|Commit)EventWrapper|Confirm\w*AndReturnAction.*|Choose(Create|Update)Event.*"
    r"|DoNotConfirm|NewClobber|ForwardEventWrapper|EventRescheduled|ActionIntensionConstraint"
    r"|UpdateEventIntensionConstraint|EventAttendance|joinEventCommand.*|.*Weather.*|.*Place.*|Fence.*|ReviseConstraint"
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn: where it is from, its program, what the corpus's agent said, and the user's words before it."""

    dialogue: str
    index: int
    program: str
    reply: str
    words: str = ""


def read_turns(path: Path | str) -> Iterator[Turn]:
    """Turns of a .jsonl or .jsonl.gz file that are not marked `skip`. Raises `InvalidFile` with the line."""
    source = Path(path)
    opener: Any = gzip.open if source.suffix == ".gz" else open
    try:
        with opener(source, "rt", encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield from _turns(source, number, line)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidFile(source, f"cannot be read ({error}).") from error


def _turns(source: Path, number: int, line: str) -> Iterator[Turn]:
    try:
        dialogue = json.loads(line)
        for turn in dialogue["turns"]:
            if not turn["skip"]:
                reply = turn["agent_utterance"]["original_text"]
                words = turn["user_utterance"]["original_text"] if "user_utterance" in turn else ""
                yield Turn(dialogue["dialogue_id"], turn["turn_index"], turn["lispress"], reply, words)
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidFile(source, f"not an SMCalFlow dialogue ({error!r}).", place=f"line {number}") from error


def is_event_query(program: str) -> bool:
    """Whether a program asks about events of the calendar and does nothing else. False where it cannot be read."""
    try:
        root = from_lispress(program, UNCHECKED)
    except InvalidRule:
        return any(name in program for name in _SEARCHES)
    names = {node.function for node in walk(root) if isinstance(node, Call)}
    return bool(names & _SEARCHES) and not any(_OUTSIDE.fullmatch(name) for name in names)
