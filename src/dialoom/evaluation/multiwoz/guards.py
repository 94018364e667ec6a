"""Learned obligations as sentences a person can read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from dialoom.evaluation.multiwoz.obligations import Evidence, Obligations
from dialoom.evaluation.multiwoz.policy import Policy
from dialoom.evaluation.multiwoz.tracker import SLOTS, STANDINGS


@dataclass(frozen=True, slots=True)
class Guard:
    """In the state reached by `tags`, a slot that stands so is owed, by this evidence."""

    tags: tuple[str, ...]
    slot: str
    standing: str
    evidence: Evidence

    def __str__(self) -> str:
        found = self.evidence
        return (
            f"{', '.join(self.tags) or 'anywhere'}: tell {self.slot} if {self.standing}"
            f" (of {found.turns} turns {found.now / found.turns:.0%} tell it now,"
            f" {found.later / found.turns:.0%} now or later)"
        )


def guards(policy: Policy, obligations: Obligations) -> list[Guard]:
    """The obligations, the one of most turns first.

    Each is as general as it can be: every state seen inside it owes the slot too, and in the state before it not every
    state does.
    """
    paths = {tags: policy.path(tags) for tags in sorted({each.progress.tags for each in policy.turns})}
    found = [
        guard for slot, standing in product(SLOTS, STANDINGS) for guard in _guards(paths, obligations, slot, standing)
    ]
    return sorted(found, key=lambda guard: (-guard.evidence.turns, guard.tags, guard.slot, guard.standing))


def _guards(
    paths: Mapping[tuple[str, ...], tuple[int, ...]], obligations: Obligations, slot: str, standing: str
) -> Iterator[Guard]:
    seen: Counter[int] = Counter()
    owing: Counter[int] = Counter()
    for path in paths.values():
        if (path[-1], slot, standing) in obligations.evidence:
            seen.update(path)
            if obligations.owes((slot, standing), obligations.shares(path, slot, standing)):
                owing.update(path)
    always = {state for state in owing if owing[state] == seen[state]}
    given: set[int] = set()
    for tags, path in paths.items():
        depth = next((depth for depth, state in enumerate(path) if state in always), None)
        if depth is not None and path[depth] not in given:
            given.add(path[depth])
            yield Guard(tags[:depth], slot, standing, obligations.evidence[path[depth], slot, standing])
