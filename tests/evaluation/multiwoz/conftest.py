"""A town of our own: two inns, one library, one train line; every file in the benchmark's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialoom.evaluation.multiwoz.benchmark import Benchmark, open_benchmark

SLOTS = {
    "NAME": ["name", "hotel_name", "value_name"],
    "PHONE": ["phone", "hotel_phone"],
    "ADDRESS": ["address"],
    "POST": ["postcode"],
    "REFERENCE": ["ref", "reference"],
    "TRAINID": ["trainid"],
    "TIME": ["time"],
    "PRICE": ["price"],
    "AREA": ["area"],
    "COUNT": ["choice"],
    "DAY": ["day"],
}
VALUES = {
    "name_to_canonical": [{"match": "exact", "from": "the fox", "to": "fox and hounds inn"}],
    "type_to_canonical": [{"match": "exact", "from": "guest house", "to": "guesthouse"}],
    "food_to_canonical": [],
    "time_to_canonical": [
        {"match": "exact", "from": "noon", "to": "12:00"},
        {"match": "prefix", "from": "nine o'clock", "to": "09:00"},
    ],
}
DATABASE: dict[str, list[dict[str, Any]]] = {
    "hotel": [
        {"id": "0", "name": "fox and hounds inn", "area": "north", "stars": "3", "price": {"single": "40"}},
        {"id": "1", "name": "mill lane lodge", "area": "south", "stars": "?"},
    ],
    "attraction": [{"id": "7", "name": "old library", "area": "north", "type": "museum"}],
    "restaurant": [{"id": "9", "name": "blue door", "food": "british", "area": "north"}],
    "train": [
        {"trainID": "TR1", "departure": "wells", "destination": "bath", "leaveAt": "09:15", "arriveBy": "10:00"},
        {"trainID": "TR2", "departure": "wells", "destination": "bath", "leaveAt": "17:15", "arriveBy": "18:00"},
    ],
}
GOALS: dict[str, Any] = {
    "inn1": {"hotel": {"informable": {"area": "north"}, "requestable": ["PHONE", "REFERENCE"], "booking": []}},
    "rail1": {
        "train": {
            "informable": {"leave": "17:00", "destination": "bath"},
            "requestable": [],
            "booking": {"people": "1"},
        },
        "taxi": {"informable": {}, "requestable": ["PHONE"], "booking": []},
    },
}
BOOKED = {"inn1": [[], [], ["hotel"]], "rail1": [[], []]}
STATES = {
    "inn1": [
        {"hotel": {"area": "north"}},
        {"hotel": {"area": "north", "bookday": "monday"}},
        {"hotel": {"area": "north", "bookday": "monday", "bookstay": "2", "bookpeople": "1"}},
    ],
    "rail1": [{"train": {"destination": "bath", "leaveAt": "5 pm"}}, {"train": {"destination": "bath"}, "taxi": {}}],
}
REFERENCES = {"inn1": ["i recommend NAME .", "for how long?", "booked, your code is REFERENCE ."]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "town"
    (root / "database").mkdir(parents=True)
    files: dict[str, Any] = {
        "goals.json": GOALS,
        "booked_domains.json": BOOKED,
        "gold_states.json": STATES,
        "references_own.json": REFERENCES,
        "slot_name_mapping.json": SLOTS,
        "value_canonicalisation.json": VALUES,
        **{f"database/{domain}_db.json": rows for domain, rows in DATABASE.items()},
    }
    for name, value in files.items():
        (root / name).write_text(json.dumps(value), encoding="utf-8")
    return root


@pytest.fixture
def town(folder: Path) -> Benchmark:
    return open_benchmark(folder)
