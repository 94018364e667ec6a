"""Asking the model at a prompt node: prompt, output schema, validation, constraints, retries with their messages."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jsonschema
from pydantic import ValidationError

from dialoom.errors import CallError, DialoomError, InvalidOutput, UnknownName
from dialoom.flows.calling import invoke
from dialoom.flows.constraints import Violation
from dialoom.flows.expressions import TemplateFailed, render
from dialoom.flows.judging import judge_turn, snapshot, undo
from dialoom.flows.nodes import PromptNode
from dialoom.flows.recognise import Hearing, recognise
from dialoom.flows.slots import empty, json_schema
from dialoom.flows.stack import start_flow, start_repair
from dialoom.flows.state import QUEUE, Queued
from dialoom.flows.work import HIDDEN, SlotRefused, Work
from dialoom.models.base import Constraint, LanguageModel, Message, Request, Sampling

UTTERANCE, NEXT, MEMORY, INTERRUPT, ALSO = "ASSISTANT_UTTERANCE", "NEXT_NODE", "MEMORY", "INTERRUPT", "ALSO"
INTERRUPTIONS = ("cancellation", "clarification", "chitchat", "cannot_handle", "hand_off")
MAX_UTTERANCE = 1000

_FENCE = re.compile(r"^\s*```(?:json)?\s*(.*?)\s*```\s*$", re.DOTALL)


class Rejected(Exception):
    """An output that cannot be used, with messages for the next attempt."""

    def __init__(self, *messages: str) -> None:
        super().__init__("; ".join(messages))
        self.messages = messages


@dataclass(frozen=True, slots=True)
class Consulted:
    """What came of asking: an accepted move (`target`), an interruption that was started, or neither."""

    target: str | None = None
    interrupted: bool = False


def output_schema(work: Work, node: PromptNode, name: str, known: Sequence[str] = ()) -> dict[str, Any]:
    """The JSON Schema of the node's output: the utterance, the next node among the declared ones, and memory.

    Slots that are `known` from this message, or frozen and filled, are not the model's to give.
    """
    declared, memory_now = work.declared(), work.memory()
    fixed = [slot for slot in node.writable if declared[slot].frozen and not empty(memory_now.get(slot))]
    fixed += known
    memory = {slot: json_schema(declared[slot]) for slot in node.writable if slot not in fixed}
    properties: dict[str, Any] = {
        UTTERANCE: {"type": "string", "minLength": 1, "maxLength": MAX_UTTERANCE},
        NEXT: {"enum": list(dict.fromkeys([*node.successors, name]))},
    }
    required = [UTTERANCE, NEXT]
    if memory:
        properties[MEMORY] = {"type": "object", "properties": memory, "additionalProperties": False}
    if isinstance(node.output, str):
        model = work.ports.app.outputs.get(node.output)
        if model is None:
            raise UnknownName("output model", node.output, work.ports.app.outputs)
        schema = model.model_json_schema()
        properties |= schema.get("properties", {})
        required += schema.get("required", [])
    else:
        schema = {}
        properties |= node.output
        required += list(node.output)
    elsewhere = list(dict.fromkeys(work.flow.startable().values()))
    repairs = [item for item in INTERRUPTIONS if work.flow.repair_for(item, work.graph, node)]
    if not work.frame.repair:
        if elsewhere or repairs:
            properties[INTERRUPT] = {"enum": [None, *repairs, *elsewhere]}
        if elsewhere:
            properties[ALSO] = {"type": "array", "items": {"enum": elsewhere}, "maxItems": QUEUE}
    result = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {**result, "$defs": schema["$defs"]} if "$defs" in schema else result


async def consult(work: Work, node: PromptNode, known: Sequence[str] = ()) -> Consulted | None:
    """Ask the model until an output stands, at most `retries` further times. None when it gave nothing usable.

    `known` are the slots that recognisers have filled from this message: the model is asked for the others only.
    """
    model = work.ports.model
    if model is None:
        return None
    try:
        values = {**_spoken(work), **await _context(work, node)}
        schema = output_schema(work, node, work.frame.node, known)
    except (CallError, UnknownName) as error:
        work.record("function_failed", "context", error=str(error), node=work.frame.node)
        return None
    messages: tuple[str, ...] = ()
    retries = node.retries if node.retries is not None else work.flow.retries
    for attempt in range(retries + 1):
        try:
            request = _request(work, node, model, schema, {**values, "ADDITIONAL_ERROR_MESSAGES": "\n".join(messages)})
            answer = await _generate(work, node, model, request, {"attempt": attempt + 1, "known": list(known)})
            return await _accept(work, node, _parsed(answer, schema))
        except Rejected as error:
            messages = error.messages
            work.record("output_rejected", "model", node=work.frame.node, messages=list(messages), attempt=attempt + 1)
        except TemplateFailed as error:
            work.record("template_failed", "prompt", error=str(error), node=work.frame.node)
            return None
        except _NoAnswer:
            return None
    return None


def sketch(schema: dict[str, Any]) -> str:
    """A JSON Schema as a short type that models read well: `{"NEXT_NODE": "a" | "b", "MEMORY"?: {...}}`."""
    if "enum" in schema:
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"])
    if "properties" in schema:
        needed = schema.get("required", ())
        parts = [
            f"{json.dumps(name)}{'' if name in needed else '?'}: {sketch(part)}"
            for name, part in schema["properties"].items()
        ]
        return "{" + ", ".join(parts) + "}"
    kinds = schema.get("type", "value")
    named = " | ".join(kinds) if isinstance(kinds, list) else str(kinds)
    if "array" in named and isinstance(schema.get("items"), dict):
        named = named.replace("array", f"[{sketch(schema['items'])}, ...]")
    told = schema.get("description", "")
    return f"{named} ({told})" if told else named


class _NoAnswer(Exception):
    """The model could not be reached or gave no answer in time; it was recorded."""


def _spoken(work: Work) -> dict[str, Any]:
    """What templates see, without the secret words that a recogniser has read from this message."""
    values = work.values()
    return values | {name: _without_secrets(work, values[name]) for name in ("text", "LAST_USER_UTTERANCE")}


def _without_secrets(work: Work, text: str) -> str:
    for secret in filter(None, work.secrets):
        text = text.replace(secret, HIDDEN)
    return text


async def _context(work: Work, node: PromptNode) -> dict[str, Any]:
    values = {}
    for name, function in node.context.items():
        values[name] = await invoke(work, function, {}, node.timeout)
        work.record("function_called", "context", function=function, arguments={}, result=values[name])
    return values


def _request(
    work: Work, node: PromptNode, model: LanguageModel, schema: dict[str, Any], values: dict[str, Any]
) -> Request:
    prompt = render(node.prompt, values)
    problems = values["ADDITIONAL_ERROR_MESSAGES"]
    if problems and "ADDITIONAL_ERROR_MESSAGES" not in node.prompt:
        prompt = f"{prompt}\n\nYour last answer was refused: {problems}"
    constrained = "json_schema" in model.capabilities.constraints
    if not constrained:
        prompt = f"{prompt}\n\nAnswer with one JSON object of this form and nothing else:\n{sketch(schema)}"
    messages = [Message("system", prompt)]
    if work.text:
        messages.append(Message("user", values["text"]))
    return Request(
        messages=tuple(messages),
        sampling=Sampling(max_tokens=node.max_tokens),
        constraint=Constraint("json_schema", schema) if constrained else None,
        timeout=node.timeout,
    )


async def _generate(work: Work, node: PromptNode, model: LanguageModel, request: Request, asked: dict[str, Any]) -> str:
    facts = {"node": work.frame.node, "model": model.name, **asked}
    try:
        completion = await asyncio.wait_for(model.generate(request), node.timeout)
    except InvalidOutput as error:
        work.record("model_called", "prompt", **facts, output=error.text)
        raise Rejected(error.problem) from error
    except TimeoutError as error:
        work.record("model_failed", "prompt", **facts, error=f"no answer within {node.timeout:g} s")
        raise _NoAnswer from error
    except DialoomError as error:
        work.record("model_failed", "prompt", **facts, error=f"{type(error).__name__}: {error}")
        raise _NoAnswer from error
    except Exception as error:
        work.record("model_failed", "prompt", **facts, error=f"{type(error).__name__}: {error}")
        raise _NoAnswer from error
    usage = {"prompt_tokens": completion.usage.prompt_tokens, "completion_tokens": completion.usage.completion_tokens}
    work.record("model_called", "prompt", **facts, output=completion.text, **usage)
    return completion.text


def _parsed(text: str, schema: dict[str, Any]) -> dict[str, Any]:
    """The output as data of the schema; checked here whatever the model was asked to obey. Raises `Rejected`."""
    fenced = _FENCE.match(text)
    try:
        data = json.loads(fenced.group(1) if fenced else text)
    except (ValueError, RecursionError):
        raise Rejected("The answer was not one JSON object.") from None
    problems = []
    for error in jsonschema.Draft202012Validator(schema).iter_errors(data):
        where = ".".join(str(part) for part in error.absolute_path)
        problems.append(f"{where}: {error.message}" if where else error.message)
    if problems:
        raise Rejected(*sorted(problems)[:5])
    return data  # type: ignore[no-any-return]


async def _accept(work: Work, node: PromptNode, data: dict[str, Any]) -> Consulted:
    interrupt = data.get(INTERRUPT)
    if interrupt is not None:
        work.hearing = None
        if interrupt in INTERRUPTIONS:
            return Consulted(interrupted=start_repair(work, interrupt, "the model heard it"))
        work.hearing = _whole(work)
        start_flow(work, interrupt, "digression")
        return Consulted(interrupted=True)
    before, target = snapshot(work), str(data[NEXT])
    try:
        _checked_by_recognisers(work, node, data.get(MEMORY) or {})
        for name, value in (data.get(MEMORY) or {}).items():
            if value is not None:
                work.set(name, value, "model")
    except SlotRefused as error:
        undo(work, before)
        raise Rejected(str(error)) from error
    known = {UTTERANCE, NEXT, MEMORY, INTERRUPT, ALSO}
    work.output = {name: value for name, value in data.items() if name not in known}
    if isinstance(node.output, str):
        try:
            work.ports.app.outputs[node.output].model_validate(work.output)
        except ValidationError as error:
            undo(work, before)
            raise Rejected(*(item["msg"] for item in error.errors(include_url=False)[:5])) from error
    violations: list[Violation] = await judge_turn(work, node, before, data[UTTERANCE], target)
    if violations:
        undo(work, before)
        raise Rejected(*(violation.message for violation in violations))
    work.say(data[UTTERANCE], "model")
    work.model_spoke = True
    waiting = {event.data["flow"] for event in work.events if event.kind == "request_queued"}
    for name in data.get(ALSO) or []:
        if name not in waiting:  # recognisers have heard the same request in this message
            queue(work, name, work.text, max(1, len(work.state.stack) - 1))
    work.state.misses = 0
    return Consulted(target=target)


def queue(work: Work, flow: str, text: str, level: int) -> None:
    """Let a further request wait until at most `level` flows are on the stack."""
    if len(work.state.queue) < QUEUE:
        work.state.queue = [*work.state.queue, Queued(flow=flow, text=text, level=level)]
        work.record("request_queued", "also", flow=flow, text=text)


def _whole(work: Work) -> Hearing:
    return Hearing(work.text, work.now, work.flow.language, work.memory(), work.recognisers())


def _checked_by_recognisers(work: Work, node: PromptNode, memory: dict[str, Any]) -> None:
    """Where recognisers follow the model, its values must not contradict what they clearly read."""
    if work.flow.order(node) != ("model", "recognisers"):
        return
    declared = work.declared()
    for name, value in memory.items():
        match = recognise(name, declared[name], _whole(work)) if value is not None else None
        if match is not None and not match.rivals:
            try:
                read = work.allowed(name, match.value)
            except SlotRefused:
                continue
            if read != work.allowed(name, value):
                raise SlotRefused(f"{name}: the user said {read!r}, not {value!r}.")
