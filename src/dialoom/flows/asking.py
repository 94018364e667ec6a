"""A prompt node has the word: it asks and waits, says what is wrong, or takes its way out."""

from __future__ import annotations

from collections.abc import Sequence

from dialoom.flows.nodes import STAY, PromptNode
from dialoom.flows.slots import empty
from dialoom.flows.stack import go
from dialoom.flows.work import Work


def wait(work: Work, node: PromptNode) -> bool:
    """Ask, unless the model has just done so, and wait for the user."""
    if not work.model_spoke:
        ask(work, node)
    work.frame.arrived, work.frame.waited_at = True, work.frame.node
    return True


def ask(work: Work, node: PromptNode) -> None:
    """Say the node's question: the one of the first slot that is missing, where it has one for each."""
    if isinstance(node.ask, str):
        work.say_template(node.ask, "ask")
    if not node.ask or isinstance(node.ask, str):
        return
    memory = work.memory()
    missing = [name for name in node.ask if empty(memory.get(name))]
    work.say_template(node.ask[missing[0] if missing else list(node.ask)[-1]], "ask")


def fall_back(work: Work, node: PromptNode, cause: str) -> bool:
    """Take the declared way out: say so, and stay or go elsewhere."""
    way_out = node.fallback or work.flow.fallback
    work.record("fallback_taken", cause, node=work.frame.node, go=way_out.go)
    work.say_template(way_out.say, "fallback")
    work.hearing, work.model_spoke, work.frame.attempts = None, False, 0
    if way_out.go == STAY:
        return wait(work, node)
    go(work, way_out.go, "fallback")
    return False


def refuse(work: Work, node: PromptNode, messages: Sequence[str]) -> bool:
    """Say what is wrong and ask again; after too many attempts take the fallback."""
    work.hearing = None
    work.frame.attempts += 1
    retries = node.retries if node.retries is not None else work.flow.retries
    if work.frame.attempts > retries:
        return fall_back(work, node, "constraint")
    work.say("\n".join(messages), "refused")
    return wait(work, node)
