"""Moving through a flow: entering nodes, starting and ending flows on the stack, and what follows an end."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from dialoom.errors import InvalidFlow
from dialoom.flows.expressions import fill
from dialoom.flows.flow import Graph
from dialoom.flows.nodes import (
    CANCEL,
    CLOSE,
    END,
    HAND_OFF,
    HAND_OVER,
    RESERVED,
    RESTART,
    STAY,
    PromptNode,
    SubflowNode,
)
from dialoom.flows.recognise import Hearing
from dialoom.flows.state import DEPTH, DONE, Cause, Done, Frame, Status
from dialoom.flows.work import SlotRefused, Work


def go(work: Work, target: str, cause: str) -> None:
    """Follow a transition: to a node of this flow, or to what a reserved target stands for."""
    frame = work.frame
    if target not in RESERVED:
        enter(work, target, cause)
    elif target == STAY:
        stay = frame.waited_at or frame.node
        if stay != frame.node:
            enter(work, stay, cause)
    elif target == HAND_OFF:
        if not start_repair(work, "hand_off", cause):
            _finish(work, "handed_over", cause)
    elif target == HAND_OVER:
        _finish(work, "handed_over", cause)
    elif target == CLOSE:
        _finish(work, "closed", cause)
    elif target == RESTART:
        _restart(work, cause)
    elif target == CANCEL:
        _cancel(work, cause)
    elif target == END:
        _end(work, cause)


def enter(work: Work, name: str, cause: str) -> None:
    """Make `name` the present node of the flow that has the word."""
    frame = work.frame
    if name != frame.node:
        frame.local = {}
        frame.turns = 0
    frame.node, frame.arrived, frame.entry, frame.attempts, frame.recheck = name, False, True, 0, ""
    frame.visits[name] = frame.visits.get(name, 0) + 1
    work.record("node_entered", cause, node=name, flow=frame.flow)


def start_flow(
    work: Work, name: str, cause: Cause, *, repair: str = "", memory: Mapping[str, Any] | None = None
) -> None:
    """Put a flow on the stack; what it interrupts waits below it. Raises `InvalidFlow` when flows nest without end."""
    if len(work.state.stack) >= DEPTH:
        raise InvalidFlow(
            f"More than {DEPTH} flows are inside each other.", hint="Look for a sub-flow that calls itself."
        )
    graph = work.flow.graph(name)
    work.model_spoke = work.model_spoke and cause == "call"  # a called flow goes on where the model left off
    frame = Frame(flow=name, node=graph.start, cause=cause, repair=repair, memory=dict(memory or {}))
    frame.before, frame.calls = copy.deepcopy(work.state.memory), work.state.calls
    work.state.stack.append(frame)
    if repair:
        work.record("repair_started", repair, repair=repair, flow=name)
    work.record("flow_started", cause, flow=name)
    work.record("node_entered", cause, node=graph.start, flow=name)


def start_repair(work: Work, repair: str, cause: str, **memory: Any) -> bool:
    """Start a named repair at the present node; returns False where the author has switched it off."""
    node = work.graph.nodes.get(work.frame.node)
    name = work.flow.repair_for(repair, work.graph, node if isinstance(node, PromptNode) else None)
    if name is None:
        return False
    help_text = node.help if isinstance(node, PromptNode) else ""
    facts = {"title": title(work.graph, work.frame.flow), "help": help_text, "misses": work.state.misses, "why": cause}
    start_flow(work, name, "repair", repair=repair, memory={**facts, **memory})
    return True


def title(graph: Graph, name: str) -> str:
    """What the user is told a flow is about."""
    return graph.title or name.replace("_", " ")


def serve(work: Work) -> bool:
    """Start the next waiting request whose time has come, before asking on; returns whether there was one.

    Requests that need no further word from the user are answered at once.
    """
    queue = work.state.queue
    due = [not work.flow.graph(item.flow).interactive or item.level >= len(work.state.stack) for item in queue]
    if work.frame.repair or True not in due:
        return False
    at = due.index(True)
    request = queue[at]
    work.state.queue = [*queue[:at], *queue[at + 1 :]]
    work.record("request_served", "queue", flow=request.flow, text=request.text)
    work.frame.arrived, work.model_spoke = False, False
    start_flow(work, request.flow, "queue")
    work.hearing = Hearing(request.text, work.now, work.flow.language, work.memory(), work.recognisers())
    return True


def _finish(work: Work, status: Status, cause: str) -> None:
    work.state.status = status
    work.record("handed_over" if status == "handed_over" else "closed", cause, flow=work.frame.flow)


def _restart(work: Work, cause: str) -> None:
    while work.frame.repair and len(work.state.stack) > 1:
        drop(work, cause)
    frame = work.frame
    frame.memory = {}
    if len(work.state.stack) == 1:
        forget(work)
    frame.visits, frame.calls = {}, work.state.calls
    work.state.restarts += 1
    work.record("restarted", cause, flow=frame.flow)
    enter(work, work.graph.start, cause)


def forget(work: Work) -> None:
    """Empty the flow's memory but for the slots that are kept, and the queue."""
    kept = {name for name, slot in work.flow.slots.items() if slot.keep}
    work.state.memory = {name: value for name, value in work.state.memory.items() if name in kept}
    work.state.queue, work.state.done = [], []


def _cancel(work: Work, cause: str) -> None:
    while work.frame.repair and len(work.state.stack) > 1:
        drop(work, cause)
    while len(work.state.stack) > 1:
        ended = drop(work, cause)
        caller = work.graph.nodes.get(work.frame.node)
        if ended.cause != "call":
            _resume(work, reminder=True)
            return
        if isinstance(caller, SubflowNode) and caller.on_cancel:
            go(work, caller.on_cancel, "cancelled")
            return
    _restart(work, cause)


def drop(work: Work, cause: str) -> Frame:
    """Take the topmost flow off the stack."""
    frame = work.state.stack.pop()
    work.record("flow_ended", cause, flow=frame.flow)
    return frame


def _end(work: Work, cause: str) -> None:
    frame = work.frame
    if len(work.state.stack) == 1:
        work.record("flow_ended", cause, flow=frame.flow)
        if not start_repair(work, "completion", "the flow is done"):
            _finish(work, "closed", cause)
        return
    if frame.repair == "completion":
        _finish(work, "closed", cause)
        return
    inner = work.memory()
    drop(work, cause)
    if not frame.repair:
        _remember(work, frame)
        _give(work, frame.into, inner, frame.flow)
        pass_again(work, frame.before)
    if frame.cause == "call":
        _returned(work, inner)
    elif frame.repair == "clarification" and frame.memory.get("subject"):
        _clarified(work, str(frame.memory["subject"]), inner.get("answer"))
    elif frame.repair:
        _resume(work, reminder=False)
    else:
        _resume(work, reminder=True)


def _remember(work: Work, frame: Frame) -> None:
    """Keep what a sub-flow was about, for a correction that comes after its end."""
    caller = work.graph.nodes.get(work.frame.node)
    called = frame.cause == "call" and isinstance(caller, SubflowNode)
    into = caller.into if called and isinstance(caller, SubflowNode) else frame.into
    done = Done(
        flow=frame.flow,
        node=frame.waited_at or work.flow.graph(frame.flow).start,
        memory=frame.memory,
        before=frame.before,
        after=copy.deepcopy(work.state.memory),
        repeatable=frame.calls == work.state.calls and set(into) <= set(work.flow.slots),
        calls=work.state.calls,
        into=into,
        visits=frame.visits,
    )
    work.state.done = [*work.state.done, done][-DONE:]


def _returned(work: Work, inner: Mapping[str, Any]) -> None:
    node = work.graph.nodes[work.frame.node]
    if isinstance(node, SubflowNode):
        _give(work, node.into, inner, node.subflow)
        go(work, node.go, "returned")


def _give(work: Work, into: Mapping[str, str], inner: Mapping[str, Any], flow: str) -> None:
    for outer, name in into.items():
        try:
            work.set(outer, inner.get(name), f"returned by {flow}")
        except SlotRefused as error:
            work.record(
                "constraint_violated", "into", constraint=f"slot {outer}", message=str(error), node=work.frame.node
            )


def passed(work: Work, frame: Frame, node: str) -> bool:
    """Whether a flow on the stack has such a node and has been through it."""
    graph = work.flow.graph(frame.flow)
    return node in graph.nodes and (node == graph.start or frame.visits.get(node, 0) > 0)


def pass_again(work: Work, before: Mapping[str, Any]) -> None:
    """Let flows that went through the `recheck` node of a slot go there again, if memory is no longer as `before`."""
    for name, slot in work.flow.slots.items():
        if slot.recheck and work.state.memory.get(name) != before.get(name):
            for frame in work.state.stack:
                if passed(work, frame, slot.recheck):
                    frame.recheck = slot.recheck


def _clarified(work: Work, slot: str, answer: Any) -> None:
    work.frame.arrived = False
    if answer is not None:
        try:
            work.set(slot, answer, "clarification")
        except SlotRefused as error:
            work.record("constraint_violated", "clarification", constraint=f"slot {slot}", message=str(error))


def _resume(work: Work, *, reminder: bool) -> None:
    """Give the word back to an interrupted flow; it asks again, after the reminder of the repair `digression`."""
    frame = work.frame
    waiting, frame.arrived = frame.arrived, False
    if reminder and waiting and start_repair(work, "digression", "resumed"):
        return
    if frame.recheck:
        enter(work, frame.recheck, "rechecked")


def with_arguments(work: Work, node: SubflowNode) -> None:
    """Call a sub-flow with its arguments."""
    arguments = fill(node.arguments, work.values())
    start_flow(work, node.subflow, "call")
    for name, value in arguments.items():
        try:
            work.set(name, value, "argument")
        except SlotRefused as error:
            work.record("constraint_violated", "argument", constraint=f"slot {name}", message=str(error))
