"""MultiWOZ 2.1 dialogues with responses delexicalised as the evaluation expects."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.corpora.documents import documents
from dialoom.errors import InvalidFile, NothingToLearn

SPANS: Mapping[str, str] = {
    "Addr": "address",
    "Area": "area",
    "Arrive": "time",
    "Car": "car",
    "Choice": "choice",
    "Day": "day",
    "Depart": "departure",
    "Dest": "destination",
    "Fee": "price",
    "Food": "food",
    "Id": "trainid",
    "Leave": "time",
    "Name": "name",
    "People": "people",
    "Phone": "phone",
    "Post": "postcode",
    "Price": "price",
    "Ref": "reference",
    "Stars": "stars",
    "Stay": "stay",
    "Ticket": "price",
    "Time": "time",
    "Type": "type",
}
"""Slot of a span in the dialogue acts -> placeholder. Other spans stay as they were said."""

LEAVING = "leaving"

_MISSED = (  # what the annotated spans leave out, recognised by its form
    (re.compile(r"\b0\d{10}\b"), "[phone]"),
    (re.compile(r"\btr\s?\d{4}\b", re.IGNORECASE), "[trainid]"),
    (re.compile(r"\bc\.?b\.?\s?\d{1,2},?\s?\d\s?[a-z]{2}\b", re.IGNORECASE), "[postcode]"),
    (re.compile(r"\b(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{8}\b"), "[reference]"),
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """What the user said, the delexicalised response, and what the user's words meant by their annotation.

    `meant`: the placeholders the user asked for, and `LEAVING` for one who thanks or says goodbye.
    """

    user: str
    response: str
    meant: frozenset[str] = frozenset()


WozDialogues = Mapping[str, Sequence[Exchange]]
"""Lower-case dialogue id -> exchanges."""


def read_dialogues(path: Path | str) -> WozDialogues:
    """Read MultiWOZ 2.1 in ConvLab's form (an object of id to goal and log), zipped or not.

    Raises `InvalidFile` for another form and `NothingToLearn` for no dialogue.
    """
    found: dict[str, list[Exchange]] = {}
    for document in documents([path]):
        with document.open() as stream:
            try:
                raw = json.load(stream)
                for name, dialogue in raw.items():
                    log = dialogue["log"]
                    found[name.lower().removesuffix(".json")] = [
                        Exchange(
                            user["text"].strip(),
                            delexicalised(system["text"], system.get("span_info", ())),
                            _meant(user.get("dialog_act", {})),
                        )
                        for user, system in zip(log[::2], log[1::2], strict=False)
                    ]
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise InvalidFile(
                    document.name, f"not MultiWOZ 2.1 with span_info ({error!r}).", hint="Give ConvLab's data.json."
                ) from error
    if not found:
        raise NothingToLearn(f"{path}: no dialogue.")
    return found


def delexicalised(text: str, spans: Sequence[Sequence[Any]]) -> str:
    """`text` with its annotated spans (act, slot, value, first token, last token) and evident values as placeholders.

    Tokens are those white space separates. Of spans that overlap the first wins.
    """
    tokens: list[str | None] = list(text.split())
    free = 0
    for _, slot, _, first, last in sorted(spans, key=lambda span: (span[3], span[4])):
        name = SPANS.get(slot)
        if name and free <= first <= last < len(tokens):
            tokens[first : last + 1] = [f"[{name}]", *[None] * (last - first)]
            free = last + 1
    plain = " ".join(token for token in tokens if token is not None)
    for pattern, placeholder in _MISSED:
        plain = pattern.sub(placeholder, plain)
    return plain.lower()


def _meant(acts: Mapping[str, Sequence[Sequence[str]]]) -> frozenset[str]:
    asked = {
        SPANS[slot] for act, slots in acts.items() if act.endswith("-Request") for slot, *_ in slots if slot in SPANS
    }
    return frozenset(asked | ({LEAVING} if {"general-thank", "general-bye"} & acts.keys() else set()))
