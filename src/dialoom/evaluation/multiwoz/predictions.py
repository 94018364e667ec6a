"""A system's responses to the benchmark's dialogues, read and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile
from dialoom.evaluation.multiwoz.benchmark import Benchmark, State
from dialoom.files import read_text

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Turn:
    """One delexicalised response; the state and the domains it was given in, where the system tells them."""

    response: str
    state: State | None = None
    domains: tuple[str, ...] | None = None


Predictions = Mapping[str, Sequence[Turn]]
"""Lower-case dialogue id -> one `Turn` for each system turn."""


def read_predictions(path: Path | str, benchmark: Benchmark) -> Predictions:
    """Read `{id: [{"response", "state"?, "active_domains"?}, ...]}`; ids in any case, with or without ".json".

    Raises `InvalidFile` for a file of another form, a dialogue the benchmark does not know, or a wrong number of turns.
    Dialogues may be missing: rates are over those present.
    """
    try:
        raw = json.loads(read_text(path))
    except ValueError as error:
        raise InvalidFile(path, f"not JSON ({error}).") from error
    if not isinstance(raw, dict) or not raw:
        raise InvalidFile(path, "an object of dialogues by id is expected.", hint=_FORM)
    named = {name.lower().removesuffix(".json"): turns for name, turns in raw.items()}
    unknown = [name for name in named if name not in benchmark.goals]
    if unknown:
        listed = ", ".join(unknown[:_SHOWN])
        raise InvalidFile(path, f"{len(unknown)} of {len(named)} dialogues have no goal: {listed}.", hint=_FORM)
    return {name: _turns(path, name, turns, len(benchmark.booked[name])) for name, turns in named.items()}


_FORM = 'The form is {"sng0073": [{"response": "...", "state": {...}, "active_domains": [...]}, ...], ...}.'


def _turns(path: Path | str, name: str, turns: Any, expected: int) -> list[Turn]:
    if not isinstance(turns, list) or len(turns) != expected:
        found = len(turns) if isinstance(turns, list) else "no list of"
        raise InvalidFile(path, f"{found} turns where the dialogue has {expected}.", place=name)
    return [_turn(path, f"{name}, turn {number}", turn) for number, turn in enumerate(turns, 1)]


def _turn(path: Path | str, place: str, turn: Any) -> Turn:
    if not isinstance(turn, dict) or not isinstance(turn.get("response"), str):
        raise InvalidFile(path, "no text 'response'.", place=place, hint=_FORM)
    state, domains = turn.get("state"), turn.get("active_domains")
    if state is not None and not _is_state(state):
        raise InvalidFile(path, "'state' is not domain -> slot -> text.", place=place, hint=_FORM)
    if domains is not None and not (isinstance(domains, list) and all(isinstance(name, str) for name in domains)):
        raise InvalidFile(path, "'active_domains' is not a list of names.", place=place, hint=_FORM)
    return Turn(turn["response"], state, None if domains is None else tuple(domains))


def _is_state(state: Any) -> bool:
    return isinstance(state, dict) and all(
        isinstance(slots, dict) and all(isinstance(value, str) for value in slots.values()) for slots in state.values()
    )
