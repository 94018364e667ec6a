"""What a turn asks for: the answer to "could you give me your order number?" is one, whatever its shape."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dialoom.dialogue import Role

_NUMBER = r"[ -]?(?:numbers?|no\b|id\b|ids\b|codes?|#)"
_ASKS = tuple(
    (kind, re.compile(rf"\b(?:{pattern})", re.IGNORECASE))
    for kind, pattern in (
        ("secret", r"pin\b|pass(?:word|code|phrase)|security (?:code|answer)|cvv|cvc|verification code"),
        ("birthdate", r"date of birth|birth ?da(?:te|y)|when were you born|d\.?o\.?b\b"),
        ("ssn", r"ssn\b|social security"),
        ("card", rf"card{_NUMBER}|digits of (?:your|the) (?:credit |debit |bank )?card"),
        ("account", rf"(?:account|customer|member(?:ship)?|loyalty|client|vat|tax|insurance|policy){_NUMBER}"),
        (
            "order",
            rf"(?:order|booking|reservation|confirmation|reference|tracking|tickets?|case|invoice|receipt|return|parcel"
            rf"|shipment|serial|transaction|claim|voucher|purchase|delivery){_NUMBER}|reference\b|pnr\b"
            r"|(?:the|what|which) (?:number|code)\b|number of (?:your|the)\b",
        ),
        (
            "phone",
            r"(?:phone|mobile|telephone|contact|best|your) number"
            r"|(?:call|ring|reach|phone) you\b|your (?:phone|mobile)",
        ),
        (
            "address",
            r"(?<!mail )(?<!mail-)(?<!ip )address|post ?code|zip\b"
            r"|where (?:should|shall|do|can) (?:we|i) (?:send|ship|deliver)|where (?:do you live|should it go)",
        ),
    )
)
_NAME = re.compile(
    r"\b(?:your (?:full |first |last |sur|legal |good )*name|full name|name,? please|name (?:on|of) the (?:account"
    r"|booking|reservation|order|card|patient|renter|guest|host|parcel)|whose name|(?:what|which) name"
    r"|name (?:is|was) (?:it|the|that|this|your)\b|(?:first|last) and (?:first|last) name"
    r"|who am i (?:speaking|chatting|talking)|whom? (?:do|am|is this|is it)\b)",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"(?i)number|code|pin\b|passw|passphrase|security|verif|birth|born|dob|ssn|digits| no\b| id|#|reference|pnr"
    r"|(?:call|ring|reach|phone) you|your (?:phone|mobile)|address|zip|where "
).search

_REQUEST = re.compile(
    r"\?|\b(?:please|pls|need|provide|give|tell|send|share|enter|type|state|confirm|verify|may i|can i|could|what|which"
    r"|missing|without|has no|have no|if you|let me have|and your|and the|repeat|again)\b"
    r"|^\W*(?:and |your |the )?(?:\w+[ -]){0,2}\w+\W*$",
    re.IGNORECASE,
).search
"""A question or a request, also one of three words: "Your order number"."""

Asked = tuple[str, ...]
"""Types of values that the last system turn asked for, those that are hardest to tell from others first."""


def asks_name(text: str) -> bool:
    """Whether a turn asks for somebody's name."""
    return _NAME.search(text) is not None


def asked_for(text: str) -> Asked:
    """The types of numbers, dates and addresses that a system turn mentions as something to be given."""
    if not _ANY(text) or not _REQUEST(text):
        return ()
    return tuple(kind for kind, pattern in _ASKS if pattern.search(text))


def answering(turns: Iterable[tuple[Role, str]]) -> Iterator[Asked]:
    """For each turn what it may answer: for a user, what the last system turn asked for; for others nothing."""
    asked: Asked = ()
    for role, text in turns:
        if role is Role.SYSTEM:
            asked = asked_for(text)
        yield asked if role is Role.USER else ()
