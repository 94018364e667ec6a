"""Obligations a person wrote for these domains: a row to compare learned ones with, never part of them."""

from __future__ import annotations

from collections.abc import Sequence

from dialoom.evaluation.multiwoz.obligations import Duties
from dialoom.evaluation.multiwoz.tracker import Facts, Progress
from dialoom.evaluation.multiwoz.venues import FUZZY
from dialoom.evaluation.multiwoz.violations import BOOKING

DETAILS = frozenset({"PHONE", "ADDRESS", "POST"})


def handwritten(turn: Facts, progress: Progress, _path: Sequence[int]) -> Duties:
    """Answer what is asked, offer what fits as soon as it is known, give the reference once the booking is complete."""
    owed = {slot for slot, standing in progress.slots.items() if standing == "asked" and slot in DETAILS}
    forbidden = set()
    complete = progress.facet("booking") == "all"
    if turn.domain in FUZZY:
        entity = "TRAINID" if turn.domain == "train" else "NAME"
        if not turn.matches:
            forbidden.add(entity)
        elif progress.facet("offer") != "made" and _known_enough(turn, progress, complete):
            owed.add(entity)
            if turn.domain == "attraction":
                owed |= DETAILS
    if turn.domain in BOOKING and complete and progress.slots["REFERENCE"] != "told":
        owed.add("REFERENCE")
    elif not complete:
        forbidden.add("REFERENCE")
    if turn.domain == "taxi" and complete and progress.slots["PHONE"] != "told":
        owed.add("PHONE")
    return frozenset(owed), frozenset(forbidden)


def _known_enough(turn: Facts, progress: Progress, complete: bool) -> bool:
    asked = progress.facet("asks") != "nothing"
    return complete or asked or turn.matches == 1 or int(progress.facet("constraints")) >= 2
