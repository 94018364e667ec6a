"""Planners without learning: always, never, and rules over the user's words. Baselines, and often enough."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dialoom.errors import UsageError
from dialoom.knowledge.base import Plan, Query, Source
from dialoom.knowledge.order import call_order, closed


class AlwaysPlanner:
    """Every source, every turn (the paper's "always use all sources", table VII)."""

    async def plan(self, query: Query, sources: Sequence[Source]) -> Plan:  # noqa: ARG002
        """See `Planner`."""
        return Plan(call_order(sources), reason="always")


class NeverPlanner:
    """No source, ever."""

    async def plan(self, query: Query, sources: Sequence[Source]) -> Plan:  # noqa: ARG002
        """See `Planner`."""
        return Plan(reason="never")


class RulePlanner:
    """Sources whose pattern occurs in the user's last words, with what they depend on.

    `rules` maps a source to a regular expression; case does not matter. Raises `UsageError` for a broken expression.
    """

    def __init__(self, rules: Mapping[str, str]) -> None:
        self._rules: dict[str, re.Pattern[str]] = {}
        for source, pattern in rules.items():
            try:
                self._rules[source] = re.compile(pattern, re.IGNORECASE)
            except re.error as error:
                raise UsageError(f"The rule of source '{source}' is not a regular expression: {error}.") from error

    async def plan(self, query: Query, sources: Sequence[Source]) -> Plan:
        """See `Planner`."""
        matched = [source for source, pattern in self._rules.items() if pattern.search(query.text)]
        reason = f"rules of {', '.join(matched)}" if matched else "no rule matched"
        return Plan(closed(matched, sources), reason=reason)
