"""A correction of what is already done: which ended sub-flow is meant, and opening it again."""

from __future__ import annotations

from typing import Any

from dialoom.flows.nodes import PromptNode
from dialoom.flows.recognise import Hearing, recognise
from dialoom.flows.slots import ByText, ByYesNo, Slot
from dialoom.flows.stack import start_flow
from dialoom.flows.state import Done
from dialoom.flows.work import Work


def meant(work: Work, hearing: Hearing) -> Done | None:
    """The last sub-flow that ended with another value for a slot of which the message holds a value."""
    for done in reversed(work.state.done):
        held = {**done.after, **done.memory}
        for name, slot in _slots(work, done).items():
            match = recognise(name, slot, hearing)
            if match is not None and not match.rivals and match.value != held.get(name, slot.default):
                return done
    return None


def hears(work: Work, node: PromptNode, hearing: Hearing) -> bool:
    """Whether a value for a slot of the present node is in the message: then nothing that is done is meant."""
    declared = work.declared()
    return any(
        recognise(name, declared[name], hearing) is not None for name in node.writable if readable(declared[name])
    )


def reopen(work: Work, done: Done) -> bool:
    """Put a sub-flow that ended back on the stack, as it was when it last listened, and take back what it changed.

    Returns False where that would not be true to what happened: a function was called, or memory changed, since.
    """
    unchanged = work.state.memory == done.after and work.state.calls == done.calls
    if not done.repeatable or not unchanged:
        return False
    work.state.done = [item for item in work.state.done if item is not done]
    asked = {name: done.after[name] for name in _slots(work, done) if name in done.after}
    taken_back: dict[str, Any] = {**done.before, **asked}
    for name, old in work.state.memory.items():
        if taken_back.get(name) != old:
            work.record("slot_changed", "reopened", slot=name, new=taken_back.get(name), node=work.frame.node)
    work.frame.arrived, work.model_spoke = True, False
    start_flow(work, done.flow, "digression", memory=done.memory)
    work.state.memory, work.frame.before = taken_back, done.before
    work.frame.node = work.frame.waited_at = done.node
    work.record("node_entered", "reopened", node=done.node, flow=done.flow)
    return True


def readable(slot: Slot) -> bool:
    """Whether a value for the slot can be told from other words of a message."""
    by = slot.recogniser or (slot.items.recogniser if slot.items else None)
    return not isinstance(by, ByYesNo | ByText | None)


def _slots(work: Work, done: Done) -> dict[str, Slot]:
    graph = work.flow.graph(done.flow)
    declared = {**work.flow.slots, **graph.slots}
    names = [name for node in graph.nodes.values() if isinstance(node, PromptNode) for name in node.writable]
    return {name: declared[name] for name in names if name in declared and readable(declared[name])}
