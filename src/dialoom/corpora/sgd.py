"""SGD (Rastogi et al. 2020): lists of dialogues with frames on every turn, the layout that MultiWOZ 2.2 took over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialoom.corpora.annotations import act, present, tool_call, tool_result
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_items, parsed
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord

_SPEAKERS = {"USER": Role.USER, "SYSTEM": Role.SYSTEM}


class SgdReader:
    """Turns with the acts, slots and active intents of their frames; service calls and results as tool rounds.

    A dialogue id of SGD is unique only inside its split, so the id is `SPLIT/ID`, the split being the file's folder.
    """

    name = "sgd"
    description = "Schema-Guided Dialogue: SPLIT/dialogues_NNN.json with frames, service calls and results"

    def sniff(self, head: bytes) -> bool:
        """Turns with `speaker` and `frames`, without MultiWOZ's `turn_id`."""
        return framed(head) and b'"turn_id"' not in head

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Dialogues of one file of a split."""
        split = document.folder

        def parse(record: Record) -> Dialogue:
            turns = [u for turn in record.each("turns") for u in framed_turn(turn, options)]
            name = record.identity("dialogue_id")
            metadata = present(split=split, services=record.get("services", list))
            return Dialogue(f"{split}/{name}" if split else name, tuple(turns), metadata)

        yield from parsed(json_items(document), parse)


def framed(head: bytes) -> bool:
    """Whether a file holds dialogues with frames."""
    return json_head(head, "dialogue_id", "turns", "speaker", "frames", "utterance")


def framed_turn(turn: Record, options: ReadOptions, acts: list[dict[str, str]] | None = None) -> Iterator[Utterance]:
    """The tool rounds before a system turn, then the turn."""
    speaker = turn.text("speaker")
    if speaker not in _SPEAKERS:
        raise turn.invalid(f"expected USER or SYSTEM, found '{speaker}'.", "speaker")
    text = turn.text("utterance")
    slots: dict[str, list[str]] = {}
    intents: list[str] = []
    framed: list[dict[str, str]] = []
    for frame in turn.each("frames"):
        service = frame.get("service", str, "")
        framed += [_act(each, service) for each in frame.get("actions", list, [])]
        for span in frame.get("slots", list, []):
            if isinstance(span, dict) and isinstance(start := span.get("start"), int):
                slots.setdefault(str(span.get("slot")), []).append(text[start : span.get("exclusive_end")])
        intent = frame.get("state", dict, {}).get("active_intent")
        if intent and intent != "NONE":
            intents.append(str(intent))
        if options.tools:
            yield from _tools(frame)
    yield Utterance(
        _SPEAKERS[speaker], text.strip(), annotations=present(acts=acts or framed, intents=intents, slots=slots)
    )


def _act(found: Mapping[str, Any], service: str) -> dict[str, str]:
    values = found.get("values") or [""]
    return act(str(found.get("act", "")), service, str(found.get("slot", "")), values[0])


def _tools(frame: Record) -> Iterator[Utterance]:
    call = frame.get("service_call", dict)
    if call is None:
        return
    method = str(call.get("method", ""))
    if not method:
        raise frame.invalid("expected the name of a method.", "service_call.method")
    yield tool_call(method, call.get("parameters") or {})
    yield tool_result(method, [each.object() for each in frame.each("service_results")])
