"""Facts from what users say: patterns with confirmation rules, corrections, and requests to forget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dialoom.knowledge.memory.facts import Fact, Memory

Confirmation = Literal["never", "ask", "repeat"]


@dataclass(frozen=True, slots=True)
class FactRule:
    """How one kind of fact is said. `pattern` has a group `value`, and a group `subject` unless `subject` is given.

    `confirm`: "never" keeps the fact at once, "ask" keeps it when the next turn says yes, "repeat" when it is said in
    two turns. `text` writes the fact down for retrieval, with {subject} and {value}.
    """

    pattern: re.Pattern[str]
    subject: str = ""
    confirm: Confirmation = "never"
    text: str = "The customer's {subject} is {value}."


@dataclass(frozen=True, slots=True)
class Remark:
    """What a turn did to memory: a fact kept, a fact to ask about (`question`), a fact confirmed or dropped, or
    subjects forgotten.
    """

    kind: Literal["kept", "ask", "confirmed", "dropped", "forgotten"]
    fact: Fact | None = None
    subject: str = ""
    question: str = ""


def _rule(pattern: str, subject: str = "", confirm: Confirmation = "never", text: str = "") -> FactRule:
    compiled = re.compile(pattern, re.IGNORECASE)
    return FactRule(compiled, subject, confirm, text) if text else FactRule(compiled, subject, confirm)


_END = r"(?=\s*(?:[.,;!?]|$|\band\b|\bbut\b|\bso\b|\bbecause\b))"
_NAME = r"[\w'’-]+"
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w'’-]*"
ENGLISH_RULES: tuple[FactRule, ...] = (
    _rule(
        rf"\bmy (?P<subject>[a-z]+(?: [a-z]+)? size) is (?P<value>\w+(?:[./-]\w+)*){_END}",
        text="The customer's {subject} is {value}.",
    ),
    _rule(rf"\bmy name is (?P<value>(?-i:{_CAPITAL}(?: {_CAPITAL})*)|{_NAME}){_END}", "name"),
    _rule(
        rf"\bi(?: a|')m allergic to (?P<value>[\w -]+?){_END}", "allergy", "ask", "The customer is allergic to {value}."
    ),
    _rule(rf"\bi live in (?P<value>[\w -]+?){_END}", "home", text="The customer lives in {value}."),
    _rule(
        rf"\bi (?:always )?prefer (?P<value>[\w -]+?){_END}", "preference", "repeat", "The customer prefers {value}."
    ),
    _rule(
        rf"\bmy favou?rite (?P<subject>[a-z]+) is (?P<value>[\w -]+?){_END}",
        text="The customer's favourite {subject} is {value}.",
    ),
)
"""A small set for English; add rules for what matters in your domain."""

_YES = re.compile(r"^\s*(?:yes|yeah|yep|correct|right|that's right|sure|exactly|ok(?:ay)?)\b", re.IGNORECASE)
_NO_REQUEST = r"(?P<kept>(?:\bnot|n['’]t|\bdont|\bnever|\balways|\boften|\bsometimes|\bi|\bi['’]ll|\bi will) )?"
_FORGET_ALL = re.compile(rf"{_NO_REQUEST}\bforget (?:everything|all|me\b|what you know about me)", re.IGNORECASE)
_FORGET = re.compile(rf"{_NO_REQUEST}\bforget (?:about )?my (?P<subject>[a-z]+(?: [a-z]+)?)", re.IGNORECASE)


def read_turn(
    memory: Memory, user: str, text: str, *, dialogue: str = "", rules: Sequence[FactRule] = ENGLISH_RULES
) -> list[Remark]:
    """Let memory learn from one user turn, in this order: requests to forget, an answer to a question, new facts.

    A question (`Remark.kind` "ask") counts as answered by the next turn only: yes confirms it, anything else drops
    it. Text that is not the user's own words, such as retrieved documents, must never be passed in.
    """
    forgotten = _forget(memory, user, text)
    if forgotten:
        return forgotten
    remarks = _answered(memory, user, text)
    for rule in rules:
        for match in rule.pattern.finditer(text):
            subject = (rule.subject or match.group("subject")).lower().strip()
            remarks.append(_learn(memory, user, rule, subject, match, dialogue))
    return remarks


def _learn(memory: Memory, user: str, rule: FactRule, subject: str, match: re.Match[str], dialogue: str) -> Remark:
    value = match.group("value").strip()
    said = rule.text.format(subject=subject, value=value)
    confirmed, asked = rule.confirm == "never", rule.confirm == "ask"
    fact = memory.remember(user, subject, value, said, dialogue=dialogue, confirmed=confirmed, asked=asked)
    if not fact.confirmed and rule.confirm == "repeat" and fact.times >= 2:
        fact = memory.confirm(user, fact.number)
    if fact.confirmed or rule.confirm == "repeat":
        return Remark("kept", fact, subject)
    return Remark("ask", fact, subject, f"Shall I remember that your {subject} is {value}?")


def _answered(memory: Memory, user: str, text: str) -> list[Remark]:
    remarks = []
    for fact in memory.waiting(user):
        if not fact.asked:
            continue
        if _YES.search(text):
            remarks.append(Remark("confirmed", memory.confirm(user, fact.number), fact.subject))
        else:
            memory.drop(user, fact.number)
            remarks.append(Remark("dropped", fact, fact.subject))
    return remarks


def _forget(memory: Memory, user: str, text: str) -> list[Remark]:
    if any(match["kept"] is None for match in _FORGET_ALL.finditer(text)):
        memory.forget(user)
        return [Remark("forgotten", subject="everything")]
    remarks = []
    for match in _FORGET.finditer(text):
        if match["kept"] is not None:
            continue
        known = {fact.subject for fact in memory.history(user)}
        asked = match.group("subject").lower()
        for subject in sorted(known):
            if asked.startswith(subject) or subject.startswith(asked):
                memory.forget(user, subject)
                remarks.append(Remark("forgotten", subject=subject))
    return remarks
