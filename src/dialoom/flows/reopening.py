"""A correction of what is already done: which ended sub-flow is meant, and opening it again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from dialoom.flows.nodes import PromptNode
from dialoom.flows.recognise import Hearing, recognise
from dialoom.flows.slots import ByText, ByYesNo, Slot, empty
from dialoom.flows.stack import pass_again, start_flow
from dialoom.flows.state import Done
from dialoom.flows.work import HIDDEN, Work


def meant(work: Work, hearing: Hearing, about: Collection[str] = ()) -> Done | None:
    """The last sub-flow that ended with another value for one of its slots; of those the message is `about`, if any."""
    for done in reversed(work.state.done):
        held = {**done.after, **done.memory}
        if (not about or done.flow in about) and other_value(work, done.flow, held, hearing):
            return done
    return None


def other_value(work: Work, flow: str, held: Mapping[str, Any], hearing: Hearing, *, filled: bool = False) -> bool:
    """Whether a message holds another value than `held` for a slot of a flow (with `filled`, one that is not empty)."""
    for name, slot in _slots(work, flow).items():
        value = held.get(name, slot.default)
        match = None if filled and empty(value) else recognise(name, slot, hearing)
        if match is not None and not match.rivals and match.value != value:
            return True
    return False


def hears(work: Work, node: PromptNode, hearing: Hearing) -> bool:
    """Whether a value for a slot of the present node is in the message: then nothing that is done is meant."""
    declared = work.declared()
    return any(
        recognise(name, declared[name], hearing) is not None for name in node.writable if readable(declared[name])
    )


def reopenable(work: Work, done: Done) -> bool:
    """Whether doing it again is true to what happened: since it began no function was called but those that only
    read, and what it left in memory can be told from what came later.
    """
    return done.repeatable and work.state.calls == done.calls and _taken_back(work, done) is not None


def reopen(work: Work, done: Done) -> None:
    """Put a sub-flow that ended back on the stack, as it was when it last listened, and take back what it changed."""
    before = _taken_back(work, done) or {}
    work.state.done = [item for item in work.state.done if item is not done]
    asked = {name: done.after[name] for name in _slots(work, done.flow) if name in done.after}
    old, work.state.memory = work.state.memory, {**before, **asked}
    for name in old:
        new = work.state.memory.get(name)
        if old[name] != new:
            shown = HIDDEN if work.flow.slots[name].secret and not empty(new) else new
            work.record("slot_changed", "reopened", slot=name, new=shown, node=work.frame.node, flow=work.frame.flow)
    pass_again(work, old)
    work.frame.arrived, work.model_spoke = True, False
    start_flow(work, done.flow, "digression", memory=done.memory)
    frame = work.frame
    frame.before, frame.into, frame.visits = before, done.into, dict(done.visits)
    frame.node = frame.waited_at = done.node
    work.record("node_entered", "reopened", node=done.node, flow=done.flow)


def _taken_back(work: Work, done: Done) -> dict[str, Any] | None:
    """Memory without what a sub-flow changed, or None where later changes are built upon that.

    What was appended to a list can be taken out of it again, though more was appended since.
    """
    now = dict(work.state.memory)
    for name in {*done.before, *done.after}:
        before, after = done.before.get(name), done.after.get(name)
        if before == after:
            continue
        if now.get(name) == after:
            now[name] = before
        elif isinstance(after, list) and _begins(after, before) and _begins(now.get(name), after):
            now[name] = [*(before or []), *now[name][len(after) :]]
        else:
            return None
        if now[name] is None and name not in done.before:
            del now[name]
    return now


def _begins(whole: Any, part: Any) -> bool:
    return isinstance(whole, list) and isinstance(part or [], list) and whole[: len(part or [])] == (part or [])


def readable(slot: Slot) -> bool:
    """Whether a value for the slot can be told from other words of a message."""
    by = slot.recogniser or (slot.items.recogniser if slot.items else None)
    return not isinstance(by, ByYesNo | ByText | None)


def _slots(work: Work, flow: str) -> dict[str, Slot]:
    graph = work.flow.graph(flow)
    declared = {**work.flow.slots, **graph.slots}
    names = [name for node in graph.nodes.values() if isinstance(node, PromptNode) for name in node.writable]
    return {name: declared[name] for name in names if name in declared and readable(declared[name])}
