"""Placeholders out of a reply: the present conversation's own values in, or wording that needs none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from dialoom.corpora.redaction.names import own_names
from dialoom.corpora.redaction.patterns import replaced
from dialoom.corpora.redaction.questions import answering
from dialoom.corpora.redaction.redact import PLACEHOLDER
from dialoom.corpora.redaction.values import marked
from dialoom.corpora.redaction.words import words_of
from dialoom.dialogue import Dialogue, Role

Values = Mapping[str, Sequence[str]]
NOTHING: Values = MappingProxyType({})
_NEVER_SAID = frozenset(("card", "iban", "ssn", "secret", "url", "handle", "ip"))
"""Types that are not repeated to anybody, whatever the conversation holds."""
_PHRASES = {
    "name": "that person", "agent": "your assistant", "email": "the email address on file",
    "phone": "the number on file", "card": "the card on file", "iban": "the account on file",
    "ssn": "the number on file", "account": "the account on file", "order": "the order on file",
    "address": "the address on file", "birthdate": "the date on file", "secret": "the code you chose",
    "handle": "us", "url": "our website", "ip": "the address on file", "number": "the number on file",
}  # fmt: skip
_OURS = {"phone": "the number on our website", "email": "the email address on our website",
         "address": "the address on our website"}  # fmt: skip
_END = r"(?=\s*(?:[.,!?;:)]|$)|\s+[-–—/^~])"
_GREET = (
    r"\b(?:hi|hello|hey|hiya|dear|greetings|good (?:morning|afternoon|evening|day)|welcome(?: back)?|thanks(?: again)?"
    r"|thank you(?: so much| very much)?|sorry|ok|okay|sure|great|perfect|alright|yes|no|bye|goodbye)"
)
_NOUN = (
    r"numbers?|no\.?|ids?|codes?|orders?|bookings?|reservations?|references?|confirmations?|tickets?|accounts?|cards?"
    r"|e-?mails?|e-?mail addresses|address|addresses|phones?|mobile|pin|password|ssn|links?|user ?names?|handle|zip"
    r"|postcode|plate|driver|host|birth|iban|site|website|page"
)
_SIGNED = re.compile(
    r"\s*(?:[-–—/^~]\s?<(?:agent|name)>|(?<=[.!?)])\s+<agent>)\s*(?=(?:\(?\d/\d\)?)?\s*(?:<url>\s*)*$)"
)
_I_AM = re.compile(r"\b(?:my name(?: is|['’]s)) <agent>", re.IGNORECASE)
_AGENT_CALLED = re.compile(rf"({_GREET})[,]? <agent>|,\s*<agent>{_END}", re.IGNORECASE)
_TITLED = re.compile(r"\b(Dr|Doctor|Prof|Professor)\.? <name>", re.IGNORECASE)
_HONORIFIC = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Mx|Sir|Madam)\.? <name>", re.IGNORECASE)
_AFTER = words_of("for with to is are was by from and of on at or as be ask see call named under about driver")
_LEADING_WORDS = "".join(rf"(?<!\b{word})" for word in sorted(_AFTER))
_CALLED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<before>{_GREET},?)(?P<gap> )<name>{_END}",
        rf"(?P<before>{_GREET},?)(?P<gap> )<name>(?=\s)",
        rf"(?P<before>)(?P<gap>,\s*)<name>{_END}",
        r"(?P<before>(?:^|[.!?]\s))(?P<gap>)<name>(?P<after>,\s*)",
        rf"(?P<before>[\w'’]){_LEADING_WORDS}(?P<gap> )<name>(?=\s*[.!?]*\s*$)",
    )
)
_CHANGED = re.compile(
    r"(?P<kept>\b(?:chang|updat|correct|switch|mov|redirect)(?:ed|ing|e)?"
    r"(?: (?:it|that|this|them|(?:the|your) (?:\w+ ){0,2}?(?:address|delivery|parcel|order)))?(?: now)?"
    r"|\b(?:confirmation|copy|invoice|receipt|message|e-?mail|reminder)) to <(?:our-)?[a-z]+>",
    re.IGNORECASE,
)
"""What was done stands without the value it was done to."""
_HOUSEHOLD = re.compile(r"<name>,? <((?:our-)?address)>")
_NAMED = re.compile(r"(?P<before>\byour (?:full |first |last )?name(?: is|:)? )<name>", re.IGNORECASE)
_IDENTIFIED = re.compile(
    r"(?P<before>\b(?:is this|this is|am i speaking (?:with|to)|speaking (?:with|to)|are you|you are) )<name>",
    re.IGNORECASE,
)
_FOR = re.compile(r"(?P<before>\b(?:for|to) )<name>(?!['’]s)", re.IGNORECASE)


def personal_values(dialogue: Dialogue) -> dict[str, tuple[str, ...]]:
    """What the present conversation itself holds, by placeholder type, the latest first.

    `dialogue` is as it was spoken, not redacted. Names are the user's own ("I'm Nick"), never a third person's; other
    values are those that the user or a tool gave.
    """
    found: dict[str, dict[str, None]] = {}

    def note(kind: str, value: str) -> str:
        if not PLACEHOLDER.search(value):
            held = found.setdefault(kind, {})
            held.pop(value, None)
            held[value] = None
        return f"<{kind}>"

    for kind, value in marked(dialogue):
        note(kind, value)
    turns = [(utterance.role, utterance.text) for utterance in dialogue.utterances]
    for (role, text), asked in zip(turns, answering(turns), strict=True):
        if role is not Role.SYSTEM:
            replaced(text, note, asked)
    for name in own_names(turns):
        note("name", name)
    return {kind: tuple(reversed(values)) for kind, values in found.items()}


def refill(text: str, values: Values = NOTHING) -> str:
    """`text` without placeholders: the conversation's own values (see `personal_values`) or neutral wording.

    A name is put where somebody is addressed or told their name, and nowhere else; `<our-...>` values and secrets are
    never filled. `values["agent"]` is the name your assistant goes by. A text without placeholders stays as it is.
    """
    if "<" not in text or not PLACEHOLDER.search(text):
        return text
    own = {kind: held[0] for kind, held in values.items() if held and "<" not in held[0]}
    changed = _names(_agent(text, own.get("agent", "")), own.get("name", ""))
    changed = PLACEHOLDER.sub(lambda match: _own(match, own), changed)
    return _tidied(_neutral(changed), text)


def _agent(text: str, own: str) -> str:
    text = _SIGNED.sub("", text)
    if own:
        return text.replace("<agent>", own)
    text = _AGENT_CALLED.sub(lambda match: match[1] or "", text)
    return _I_AM.sub("I am your assistant", text).replace("<agent>", _PHRASES["agent"])


def _names(text: str, own: str) -> str:
    if "<name>" not in text:
        return text
    text = _HOUSEHOLD.sub(r"<\1>", text)
    text = _TITLED.sub(lambda match: "the doctor" if match[1].lower().startswith("d") else "the professor", text)
    text = _HONORIFIC.sub("<name>", text)
    text = _IDENTIFIED.sub(lambda match: f"{match['before']}{own or 'the right person'}", text)
    for pattern in _CALLED:
        text = pattern.sub(lambda match: _addressed(match, own), text)
    text = _NAMED.sub(lambda match: f"{match['before']}{own}" if own else f"{match['before']}on file", text)
    text = _FOR.sub(lambda match: f"{match['before']}you", text)
    return text.replace("<name>'s", "their").replace("<name>’s", "their").replace("<name>", _PHRASES["name"])


def _addressed(match: re.Match[str], own: str) -> str:
    groups = match.groupdict()
    if own:
        return f"{match['before']}{match['gap']}{own}{groups.get('after') or ''}"
    return match["before"].rstrip(",") if match["gap"] else match["before"]


def _own(match: re.Match[str], own: Mapping[str, str]) -> str:
    kind = match[1]
    return match[0] if match[0].startswith("<our-") or kind in _NEVER_SAID else own.get(kind, match[0])


def _neutral(text: str) -> str:
    """Every placeholder left: dropped after the noun it repeats, else a phrase that stands for it."""
    any_left = r"<(?P<ours>our-)?(?P<type>[a-z]+)>"
    text = _CHANGED.sub(lambda match: match["kept"], text)
    text = re.sub(rf" ?[(\[] ?{any_left} ?[)\]]", "", text)
    text = re.sub(rf"(?<=\w):\s*{any_left}(?=\s*(?:[.,;!?)]|$))", "", text)
    text = re.sub(rf"(?P<noun>\b(?:{_NOUN}))(?:\s*#\s*|\s+){any_left}", lambda m: m["noun"], text, flags=re.IGNORECASE)
    text = re.sub(rf"(?<![.!?] )(?<!^)(?P<be>\b(?:is|was|are)|['’]s) {any_left}", _predicate, text, flags=re.IGNORECASE)
    text = re.sub(r"(?P<before>[.!?]\s*|^)<(?:our-)?(?:url|handle)>(?=\s*(?:$|[.!?]))", r"\g<before>", text)
    text = re.sub(r"(?P<before>[.!?])\s*<(?:our-)?(?:url|handle)>", r"\g<before>", text)
    return PLACEHOLDER.sub(_phrase, text)


def _predicate(match: re.Match[str]) -> str:
    public = match["ours"] and match["type"] in _OURS
    place = "on our website" if public or match["type"] in ("url", "handle") else "on file"
    return f"{match['be']} {place}"


def _phrase(match: re.Match[str]) -> str:
    return _OURS.get(match[1], _PHRASES[match[1]]) if match[0].startswith("<our-") else _PHRASES[match[1]]


_SENTENCE = re.compile(r"(^|[.!?]\s+)([a-z])")


def _tidied(text: str, before: str) -> str:
    """Spaces, stray commas and capitals as a writer would leave them."""
    text = re.sub(r"(?i)^dear(?=,?\s*(?:\n|$|,))", "Hello", re.sub(r"[ \t]{2,}", " ", text))
    text = re.sub(r"\s+([.,!?;:])", r"\1", text)
    text = re.sub(r",\s*(?=[.,!?;:])", "", text)
    text = re.sub(r"^[\s,;:]+|\s+$", "", text)
    return (
        _SENTENCE.sub(lambda match: match[1] + match[2].upper(), text)
        if before[:1].isupper() or before[:1] == "<"
        else text
    )
