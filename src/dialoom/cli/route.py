"""`dialoom route`: conversations as JSON lines in, where each stands as JSON lines out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from dialoom.agent.agent import Agent
from dialoom.agent.model import Model
from dialoom.agent.trace import Recorder
from dialoom.cli.console import ModelFile
from dialoom.corpora.jsonl import dialogue_of
from dialoom.corpora.records import Record
from dialoom.dialogue import Dialogue
from dialoom.errors import InvalidFile, InvalidRecord


def route_command(
    model_file: ModelFile,
    turns: Annotated[Path | None, typer.Argument(help="JSON lines; standard input when left out.")] = None,
    examples: Annotated[int, typer.Option(help="How many examples to list.", min=0)] = 5,
) -> None:
    """Route conversations for a script: a JSON object a line in, a JSON object a line out, in the same order.

    A line is a conversation so far: {"id": "a1", "utterances": [{"role": "user", "text": "where is my parcel"}]}.

    Example: dialoom route support.dialoom turns.jsonl > routed.jsonl
    """
    agent = Agent(Model.load(model_file))
    if turns is None:
        _route(agent, conversations(sys.stdin.buffer, "standard input"), examples)
        return
    try:
        with turns.open("rb") as file:
            _route(agent, conversations(file, str(turns)), examples)
    except BrokenPipeError:  # the reader of our output, not our input, went away
        raise
    except OSError as error:
        raise InvalidFile(turns, f"cannot be read ({error.strerror}).") from error


def conversations(lines: Iterable[bytes], name: str) -> Iterator[Dialogue]:
    """A dialogue per line. Raises `InvalidRecord` that names the line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InvalidRecord(name, f"not a JSON object ({error}).", place=place) from error
        yield dialogue_of(Record(name, place, value))


def _route(agent: Agent, dialogues: Iterable[Dialogue], examples: int) -> None:
    for dialogue in dialogues:
        sys.stdout.write(json.dumps(routed(agent, dialogue, examples), ensure_ascii=False) + "\n")
        sys.stdout.flush()


def routed(agent: Agent, dialogue: Dialogue, examples: int) -> dict[str, Any]:
    """Where a conversation stands and which past dialogues resemble it, without replying."""
    tagged, route = agent.place(dialogue, Recorder())
    state = agent.model.automaton.state(route.state)
    return {
        "id": dialogue.id,
        "state": {"id": state.id, "name": state.name},
        "tags": list(tagged.utterances[-1].tags) if tagged.utterances else [],
        "next": [{"tag": tag, "probability": round(share, 4)} for tag, share in route.next_tags[:5]],
        "confidence": round(route.confidence, 4),
        "fallback": route.fallback,
        "reason": route.reason,
        "examples": [
            {"dialogue": example.dialogue.id, "reply": example.reply, "score": round(example.score, 4)}
            for example in agent.model.examples(tagged, route, examples)
        ],
    }
