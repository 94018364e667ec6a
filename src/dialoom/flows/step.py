"""One step: flow, state and the user's words to a reply, events and the next state; applied whole or not at all."""

from __future__ import annotations

from datetime import datetime

from dialoom.errors import InvalidFlow
from dialoom.flows.calling import run_call
from dialoom.flows.expressions import TemplateFailed, evaluate, fill
from dialoom.flows.flow import Flow
from dialoom.flows.listening import arrive, listen
from dialoom.flows.nodes import AnswerNode, CallNode, DescribeNode, IfNode, PromptNode, SayNode, SetNode, SubflowNode
from dialoom.flows.stack import go, with_arguments
from dialoom.flows.state import HISTORY, Event, Frame, Said, State, Turn
from dialoom.flows.telling import answer, describe
from dialoom.flows.work import HIDDEN, Ports, SlotRefused, Work

HOPS = 200
"""Nodes one turn may pass; more is a loop without an exit."""
MAX_MESSAGE = 20_000
"""Characters of a message that are kept."""


def begin(flow: Flow, session: str) -> State:
    """The state of a new session, at the start of the flow."""
    return State(session=session, flow=flow.flow, stack=[Frame(flow=flow.flow, node=flow.start)])


async def step(
    flow: Flow, state: State, text: str | None, ports: Ports | None = None, now: datetime | None = None
) -> Turn:
    """One turn. `text` None opens the conversation before the user has said anything.

    `state` is left as it is; the turn carries the next one. Whatever fails ends in a reply, in events that say what
    happened, and in a state that still works: that of before, if the turn could not be finished.
    """
    work = Work(flow, state.model_copy(deep=True), ports or Ports(), now or datetime.now())
    if text is not None:
        _hear_user(work, text[:MAX_MESSAGE])
    try:
        await _run(work)
    except Exception as error:
        return _failed(work, state, error)
    _hide_secrets(work)
    return Turn(reply=tuple(work.reply), events=tuple(work.events), state=work.state)


def _hear_user(work: Work, text: str) -> None:
    work.text, work.fresh = text.strip(), True
    work.state.turn += 1
    work.state.history = [*work.state.history, Said(role="user", text=work.text)][-HISTORY:]
    signals = {"signals": dict(work.ports.signals)} if work.ports.signals else {}
    work.record("user_said", "user", text=work.text, now=work.now.isoformat(), **signals)


async def _run(work: Work) -> None:
    if work.state.status == "handed_over":
        work.say_template(work.flow.handed_over, "handed over")
        return
    if work.state.status == "closed":
        _reopen(work)
    for _ in range(HOPS):
        if work.state.status != "open" or await _at(work):
            break
    else:
        raise InvalidFlow(
            f"{HOPS} nodes in one turn, the last at '{work.frame.node}' of {work.frame.flow}.",
            hint="Look for a loop in which no node listens.",
        )
    if not work.reply:
        work.say_template(work.flow.fallback.say, "silence")


def _reopen(work: Work) -> None:
    kept = {name for name, slot in work.flow.slots.items() if slot.keep}
    work.state.status = "open"
    work.state.memory = {name: value for name, value in work.state.memory.items() if name in kept}
    work.state.stack = [Frame(flow=work.flow.flow, node=work.flow.start, calls=work.state.calls)]
    work.state.queue, work.state.done, work.state.misses = [], [], 0
    work.state.restarts += 1
    work.record("restarted", "closed before", flow=work.flow.flow)


async def _at(work: Work) -> bool:
    """Do the present node; returns whether the conversation now waits for the user."""
    node = work.node
    match node:
        case PromptNode():
            return await (listen(work, node) if work.fresh else arrive(work, node))
        case SayNode():
            work.model_spoke = False
            texts = [node.say] if isinstance(node.say, str) else node.say
            visit = work.frame.visits.get(work.frame.node, 0)
            work.say_template(texts[max(visit - 1, 0) % len(texts)] if texts else "", "say")
            go(work, node.go, "said")
        case SetNode():
            _set(work, node)
            go(work, node.go, "set")
        case IfNode():
            go(work, _case(work, node), "if")
        case CallNode():
            await run_call(work, node)
        case DescribeNode():
            work.model_spoke = False
            await describe(work, node)
        case AnswerNode():
            work.model_spoke = False
            await answer(work, node)
        case SubflowNode():
            with_arguments(work, node)
    return False


def _set(work: Work, node: SetNode) -> None:
    for name, value in node.set.items():
        try:
            work.set(name, fill(value, work.values()), "set")
        except TemplateFailed as error:
            work.record("template_failed", "set", error=str(error), node=work.frame.node)
        except SlotRefused as error:
            work.record(
                "constraint_violated", "set", constraint=f"slot {name}", message=str(error), node=work.frame.node
            )


def _case(work: Work, node: IfNode) -> str:
    for case in node.cases:
        try:
            if evaluate(case.when, work.values()):
                return case.go
        except TemplateFailed as error:
            work.record("template_failed", "if", error=str(error), node=work.frame.node)
    return node.otherwise


def _failed(work: Work, before: State, error: Exception) -> Turn:
    """The turn is dropped: the state of before, with the events that say so and with the calls that were made."""
    kept = before.model_copy(deep=True)
    kept.turn, kept.ledger = work.state.turn, work.state.ledger
    said = [event for event in work.events if event.kind in ("user_said", "function_called", "model_called")]
    rest = Work(work.flow, kept, work.ports, work.now, work.text)
    rest.events = [event.model_copy(update={"offset": kept.events + index}) for index, event in enumerate(said)]
    kept.events += len(said)
    rest.record("turn_failed", "error", error=f"{type(error).__name__}: {error}", node=work.frame.node)
    rest.say_template(work.flow.fallback.say or "Something went wrong.", "turn failed")
    rest.secrets = work.secrets
    _hide_secrets(rest)
    return Turn(reply=tuple(rest.reply), events=tuple(rest.events), state=rest.state)


def _hide_secrets(work: Work) -> None:
    """Take secret values out of what the user said, in the events and in the history."""
    for secret in filter(None, work.secrets):
        for index, event in enumerate(work.events):
            work.events[index] = _without(event, secret)
        work.state.history = [
            Said(role=item.role, text=item.text.replace(secret, HIDDEN)) for item in work.state.history
        ]


def _without(event: Event, secret: str) -> Event:
    data = {
        name: value.replace(secret, HIDDEN) if isinstance(value, str) else value for name, value in event.data.items()
    }
    return event.model_copy(update={"data": data})
