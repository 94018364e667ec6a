"""The calendar's rules: what may truthfully be said about a computation on a calendar."""

from dialoom.domains.calendar.rules import (
    changes,
    clock,
    context,
    errors,
    events,
    names,
    people,
    phrases,
    properties,
    queries,
    values,
    when,
)
from dialoom.generation import Rules

calendar_rules = Rules()
for _module in (queries, properties, people, changes, values, errors, events, context, when, phrases, clock, names):
    calendar_rules.include(_module.rules)

__all__ = ["calendar_rules"]
