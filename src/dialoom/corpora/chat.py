"""Chat JSON in the OpenAI messages shape: one conversation, a list of them, or one a line; tool calls as rounds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dialoom.corpora.annotations import present, tool_call, tool_result
from dialoom.corpora.base import Document, ReadOptions
from dialoom.corpora.records import MAX_RECORD, Record, json_head, json_items, json_lines, parsed
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidRecord

_IDS = ("id", "conversation_id", "session_id", "thread_id")
_SPEAKERS = {"user": Role.USER, "assistant": Role.SYSTEM}


class ChatReader:
    """{"messages": [{"role", "content", "tool_calls"}]}, or a bare list of messages.

    `system` and `developer` messages become `metadata["prompt"]`. The id is the conversation's id, conversation_id,
    session_id or thread_id; else `FILE#N` (`FILE` when the file is one conversation).
    """

    name = "chat"
    description = "Chat JSON/JSONL in the OpenAI messages shape (role, content, tool_calls)"

    def sniff(self, head: bytes) -> bool:
        """Messages with `role` and `content`."""
        return json_head(head, "role", "content")

    def read(self, document: Document, options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        """Conversations as they come."""
        yield from parsed(_conversations(document), lambda record: _dialogue(record, document.label, options))


def _conversations(document: Document) -> Iterator[Record | InvalidRecord]:
    """Records whose value is one conversation; the place tells which."""
    with document.open() as stream:
        line = stream.readline(MAX_RECORD).lstrip(b"\xef\xbb\xbf \t")
    if line.startswith(b"{"):
        single = _loaded(line.decode("utf-8", "replace"))
        yield from json_lines(document) if isinstance(single, dict) else _whole(document)
        return
    messages: list[Any] = []
    for item in json_items(document):
        if isinstance(item, InvalidRecord) or (isinstance(item.value, dict) and "messages" in item.value):
            yield item
        elif isinstance(item.value, dict) and "role" in item.value:
            messages.append(item.value)
        else:
            yield Record(
                item.file, item.place, {"messages": item.value} if isinstance(item.value, list) else item.value
            )
    if messages:
        yield Record(document.name, "the conversation", {"messages": messages})


def _whole(document: Document) -> Iterator[Record | InvalidRecord]:
    members: dict[str, Any] = {}
    for item in json_items(document):
        if isinstance(item, InvalidRecord):
            yield item
            return
        members[item.place[5:-1]] = item.value
    yield Record(document.name, "the conversation", members)


def _dialogue(record: Record, label: str, options: ReadOptions) -> Dialogue:
    place = record.place.rpartition(" ")[2]
    position = f"#{place}" if place.isdigit() else ""
    name = next((record.identity(key) for key in _IDS if record.object().get(key) is not None), label + position)
    utterances: list[Utterance] = []
    prompts: list[str] = []
    calls: dict[str, str] = {}
    for message in record.each("messages"):
        role, text = message.text("role"), _content(message)
        if role in ("system", "developer"):
            prompts.append(text)
            continue
        called = list(_calls(message, calls))
        if role in _SPEAKERS:
            if text.strip() or not called:
                utterances.append(Utterance(_SPEAKERS[role], text))
        elif role not in ("tool", "function"):
            raise message.invalid(f"expected user, assistant, system, developer or tool, found '{role}'.", "role")
        elif options.tools:
            utterances.append(_result(message, text, calls))
        if options.tools:
            utterances += called
    extra = {key: value for key, value in record.object().items() if key not in ("messages", "tools", *_IDS)}
    return Dialogue(name, tuple(utterances), present(prompt="\n".join(prompts), **extra))


def _content(message: Record) -> str:
    """The text of a message: a string, or its parts of type text; "" when it only calls tools."""
    content = message.object().get("content")
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise message.invalid("expected text or a list of parts.", "content")
    parts = [part.value.get("text", "") for part in message.each("content") if isinstance(part.value, dict)]
    return " ".join(part for part in parts if isinstance(part, str) and part)


def _calls(message: Record, calls: dict[str, str]) -> Iterator[Utterance]:
    old = message.get("function_call", dict)
    for call in [*message.get("tool_calls", list, []), *([{"function": old}] if old else [])]:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise message.invalid("expected calls with a function name.", "tool_calls")
        calls[str(call.get("id"))] = function["name"]
        yield tool_call(function["name"], _object(function.get("arguments")) or {})


def _result(message: Record, text: str, calls: Mapping[str, str]) -> Utterance:
    tool = message.get("name", str) or calls.get(str(message.object().get("tool_call_id"))) or "tool"
    found = _loaded(text)
    items = found if isinstance(found, list) else [found] if isinstance(found, dict) else None
    if items is not None and all(isinstance(item, dict) for item in items):
        return tool_result(tool, items)
    return tool_result(tool, [], count=1 if text.strip() else 0, outcome=text.strip()[:80])


def _object(arguments: object) -> dict[str, Any] | None:
    found = _loaded(arguments) if isinstance(arguments, str) else arguments
    return found if isinstance(found, dict) else None


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
