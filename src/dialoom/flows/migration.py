"""A session that began on another version of a flow: it continues where it can, by a stated rule, and says so.

1. A frame whose flow and node still exist stays where it is.
2. A node of the flow that was renamed under `moved:` goes to its new name; any other node that is gone, to the start
   of its flow, which then asks again.
3. A sub-flow that is gone is left, with everything above it on the stack; what it interrupted asks again. A waiting
   request for it is dropped.
4. A slot that is gone is dropped; a value that its slot no longer takes is emptied.
"""

from __future__ import annotations

from typing import Any

from dialoom.errors import UnknownName
from dialoom.flows.flow import Flow, Graph
from dialoom.flows.nodes import PromptNode
from dialoom.flows.slots import Slot, checked
from dialoom.flows.state import Event, Frame, State


def migrate(flow: Flow, state: State, fingerprint: str) -> tuple[State, tuple[Event, ...]]:
    """The state as the present version of the flow continues it, and the event that says what was changed."""
    if state.fingerprint == fingerprint:
        return state, ()
    new, notes = state.model_copy(deep=True), list[str]()
    if new.stack and new.stack[0].flow != flow.flow:
        notes.append(f"the flow {new.stack[0].flow} is now {flow.flow}")
        new.stack[0].flow = flow.flow
    new.flow, new.fingerprint = flow.flow, fingerprint
    new.stack = _stack(flow, new.stack, notes)
    new.memory = _memory(flow.slots, new.memory, notes)
    waiting = [item for item in new.queue if _graph(flow, item.flow) is not None]
    if len(waiting) < len(new.queue):
        notes.append("a waiting request was dropped, because its sub-flow is gone")
        new.queue = waiting
    new.done = []
    event = Event(
        offset=new.events, kind="migrated", data={"from": state.fingerprint, "to": fingerprint, "notes": notes}
    )
    new.events += 1
    return new, (event,)


def _graph(flow: Flow, name: str) -> Graph | None:
    try:
        return flow.graph(name)
    except UnknownName:
        return None


def _stack(flow: Flow, frames: list[Frame], notes: list[str]) -> list[Frame]:
    kept: list[Frame] = []
    for frame in frames:
        graph = _graph(flow, frame.flow)
        if graph is None:
            notes.append(f"the sub-flow {frame.flow} is gone; what it interrupted continues")
            break
        _place(flow, graph, frame, notes)
        node = graph.nodes[frame.node]
        declared = {} if graph is flow else graph.slots
        facts = {name: value for name, value in frame.memory.items() if frame.repair and name not in declared}
        frame.memory = {**facts, **_memory(declared, {k: v for k, v in frame.memory.items() if k not in facts}, notes)}
        frame.local = _memory(node.slots if isinstance(node, PromptNode) else {}, frame.local, notes)
        frame.visits = {name: count for name, count in frame.visits.items() if name in graph.nodes}
        kept.append(frame)
    if not kept:
        kept = [Frame(flow=flow.flow, node=flow.start)]
    if len(kept) < len(frames):
        kept[-1].arrived = False
    return kept


def _place(flow: Flow, graph: Graph, frame: Frame, notes: list[str]) -> None:
    if frame.node not in graph.nodes:
        moved = flow.moved.get(frame.node, "") if graph is flow else ""
        new = moved if moved in graph.nodes else graph.start
        notes.append(f"the node {frame.flow}.{frame.node} is gone; the session continues at {new}")
        frame.node, frame.arrived, frame.entry, frame.turns, frame.attempts = new, False, True, 0, 0
    if frame.waited_at not in graph.nodes:
        frame.waited_at = ""
    if frame.recheck not in graph.nodes:
        frame.recheck = ""


def _memory(slots: dict[str, Slot], memory: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in memory.items():
        if name not in slots:
            notes.append(f"the slot {name} is gone")
            continue
        try:
            kept[name] = checked(slots[name], value)
        except ValueError as error:
            notes.append(f"the slot {name} was emptied: {error if not slots[name].secret else 'its value is refused'}")
    return kept
