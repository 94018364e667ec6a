"""A prompt node: arriving at it, hearing the user there, and what happens when the user wants something else."""

from __future__ import annotations

from collections.abc import Sequence

from dialoom.flows.asking import fall_back, refuse, wait
from dialoom.flows.constraints import Turns
from dialoom.flows.consulting import consult, queue
from dialoom.flows.correcting import CORRECT, correct, hearing_of
from dialoom.flows.flow import default_repairs
from dialoom.flows.hearing import Heard, first_rule, hear, left_over
from dialoom.flows.intents import Recognised, find_intents
from dialoom.flows.judging import Snapshot, constraints_of, judge_entry, judge_turn, judge_user, snapshot, undo
from dialoom.flows.nodes import STAY, PromptNode
from dialoom.flows.recognise import Hearing, Match
from dialoom.flows.requests import Requests, requests_of
from dialoom.flows.slots import empty
from dialoom.flows.stack import drop, forget, go, serve, start_flow, start_repair
from dialoom.flows.work import Work

EXPLAIN = "explain"


async def arrive(work: Work, node: PromptNode) -> bool:
    """Come to a node (or come back to it): returns whether the conversation now waits here for the user."""
    if not await _entered(work, node):
        return fall_back(work, node, "entry")
    frame, before, heard = work.frame, snapshot(work), Heard()
    if "recognisers" in work.flow.order(node) and work.hearing is not None:
        heard = hear(work, node, work.hearing, (), carried=True)
        if heard.unclear is not None and _clarify(work, heard.unclear):
            return False
        if heard.refused:
            work.say("\n".join(heard.refused), "refused")
    target = first_rule(work, node, ())
    if target is not None:
        return await _leave(work, node, before, target)
    if work.memory() != before.seen:
        violations = await judge_turn(work, node, before, None, STAY)
        if violations:
            undo(work, before)
            return refuse(work, node, [item.message for item in violations])
    if serve(work):
        return False
    silent = not node.ask and not work.model_spoke and "model" in work.flow.order(node)
    if work.text and work.ports.model and (silent or (not _model_heard(work) and _rest_for_model(work, node, heard))):
        consulted = await consult(work, node, heard.filled)
        if consulted is None and silent:
            return fall_back(work, node, "model")
        if consulted is not None and consulted.interrupted:
            return False
        if consulted is not None and consulted.target not in (None, frame.node):
            go(work, str(consulted.target), "model")
            return False
    return wait(work, node)


def _model_heard(work: Work) -> bool:
    """Whether a model was asked in this turn: it has had the whole message."""
    return any(event.kind in ("model_called", "model_failed") for event in work.events)


def _rest_for_model(work: Work, node: PromptNode, heard: Heard) -> bool:
    """Whether recognisers have left something to a model that comes after them.

    No rule holds, and either slots of the node are empty and the message has words that nobody has understood, or
    the node has no rules at all, so that only the model can say where to go.
    """
    settled = heard.refused or heard.unclear is not None or heard.target is not None
    if work.flow.order(node) != ("recognisers", "model") or work.hearing is None or settled:
        return False
    memory = work.memory()
    missing = any(empty(memory.get(name)) for name in node.writable)
    return (missing and left_over(work, work.hearing)) or (bool(heard.filled) and not node.rules)


async def _entered(work: Work, node: PromptNode) -> bool:
    """Judge the entry constraints, once a visit."""
    if not work.frame.entry:
        return True
    work.frame.entry = False
    return not await judge_entry(work, node)


async def _leave(work: Work, node: PromptNode, before: Snapshot, target: str) -> bool:
    """Follow a rule that holds on arrival, if the constraints let it; else what was carried in is forgotten again."""
    violations = await judge_turn(work, node, before, None, target)
    if violations:
        undo(work, before)
        return refuse(work, node, [item.message for item in violations])
    work.model_spoke = False
    go(work, target, "rule")
    return False


async def listen(work: Work, node: PromptNode) -> bool:
    """Hear a fresh message at the node where the user was asked. Returns whether the conversation now waits."""
    frame, work.fresh = work.frame, False
    if not await _entered(work, node):
        return fall_back(work, node, "entry")
    frame.turns += 1
    if _too_many_turns(work, node):
        return fall_back(work, node, "turns")
    refusals = [item.message for item in judge_user(work, node)]
    if refusals:
        return refuse(work, node, refusals)
    intents = find_intents(work.text, work.flow.all_intents(), work.ports.likeness)
    work.intent = intents[0].intent if intents else ""
    if intents:
        work.record("intent_recognised", "words", intents=[item.intent for item in intents], node=frame.node)
    return await _understand(work, node, intents)


async def _understand(work: Work, node: PromptNode, intents: Sequence[Recognised]) -> bool:
    order = work.flow.order(node)
    if "recognisers" in order:
        settled = await _urgent(work, node, intents)
        if settled is not None:
            return settled
    for who in order:
        if who == "recognisers":
            settled = await _recognised(work, node, intents)
            if settled is not None:
                return settled
        elif work.ports.model is not None:
            consulted = await consult(work, node)
            if consulted is not None:
                return _follow(work, node, consulted.target, consulted.interrupted)
            if order[-1] == "model":
                return fall_back(work, node, "model")
    if "recognisers" not in order:
        work.record("model_failed", "prompt", node=work.frame.node, error="there is no model")
        return fall_back(work, node, "model")
    return _not_understood(work, node)


def _follow(work: Work, node: PromptNode, target: str | None, interrupted: bool) -> bool:
    if interrupted:
        return False
    if target is None or target == work.frame.node:
        return not serve(work) and wait(work, node)
    work.frame.waited_at = work.frame.node
    go(work, target, "model")
    return False


# Urgent: what is heard before anything else


async def _urgent(work: Work, node: PromptNode, intents: Sequence[Recognised]) -> bool | None:
    named = {intent for rule in node.rules for intent in rule.intents}
    said = {item.intent for item in intents} - named
    for repair in ("hand_off", "cancellation"):
        if (
            work.frame.repair != repair
            and said & set(_triggers(work, repair))
            and start_repair(work, repair, "asked for")
        ):
            work.hearing = None
            return False
    return await correct(work, node, intents) if CORRECT in said else None


def _triggers(work: Work, repair: str) -> tuple[str, ...]:
    """The intents that start a repair: those of the sub-flow that does it, else those of the default."""
    name = work.flow.repair_for(repair, work.graph, None)
    own = work.flow.graph(name).triggers if name else ()
    return own or default_repairs().flows[repair].triggers


async def _recognised(work: Work, node: PromptNode, intents: Sequence[Recognised]) -> bool | None:
    """What recognisers make of the message; None when it means nothing to them."""
    before = snapshot(work)
    wanted = requests_of(work, node, intents)
    work.hearing = hearing_of(work, wanted.own)
    start, end = wanted.own
    mine = [item.intent for item in intents if start <= item.start < end]
    heard = hear(work, node, work.hearing, mine)
    if heard.understood:
        return await _settle(work, node, before, heard, wanted)
    if wanted.elsewhere:
        return _digress(work, wanted)
    if work.frame.repair:
        return None
    said = {item.intent for item in intents}
    work.hearing = None
    if EXPLAIN in said and start_repair(work, "clarification", "asked for", candidates=[], subject=""):
        return False
    if said & set(_triggers(work, "chitchat")) and start_repair(work, "chitchat", "heard"):
        return False
    target = first_rule(work, node, mine, otherwise=True)
    if target is None:
        return None
    return await _settle(work, node, before, Heard(target=target), wanted)


async def _settle(work: Work, node: PromptNode, before: Snapshot, heard: Heard, wanted: Requests) -> bool:
    """Keep what was heard, if the constraints allow it, and move."""
    if heard.refused:
        return refuse(work, node, heard.refused)
    target = heard.target or STAY
    violations = await judge_turn(work, node, before, None, target)
    if violations:
        undo(work, before)
        return refuse(work, node, [item.message for item in violations])
    for flow, text in wanted.elsewhere:
        queue(work, flow, text, max(1, len(work.state.stack) - 1))
    work.state.misses, work.frame.attempts = 0, 0
    if heard.unclear is not None and _clarify(work, heard.unclear):
        return False
    if target != STAY:
        work.frame.waited_at = work.frame.node
        go(work, target, "rule")
        return False
    if work.ports.model is not None and _rest_for_model(work, node, heard):
        consulted = await consult(work, node, heard.filled)
        if consulted is not None:
            return _follow(work, node, consulted.target, consulted.interrupted)
    return not serve(work) and wait(work, node)


def _too_many_turns(work: Work, node: PromptNode) -> bool:
    for constraint in constraints_of(work, node):
        if isinstance(constraint, Turns) and work.frame.turns > constraint.turns:
            message = constraint.message or f"More than {constraint.turns} turns at this node."
            facts = {"message": message, "node": work.frame.node, "flow": work.frame.flow}
            work.record("constraint_violated", "turns", constraint=constraint.label, **facts)
            return True
    return False


# Something else than what was asked


def _digress(work: Work, wanted: Requests) -> bool:
    (flow, text), *rest = wanted.elsewhere
    for name, words in rest:
        queue(work, name, words, len(work.state.stack))
    work.state.misses = 0
    start_flow(work, flow, "digression")
    work.hearing = Hearing(text, work.now, work.flow.language, work.memory(), work.recognisers())
    return False


def _clarify(work: Work, match: Match) -> bool:
    return start_repair(
        work, "clarification", "unclear", candidates=list(match.rivals), subject=match.slot, words=match.slot
    )


def _not_understood(work: Work, node: PromptNode) -> bool:
    work.hearing = None
    if work.frame.repair:
        _give_back(work)
        return False
    if not work.frame.arrived and node.ask:
        return wait(work, node)
    work.state.misses += 1
    if start_repair(work, "cannot_handle", "not understood"):
        return False
    return wait(work, node)


def _give_back(work: Work) -> None:
    """A repair that does not understand hands the message to what it interrupted."""
    done = False
    while work.frame.repair and len(work.state.stack) > 1:
        done = done or work.frame.repair == "completion"
        drop(work, "not understood")
    work.fresh = True
    if done:
        forget(work)
        work.frame.visits, work.frame.calls = {}, work.state.calls
        go(work, work.graph.start, "restart")
