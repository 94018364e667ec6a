"""A calendar: its functions, its rules, and real SMCalFlow programs on it."""

from dialoom.domains.calendar import changes as _changes
from dialoom.domains.calendar import clocks as _clocks
from dialoom.domains.calendar import days as _days
from dialoom.domains.calendar import events as _events
from dialoom.domains.calendar import people as _people
from dialoom.domains.calendar import times as _times
from dialoom.domains.calendar.library import calendar_library
from dialoom.domains.calendar.model import Attendee, Event, EventId, Recipient, World
from dialoom.domains.calendar.rules import calendar_rules

_REGISTERED = (_changes, _clocks, _days, _events, _people, _times)  # importing these modules registers their functions

__all__ = ["Attendee", "Event", "EventId", "Recipient", "World", "calendar_library", "calendar_rules"]
