"""Corrections: 'no, make it large' changes what is under way, and opens again what is done where that can be done."""

from __future__ import annotations

from collections.abc import Sequence

from dialoom.flows import words
from dialoom.flows.asking import refuse, wait
from dialoom.flows.consulting import queue
from dialoom.flows.hearing import rank
from dialoom.flows.intents import Recognised
from dialoom.flows.judging import judge_turn, snapshot, undo
from dialoom.flows.nodes import STAY, PromptNode
from dialoom.flows.recognise import Hearing, recognise
from dialoom.flows.reopening import hears, meant, other_value, readable, reopen, reopenable
from dialoom.flows.requests import requests_of
from dialoom.flows.slots import empty
from dialoom.flows.stack import drop, enter, passed, start_repair
from dialoom.flows.state import Done
from dialoom.flows.work import SlotRefused, Work

CORRECT = "correct"
Further = Sequence[tuple[str, str]]
"""Other requests of the same message: flow and words."""


async def correct(work: Work, node: PromptNode, intents: Sequence[Recognised]) -> bool | None:
    """Heed a correction at the node where it was said; None if it holds no other value for anything said before.

    Sought in this order: filled slots of the flow that has the word, of a flow that it interrupted, of a sub-flow
    that is done.
    """
    if work.frame.repair:
        return await _after_the_end(work, node, intents) if work.frame.repair == "completion" else None
    wanted = requests_of(work, node, intents)
    settled = await _change(work, node, hearing_of(work, wanted.own), wanted.elsewhere)
    if settled is not None:
        return settled
    about = _named(work, intents)
    named_here = any(item.intent in work.flow.startable() and item.start < wanted.own[1] for item in intents)
    hearing = hearing_of(work, wanted.own if named_here else (0, len(work.text)))
    if _asks_for_more(work) or (not set(about) - {work.frame.flow} and hears(work, node, hearing)):
        return None
    rest = wanted.elsewhere if named_here else wanted.elsewhere[1:]
    if _return_to(work, hearing, about):
        below = work.node
        return isinstance(below, PromptNode) and await _change(work, below, hearing, rest) is True
    done = meant(work, hearing, about)
    if done is None:
        return None
    return await _again(work, done, hearing, rest) if reopenable(work, done) else _too_late(work, node)


def hearing_of(work: Work, span: tuple[int, int]) -> Hearing:
    """A part of the message, of which nothing is understood yet."""
    text = work.text[span[0] : span[1]]
    return Hearing(text, work.now, work.flow.language, work.memory(), work.recognisers())


def _named(work: Work, intents: Sequence[Recognised]) -> tuple[str, ...]:
    """The sub-flow that the message names first, if it names any."""
    flows = [work.flow.startable()[item.intent] for item in intents if item.intent in work.flow.startable()]
    return tuple(flows[:1])


def _asks_for_more(work: Work) -> bool:
    return bool(words.find(work.flow.another, work.text))


def _return_to(work: Work, hearing: Hearing, about: Sequence[str]) -> bool:
    """Drop what interrupted a flow whose filled slots the message corrects; returns whether there was one."""
    stack = work.state.stack
    for depth in range(len(stack) - 1, 0, -1):
        if stack[depth].cause == "call":
            return False
        frame = stack[depth - 1]
        held = {**work.state.memory, **frame.memory}
        if (not about or frame.flow in about) and other_value(work, frame.flow, held, hearing, filled=True):
            while len(stack) > depth:
                drop(work, "corrected")
            return True
    return False


async def _after_the_end(work: Work, node: PromptNode, intents: Sequence[Recognised]) -> bool | None:
    """A correction when the whole flow is done: it goes through its end again, unless that cannot be taken back."""
    ended, hearing = work.state.stack[-2], hearing_of(work, (0, len(work.text)))
    if _asks_for_more(work):
        return None
    done = meant(work, hearing, _named(work, intents))
    own = done is None and other_value(work, ended.flow, {**work.state.memory, **ended.memory}, hearing, filled=True)
    if done is None and not own:
        return None
    possible = reopenable(work, done) if done else bool(ended.waited_at) and work.state.calls == ended.calls
    if not possible:
        return _too_late(work, node)
    drop(work, "corrected")
    if done is not None:
        return await _again(work, done, hearing, ())
    enter(work, ended.waited_at, "corrected")
    below = work.node
    return isinstance(below, PromptNode) and await _change(work, below, hearing, ()) is True


def _too_late(work: Work, node: PromptNode) -> bool:
    work.hearing, work.state.misses = None, 0
    work.say_template(work.flow.too_late, "too late")
    return wait(work, node)


async def _again(work: Work, done: Done, hearing: Hearing, rest: Further) -> bool:
    """Open again what is done, and change it there."""
    _queue(work, rest)
    reopen(work, done)
    opened = work.node
    return isinstance(opened, PromptNode) and await _change(work, opened, hearing, (), reopened=True) is True


async def _change(
    work: Work, node: PromptNode, hearing: Hearing, rest: Further, *, reopened: bool = False
) -> bool | None:
    """Change slots of the present flow that are already filled; None if no value was meant."""
    before, declared, memory = snapshot(work), work.declared(), work.memory()
    prompts = [item for item in work.graph.nodes.values() if isinstance(item, PromptNode)]
    names = dict.fromkeys(name for item in prompts for name in item.writable if name in declared)
    changes: dict[str, str] = {}
    for name in sorted(names, key=lambda item: rank(declared[item])):
        slot = declared[name]
        if not readable(slot) or (not reopened and (empty(memory[name]) or slot.recogniser is None)):
            continue
        match = recognise(name, slot, hearing)
        if match is None or match.rivals:
            continue
        hearing.take(match)
        if slot.secret:
            work.secrets.append(hearing.text[match.start : match.end])
        try:
            if work.set(name, match.value, "correction"):
                changes[name] = f"{name.replace('_', ' ')}: {'changed' if slot.secret else work.memory()[name]}"
        except SlotRefused as error:
            undo(work, before)
            return refuse(work, node, [slot.refusal or str(error)])
    if not changes:
        return None
    violations = await judge_turn(work, node, before, None, STAY)
    if violations:
        undo(work, before)
        return refuse(work, node, [item.message for item in violations])
    work.hearing, work.state.misses, work.frame.arrived = None, 0, False
    _queue(work, rest)
    passing = [slot for slot in (declared[name].recheck for name in changes) if passed(work, work.frame, slot)]
    if passing:
        enter(work, passing[0], "corrected")
    start_repair(work, "correction", "corrected", changes=", ".join(changes.values()))
    return False


def _queue(work: Work, rest: Further) -> None:
    for flow, text in rest:
        queue(work, flow, text, max(1, len(work.state.stack) - 1))
