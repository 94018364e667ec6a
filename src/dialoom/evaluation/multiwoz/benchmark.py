"""The benchmark's data read from a folder: goals, booked domains, gold states, references, databases, spellings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, UsageError
from dialoom.evaluation.multiwoz.spelling import Rewrite, Spelling
from dialoom.evaluation.multiwoz.venues import FUZZY, Venues
from dialoom.files import read_text

State = Mapping[str, Mapping[str, str]]
"""Domain -> slot -> value."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What the user wants in one domain: constraints on the entity, and upper-case slots to be told."""

    informable: Mapping[str, str]
    requestable: frozenset[str]


@dataclass(frozen=True)
class Benchmark:
    """Everything a score depends on beside the predictions. All are keyed by lower-case dialogue ids.

    `booked`: turn -> domains booked so far in the gold dialogue. `references` may cover only some dialogues, or none.
    """

    goals: Mapping[str, Mapping[str, Goal]]
    booked: Mapping[str, Sequence[frozenset[str]]]
    states: Mapping[str, Sequence[State]]
    references: Mapping[str, Sequence[str]]
    venues: Venues
    spelling: Spelling


def open_benchmark(folder: Path | str) -> Benchmark:
    """Read the benchmark from `folder`, or the `evaluator_data` inside it; `UsageError` when it is not there.

    Files: goals.json, booked_domains.json, gold_states.json, slot_name_mapping.json, value_canonicalisation.json,
    database/DOMAIN_db.json, and any number of references*.json (dialogue id -> responses).
    """
    root = _root(Path(folder))
    spelling = Spelling(
        {name: slot for slot, names in _json(root / "slot_name_mapping.json").items() for name in names},
        {
            table: [Rewrite(rule["match"], rule["from"], rule["to"]) for rule in rules]
            for table, rules in _json(root / "value_canonicalisation.json").items()
        },
    )
    references: dict[str, Sequence[str]] = {}
    for path in sorted(root.glob("references*.json")):
        references.update(_json(path))
    return Benchmark(
        goals={
            name: {
                domain: Goal(wanted["informable"], frozenset(wanted["requestable"])) for domain, wanted in goal.items()
            }
            for name, goal in _json(root / "goals.json").items()
        },
        booked={
            name: [frozenset(turn) for turn in turns] for name, turns in _json(root / "booked_domains.json").items()
        },
        states=_json(root / "gold_states.json"),
        references=references,
        venues=Venues({domain: _json(root / "database" / f"{domain}_db.json") for domain in FUZZY}, spelling),
        spelling=spelling,
    )


def _root(folder: Path) -> Path:
    for candidate in (folder, folder / "evaluator_data", folder / "multiwoz" / "evaluator_data"):
        if (candidate / "goals.json").is_file():
            return candidate
    raise UsageError(
        f"{folder} holds no MultiWOZ evaluation data: goals.json is missing.",
        hint="Give --data the folder with goals.json, booked_domains.json, gold_states.json and database/.",
    )


def _json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise InvalidFile(path, f"not JSON ({error}).") from error
