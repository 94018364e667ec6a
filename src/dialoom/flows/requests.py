"""Two things at once: which part of a message is for the node at hand, and which flows the rest asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialoom.flows.intents import Recognised, segments
from dialoom.flows.nodes import PromptNode
from dialoom.flows.recognise import WEAK, Hearing, recognise
from dialoom.flows.slots import Slot
from dialoom.flows.words import Span
from dialoom.flows.work import Work


@dataclass(frozen=True, slots=True)
class Requests:
    """The node's own part of the message, and further requests: flow and words."""

    own: Span
    elsewhere: tuple[tuple[str, str], ...] = ()


def requests_of(work: Work, node: PromptNode, intents: Sequence[Recognised]) -> Requests:
    """Cut a message into what the node hears and what is asked of other sub-flows.

    The first request belongs to the node if one of its rules names the intent, or if it is what the present flow is
    about; otherwise the node hears only the words before it.
    """
    everything = (0, len(work.text))
    if work.frame.repair:
        return Requests(everything)
    triggers = work.flow.startable()
    rules = {intent for rule in node.rules for intent in rule.intents}
    relevant = [item for item in intents if item.intent in triggers or item.intent in rules]
    parts = segments(work.text, relevant, work.flow.also, work.flow.beside)
    if not parts:
        return Requests(everything)
    (first, span), *rest = parts
    running = {frame.flow for frame in work.state.stack}
    if first.intent in rules or triggers.get(first.intent) in running:
        own: Span = (0, span[1])
        others = rest
    else:
        own, others = (0, span[0]), parts
    elsewhere = []
    for item, place in others:
        flow = triggers.get(item.intent)
        words = work.text[place[0] : place[1]].strip()
        if flow is None:
            continue
        again = item.intent == first.intent and item is not first
        if again and not (_content(work, flow, words) and _content(work, flow, work.text[span[0] : span[1]])):
            continue
        elsewhere.append((flow, words))
    return Requests(own, tuple(elsewhere))


def _content(work: Work, flow: str, words: str) -> bool:
    """Whether words hold a value for one of a flow's slots: 'a veggie pizza' does, 'I love pizza' does not."""
    graph = work.flow.graph(flow)
    slots: dict[str, Slot] = {**graph.slots}
    for node in graph.nodes.values():
        if isinstance(node, PromptNode):
            slots |= node.slots
            slots |= {name: work.flow.slots[name] for name in node.writable if name in work.flow.slots}
    hearing = Hearing(words, work.now, work.flow.language)
    return any(
        recognise(name, slot, hearing) is not None
        for name, slot in slots.items()
        if slot.recogniser is not None and not isinstance(slot.recogniser, WEAK)
    )
