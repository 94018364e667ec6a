"""STAR (Mosig, Mehri & Kober 2020): one JSON object a file, a log of events of user, wizard and knowledge base."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dialoom.corpora.annotations import present, tool_call, tool_result
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import Record, json_head, json_items, parsed
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord

_SPOKEN = {("User", "utter"): Role.USER, ("Wizard", "utter"): Role.SYSTEM, ("Wizard", "pick_suggestion"): Role.SYSTEM}


class StarReader:
    """What is said, and the knowledge base's queries and returns.

    `Utterance.action` is the label of a picked suggestion, and "query" on a wizard's query (a tool round). Metadata:
    domains, tasks, happy, multi_task, completion. Left out: instructions to the user, requests for suggestions and
    selections, which nobody in the conversation sees.
    """

    name = "star"
    description = "STAR: dialogues/ID.json with events of user, wizard and knowledge base"

    def sniff(self, head: bytes) -> bool:
        """An object with `DialogueID` and `Events`."""
        return json_head(head, "DialogueID", "Events")

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """One dialogue a file."""
        whole: dict[str, Any] = {}
        for item in json_items(document):
            if isinstance(item, InvalidRecord):
                yield item
                return
            whole[item.place[5:-1]] = item.value
        place = f"dialogue {whole.get('DialogueID', document.label)}"
        yield from parsed(iter([Record(document.name, place, whole)]), lambda record: _dialogue(record, options))


def _dialogue(record: Record, options: ReadOptions) -> Dialogue:
    utterances = [u for event in record.each("Events") if (u := _utterance(event, options)) is not None]
    scenario = Record(record.file, record.place, record.get("Scenario", dict, {}), "Scenario")
    metadata = present(
        domains=scenario.get("Domains", list),
        tasks=[each.text("Task") for each in scenario.each("WizardCapabilities")],
        happy=scenario.get("Happy", bool),
        multi_task=scenario.get("MultiTask", bool),
        completion=record.get("CompletionLevel", str),
    )
    return Dialogue(record.identity("DialogueID"), tuple(utterances), metadata)


def _utterance(event: Record, options: ReadOptions) -> Utterance | None:
    kind = (event.text("Agent"), event.text("Action"))
    if kind in _SPOKEN:
        label = event.text("ActionLabel") if kind[1] == "pick_suggestion" else None
        return Utterance(_SPOKEN[kind], event.text("Text").strip(), action=label)
    if not options.tools:
        return None
    if kind == ("Wizard", "query"):
        arguments = {k: _plain(v) for each in event.each("Constraints") for k, v in each.object().items()}
        return tool_call(event.text("APIName"), arguments, action="query")
    if kind == ("KnowledgeBase", "return_item"):
        item = {k: v for k, v in event.get("Item", dict, {}).items() if k != "APIName"}
        total = event.get("TotalItems", int, -1)
        count = total if total >= 0 else int(bool(item))  # -1 is "not said"
        return tool_result(event.text("APIName"), [item] if item else [], count=count)
    return None


def _plain(constraint: object) -> str:
    """A constraint's value without its quotes: `"7 pm"` is 7 pm; a function such as api.is_equal_to("Yes") stays."""
    text = str(constraint)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
