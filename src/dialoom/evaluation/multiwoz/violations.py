"""Promises a response cannot keep, which Inform and Success do not punish."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dialoom.evaluation.multiwoz.success import Told, offers
from dialoom.evaluation.multiwoz.venues import Venues

BOOKING: Mapping[str, tuple[str, ...]] = {
    "hotel": ("day", "people", "stay"),
    "restaurant": ("day", "people", "time"),
    "train": ("people",),
}
"""Domains that can be booked, and what a booking needs. States write `bookday` or `day`."""


@dataclass(frozen=True, slots=True)
class Violations:
    """`empty_offers` in `empty_results` turns without a matching entity; `early_references` of `references`."""

    empty_offers: int
    empty_results: int
    early_references: int
    references: int


def violations(turns: Iterable[Told], venues: Venues) -> Violations:
    """Count, in the active domains: an entity named where none matches, and a reference before its booking.

    A reference is early while the state lacks a booking slot of the domain.
    """
    empty_offers = empty_results = early = references = 0
    for turn in turns:
        for domain in turn.domains:
            slots = turn.state.get(domain, {})
            if offers(domain, frozenset({"NAME", "TRAINID"})) and not venues.query(domain, slots):
                empty_results += 1
                empty_offers += offers(domain, turn.slots)
            if domain in BOOKING and "REFERENCE" in turn.slots:
                references += 1
                early += not bookable(domain, slots)
    return Violations(empty_offers, empty_results, early, references)


def bookable(domain: str, slots: Mapping[str, str]) -> bool:
    """Are all booking slots of `domain` filled?"""
    return all(f"book{slot}" in slots or slot in slots for slot in BOOKING[domain])
