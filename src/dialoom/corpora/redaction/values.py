"""Values that a source itself marks as somebody's own: by `personal` annotations, or by the name of their field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from dialoom.dialogue import Dialogue

TYPES: Mapping[str, str] = {
    "name": "people's names, by cues and a list of given names",
    "agent": "names and initials of whoever speaks for the system (signatures, introductions)",
    "email": "e-mail addresses, also spelled without their signs",
    "phone": "phone numbers",
    "card": "payment card numbers (Luhn checksum), or numbers said to be a card's",
    "iban": "international bank account numbers",
    "ssn": "social security numbers",
    "account": "account numbers, by the words before them",
    "order": "order, booking, reference, tracking, ticket and similar numbers, by the words before them",
    "address": "street addresses and postcodes",
    "birthdate": "dates of birth, by the words before them",
    "secret": "passwords, PINs and security codes, by the words before them",
    "handle": "user names and @handles",
    "url": "links",
    "ip": "IP addresses",
    "number": "other numbers of six digits or more, and mixed codes",
}
"""Placeholder types, each written `<type>`, and what is recognised. `<our-type>` is a value the system said first."""

_PEOPLE = (
    "customer|renter|host|patient|full|first|last|family|given|driver|guest|passenger|contact|account_holder|cardholder"
    "|agent|client|owner|caller|person|sender|recipient|buyer|employee|member"
)
_FIELDS = tuple(
    (kind, re.compile(f"(?:.*_)?(?:{pattern})"))
    for kind, pattern in (
        ("handle", "user_?name|login|handle|screen_name|user_handle"),
        ("name", f"(?:{_PEOPLE})_name|person|full_?name|first_?name|last_?name|surname"),
        ("email", "e_?mail|email_address|mail_address"),
        ("phone", "(?:tele)?phone|(?:tele)?phone_(?:number|no)|mobile|mobile_number|contact_number|fax"),
        ("address", "address|(?:street|full|home|billing|shipping|delivery|postal)_address|zip|zip_?code|post_?code"),
        ("card", "card_number|credit_card|debit_card|card_no|pan"),
        ("iban", "iban"),
        ("ssn", "ssn|social_security(?:_number)?"),
        ("account", "account_(?:number|id|no)|account|routing_number"),
        (
            "order",
            "(?:order|booking|reservation|ticket|tracking|confirmation|reference)_(?:number|id|no|code)|reference",
        ),
        ("birthdate", "date_of_birth|birth_?date|birthday|dob"),
        ("secret", r"pin|password|passcode|cvv|cvc|security_(?:answer|code)_?\d*|secret|token|api_key"),
        ("number", "license_plate|passport(?:_number)?|driver_license"),
        ("ip", "ip|ip_address"),
    )
)
_CACHE: dict[str, str | None] = {}


def field_type(key: str) -> str | None:
    """The placeholder type of a field by its name, such as `CustomerName`, `phone_number`; None for other fields."""
    if key not in _CACHE:
        if len(_CACHE) > 10_000:
            _CACHE.clear()
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", key).lower().replace("-", "_").replace(" ", "_")
        _CACHE[key] = next((kind for kind, pattern in _FIELDS if pattern.fullmatch(snake)), None)
    return _CACHE[key]


def marked(dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    """(type, value) of all that metadata and annotations mark as personal."""
    yield from _marked(dialogue.metadata)
    for utterance in dialogue.utterances:
        if utterance.annotations:
            yield from _marked(utterance.annotations)


def _marked(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for inner, held in value.items():
            if inner == "personal" and isinstance(held, Mapping):
                yield from ((kind, str(each)) for kind, values in held.items() for each in _several(values))
            else:
                yield from _marked(held, str(inner))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _marked(each, key)
    elif isinstance(value, str | int) and not isinstance(value, bool) and key and (kind := field_type(key)):
        yield kind, str(value).strip()


def _several(values: object) -> list[object]:
    return list(values) if isinstance(values, list | tuple) else [values]


def plain(value: str) -> str:
    """A value without case, spaces and signs, so that two ways of writing it are one."""
    return "".join(char for char in value.lower() if char.isalnum())
