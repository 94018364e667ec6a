"""Filling slots from a message by recognisers, in the order of how sure they are; and which rule holds then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dialoom.flows import words
from dialoom.flows.expressions import TemplateFailed, evaluate
from dialoom.flows.intents import find_intents
from dialoom.flows.nodes import PromptNode, Rule
from dialoom.flows.recognise import Hearing, Match, recognise
from dialoom.flows.slots import ByDate, ByNumber, ByText, ByYesNo, Recogniser, Slot, empty
from dialoom.flows.work import SlotRefused, Work

_IDLE = (
    "a,an,the,some,one,it,that,this,please,thanks,i,me,my,we,us,you,would,like,want,need,have,take,get,give,order,"
    "can,could,may,i'd,i'll,i'm,am,is,are,be,to,for,of,in,on,at,with,and,also,or,so,then,well,just,um,uh,oh,ok,okay,"
    "yes,no,hi,hello,hey"
)
IDLE = frozenset(_IDLE.split(","))
"""Words that hold no value for a slot. In other languages every word counts: then the model is rather asked."""


@dataclass
class Heard:
    """What recognisers made of a message at a node."""

    filled: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    unclear: Match | None = None
    target: str | None = None

    @property
    def understood(self) -> bool:
        """Whether the message meant anything here."""
        return bool(self.filled or self.refused or self.unclear or self.target)


def hear(work: Work, node: PromptNode, hearing: Hearing, intents: Sequence[str], *, carried: bool = False) -> Heard:
    """Fill the node's slots from a message, then look which rule holds.

    A message carried over from another node of the same turn fills only what is empty, and says neither yes nor no.
    """
    heard, declared, memory = Heard(), work.declared(), work.memory()
    missing = [name for name in node.writable if empty(memory.get(name))]
    for name in sorted(node.writable, key=lambda item: (rank(declared[item]), item not in missing)):
        slot = declared[name]
        if not _listens(slot, name, [item for item in missing if rank(declared[item]) == rank(slot)], carried):
            continue
        match = recognise(name, slot, hearing)
        if match is None:
            continue
        hearing.take(match)
        if slot.secret:
            work.secrets.append(hearing.text[match.start : match.end])
        if match.rivals:
            heard.unclear = heard.unclear or match
            continue
        try:
            work.set(name, match.value, "recognised")
            heard.filled.append(name)
        except SlotRefused as error:
            work.record(
                "constraint_violated", "slot", constraint=f"slot {name}", message=str(error), node=work.frame.node
            )
            heard.refused.append(slot.refusal or str(error))
    if not carried and not heard.refused and heard.unclear is None and (heard.filled or intents):
        heard.target = first_rule(work, node, intents, otherwise=bool(heard.filled))
    return heard


def left_over(work: Work, hearing: Hearing) -> bool:
    """Whether a message holds words that no slot and no intent accounts for."""
    intents = find_intents(hearing.text, work.flow.all_intents())
    spans = [*hearing.taken, *((item.start, item.end) for item in intents)]
    return any(
        word not in IDLE and not any(words.overlap((start, end), span) for span in spans)
        for word, start, end in words.tokens(hearing.text)
    )


def rank(slot: Slot) -> int:
    """Recognisers that are sure of themselves go first."""
    by: Recogniser | None = slot.recogniser or (slot.items.recogniser if slot.items else None)
    match by:
        case ByDate(by="datetime"):
            return 1
        case ByDate():
            return 2
        case ByNumber():
            return 3
        case ByYesNo():
            return 4
        case ByText():
            return 5
    return 0


def _listens(slot: Slot, name: str, missing: Sequence[str], carried: bool) -> bool:
    """Whether a slot is to be filled now; `missing` are those of its kind that are empty."""
    order = rank(slot)
    if order >= 4:
        return not carried and name in missing[:1]
    return name in missing or (order == 0 and not carried)


def first_rule(work: Work, node: PromptNode, intents: Sequence[str], *, otherwise: bool = False) -> str | None:
    """Where the first rule that holds leads. One without conditions holds for any message that was understood."""
    memory = work.memory()
    for rule in node.rules:
        if rule.conditional:
            if _holds(work, rule, intents, memory):
                return rule.go
        elif otherwise:
            return rule.go
    return None


def _holds(work: Work, rule: Rule, intents: Sequence[str], memory: dict[str, object]) -> bool:
    if rule.intents and not set(rule.intents) & set(intents):
        return False
    if any(empty(memory.get(name)) for name in rule.filled or ()):
        return False
    if any(not empty(memory.get(name)) for name in rule.missing or ()):
        return False
    if rule.automaton is not None and work.ports.signals.get("automaton") != rule.automaton:
        return False
    try:
        return rule.when is None or bool(evaluate(rule.when, work.values()))
    except TemplateFailed as error:
        work.record("template_failed", "rule", error=str(error), node=work.frame.node)
        return False
