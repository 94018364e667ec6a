"""The shapes that all readers share for what a source says about an utterance.

    annotations["acts"]      [{"act": "inform", "domain": "hotel", "slot": "area", "value": "east"}, ...]
                             act and domain in lower case; domain, slot and value may be ""
    annotations["intents"]   ["book_flight", ...] as the source writes them
    annotations["slots"]     {"arrival_city": ["chennai"], ...}
    annotations["personal"]  {"name": ["ravi"], "phone": [...]}: values the source marks as somebody's own, by the
                             types of `dialoom.corpora.redaction`; also allowed in a dialogue's metadata

A tool round is an utterance of role `tool`; its text is readable and its annotations hold

    {"tool": "hotel_book", "kind": "call", "arguments": {"day": "Monday"}}
    {"tool": "hotel_book", "kind": "result", "outcome": "Reservation Confirmed", "count": 1, "results": [{...}]}

`outcome` is a short phrase of the source (a message, a status), or "found" / "nothing found"; `count` is the number of
items returned. At most `KEPT_RESULTS` of them are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dialoom.dialogue import Role, Utterance

KEPT_RESULTS = 3
_OUTCOME_KEYS = ("message", "status", "outcome", "error")


def act(name: str, domain: str = "", slot: str = "", value: object = "") -> dict[str, str]:
    """One dialogue act in the shared shape."""
    return {"act": name.lower(), "domain": domain.lower(), "slot": slot, "value": str(value)}


def present(**annotations: object) -> dict[str, Any]:
    """The annotations that say something: empty lists, objects, texts and None are left out."""
    return {key: value for key, value in annotations.items() if value not in (None, "", [], {}, ())}


def tool_call(tool: str, arguments: Mapping[str, Any], *, action: str | None = None, text: str = "") -> Utterance:
    """A tool round in which a tool is called."""
    words = text or f"call {tool}{_listed(arguments)}"
    return Utterance(
        Role.TOOL, words, action=action, annotations={"tool": tool, "kind": "call", "arguments": dict(arguments)}
    )


def tool_result(
    tool: str, results: Sequence[Mapping[str, Any]], *, count: int | None = None, outcome: str = "", text: str = ""
) -> Utterance:
    """A tool round in which a tool returns; `count` defaults to the number of results."""
    number = len(results) if count is None else count
    said = outcome or _outcome(results) or ("found" if number else "nothing found")
    kept = [dict(result) for result in results[:KEPT_RESULTS]]
    words = text or f"{tool} returned {said}{_listed(results[0]) if results else ''}"
    return Utterance(
        Role.TOOL,
        words,
        annotations={"tool": tool, "kind": "result", "outcome": said, "count": number, "results": kept},
    )


def _outcome(results: Sequence[Mapping[str, Any]]) -> str:
    """The message or status of a single result, by the names of its fields."""
    if len(results) != 1:
        return ""
    for wanted in _OUTCOME_KEYS:
        for key, value in results[0].items():
            if key.lower().endswith(wanted) and isinstance(value, str) and value:
                return value
    return ""


def _listed(values: Mapping[str, Any]) -> str:
    pairs: Iterable[str] = (f"{key}: {value}" for key, value in values.items() if value not in (None, "", [], {}))
    listed = ", ".join(pairs)
    return f" ({listed})" if listed else ""
