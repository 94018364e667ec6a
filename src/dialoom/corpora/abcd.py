"""ABCD (Chen et al. 2021): conversations with the agent's actions between the turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dialoom.corpora.annotations import present, tool_call
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_items, parsed
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord

_SPEAKERS = {"agent": Role.SYSTEM, "customer": Role.USER}


class AbcdReader:
    """The original turns (`original`), actions as tool rounds named by their button (`delexed[].targets`).

    A button pressed is also the gold `action` of its round. Metadata: flow, subflow, split, scenario.
    """

    name = "abcd"
    description = "ABCD: a list of conversations, or an object of split to such a list"

    def sniff(self, head: bytes) -> bool:
        """Conversations with `convo_id` and `original`."""
        return json_head(head, "convo_id", "original")

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Conversations of every split in the file."""
        for item in json_items(document):
            if isinstance(item, Record) and isinstance(item.value, list):
                split = item.place[5:-1]
                inner = (Record(item.file, f"{split}[{n}]", value) for n, value in enumerate(item.value))
                yield from parsed(inner, lambda record, split=split: _dialogue(record, options, split))  # type: ignore[misc]
            else:
                yield from parsed(iter([item]), lambda record: _dialogue(record, options, ""))


def _dialogue(record: Record, options: ReadOptions, split: str) -> Dialogue:
    labels = record.get("delexed", list, [])
    utterances = []
    for number, turn in enumerate(record.each("original")):
        if not isinstance(turn.value, list) or len(turn.value) != 2 or not all(isinstance(v, str) for v in turn.value):
            raise turn.invalid("expected [speaker, text].")
        speaker, text = turn.value
        targets = labels[number].get("targets") if number < len(labels) and isinstance(labels[number], dict) else None
        if speaker in _SPEAKERS:
            utterances.append(Utterance(_SPEAKERS[speaker], text, annotations=_intent(targets)))
        elif speaker != "action":
            raise turn.invalid(f"expected agent, customer or action, found '{speaker}'.", "0")
        elif options.tools:
            button = str(_at(targets, 2) or "action")
            arguments = {"values": values} if (values := _at(targets, 3)) else {}
            utterances.append(tool_call(button, arguments, action=button, text=text))
    scenario = record.get("scenario", dict, {})
    metadata = present(
        flow=scenario.get("flow"), subflow=scenario.get("subflow"), split=split, scenario=_scenario(scenario)
    )
    return Dialogue(record.identity("convo_id"), tuple(utterances), metadata)


def _scenario(scenario: dict[str, Any]) -> dict[str, Any]:
    return {key: scenario[key] for key in ("personal", "order", "product") if key in scenario}


def _intent(targets: object) -> dict[str, Any]:
    intent = _at(targets, 0)
    return {"intents": [str(intent)]} if intent else {}


def _at(targets: object, index: int) -> Any:
    return targets[index] if isinstance(targets, Sequence) and len(targets) > index else None
