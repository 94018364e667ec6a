"""MultiWOZ 2.0 and 2.1 (Budzianowski et al. 2018; Eric et al. 2019): an object of dialogue id to goal and log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dialoom.corpora.annotations import act, present, tool_result
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_items, parsed
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord


class MultiWozReader:
    """The original `data.json` and ConvLab's copies: user and system take turns, the user first.

    Acts come from each turn's `dialog_act` (2.1, ConvLab), else from `dialogue_acts.json` / `system_acts.json` beside
    the file (2.0). A booking that appears in the belief state is a tool result before the system turn that tells it.
    Metadata: domains, and `fail` when the goal says that a first request fails.
    """

    name = "multiwoz"
    description = "MultiWOZ 2.0/2.1: data.json (original or ConvLab), an object of id to goal and log"

    def sniff(self, head: bytes) -> bool:
        """An object whose members have a `goal` or `log` of turns with `text` and `metadata`."""
        return json_head(head, "log", "metadata", "text", starts="{")

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Dialogues as they come; ids without `.json`, in the case the file has."""
        acts = acts_beside(document, "dialogue_acts.json", "system_acts.json")

        def parse(record: Record) -> Dialogue:
            name = record.place[5:-1].removesuffix(".json")
            said = acts.get(name, {})
            utterances: list[Utterance] = []
            seen: list[tuple[str, Mapping[str, Any]]] = []
            for number, turn in enumerate(record.each("log")):
                if options.tools and number % 2:
                    new = [each for each in _bookings(turn.get("metadata", dict, {})) if each not in seen]
                    utterances += [tool_result(f"book_{domain}", [item], outcome="booked") for domain, item in new]
                    seen += new
                beside = said.get(str((number + 1) // 2)) if number % 2 else None
                found = woz_acts(turn.get("dialog_act", dict) or beside)
                role = Role.SYSTEM if number % 2 else Role.USER
                utterances.append(Utterance(role, turn.text("text").strip(), annotations=present(acts=found)))
            return Dialogue(name, tuple(utterances), _metadata(record.get("goal", dict, {})))

        yield from parsed(json_items(document), parse)


def _metadata(goal: Mapping[str, Any]) -> dict[str, Any]:
    domains = {k: v for k, v in goal.items() if isinstance(v, dict) and v and k not in ("topic", "message")}
    return present(
        domains=sorted(domains), fail=any(v.get("fail_info") or v.get("fail_book") for v in domains.values()) or None
    )


def _bookings(state: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for domain, parts in state.items():
        booked = parts.get("book", {}).get("booked", []) if isinstance(parts, dict) else []
        for item in booked if isinstance(booked, list) else ():
            if isinstance(item, dict):
                yield domain, item


def woz_acts(acts: Any) -> list[dict[str, str]]:
    """MultiWOZ acts, {"Hotel-Inform": [["Area", "east"]]}, in the shared shape."""
    found = []
    for label, pairs in acts.items() if isinstance(acts, dict) else ():
        domain, _, name = label.partition("-")
        for pair in pairs or [["none", "none"]]:
            slot, value = ("" if part in ("none", "?") else str(part) for part in (*pair, "", "")[:2])
            found.append(act(name or domain, domain if name else "", slot, value))
    return found


def acts_beside(document: Document, *names: str) -> Mapping[str, Any]:
    """Acts by dialogue id (without `.json`) from the first of these files beside the document; {} when absent."""
    found = document.beside(*names)
    if found is None:
        return {}
    with found.open() as stream:
        try:
            acts = json.load(stream)
        except ValueError as error:
            raise InvalidRecord(found.name, f"not JSON ({error}).") from error
    return {str(k).removesuffix(".json"): v for k, v in acts.items() if isinstance(v, dict)}
