"""The calendar's rules: what may truthfully be said about a computation on a calendar."""

from dialoom.domains.calendar.rules import changes, context, errors, events, people, phrases, properties, queries
from dialoom.generation import Rules

calendar_rules = Rules()
for _module in (queries, properties, people, changes, errors, events, context, phrases):
    calendar_rules.include(_module.rules)

__all__ = ["calendar_rules"]
