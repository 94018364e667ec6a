"""Recognisers of personal values by their own shape: addresses of all kinds, and numbers that identify.

Each is a compiled pattern, a cheap test that says whether to try it, and sometimes a check of what it found. They are
tried in order; what an earlier one replaced by a placeholder a later one does not see.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from dialoom.corpora.redaction import codes, streets
from dialoom.corpora.redaction.questions import Asked
from dialoom.corpora.redaction.words import ORDINARY_WORDS


@dataclass(frozen=True, slots=True)
class Recogniser:
    """One kind of value: `pattern` finds candidates (group `value` if it has one), `accept` decides.

    `needs` is a cheap test of the text; `cued` recognisers are tried only where some word says what a number is, those
    with `asked` only in an answer to a question for their type.
    """

    type: str
    pattern: re.Pattern[str]
    needs: Callable[[str], bool] = bool
    accept: Callable[[str], bool] = lambda _: True
    cued: bool = False
    asked: bool = False


_HAS_DIGIT = re.compile(r"\d").search
_IDENTIFIER = r"(?P<value>(?:[A-Za-z]{1,4}[ -])?[A-Za-z]{0,6}\d[\w-]{0,40}(?: [A-Za-z]?\d{1,12}[A-Za-z]?){0,6})"
_LABEL = r"(?:[ -]?(?:numbers?|no|num|nos|nr|id|ids|code|#)\b\.?|[ ]?#)"
_SAID = r"(?:\s*(?:is|was|:|=|ending(?: in| with)?|ends(?: in| with)?|it'?s|actually))*\s*#?\s?"


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdecimal())


def luhn(text: str) -> bool:
    """Whether the digits of a card number satisfy the Luhn checksum (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(_digits(text))):
        number = int(digit) * (1 + place % 2)
        total += number - 9 * (number > 9)
    return total % 10 == 0


_FOURS = re.compile(r"\d{4}([ -])\d{4}\1\d{4}\1\d{4}").fullmatch


def _is_card(text: str) -> bool:
    if _FOURS(text):
        return True
    return 13 <= len(_digits(text)) <= 19 and luhn(text)


def _is_phone(text: str) -> bool:
    digits, groups = _digits(text), re.findall(r"\d+", text)
    if re.fullmatch(r"(?:19|20)\d\d[-./ ]\d\d?[-./ ]\d\d?|\d\d?[-./]\d\d?[-./]\d{2,4}", text.strip()):
        return False  # a date
    if text.lstrip().startswith("+"):
        return 8 <= len(digits) <= 15
    if len(groups) == 1:
        return 10 <= len(digits) <= 12
    if [len(group) for group in groups] == [3, 4]:
        return "-" in text or "." in text
    return 9 <= len(digits) <= 15 and all(2 <= len(group) <= 6 or group == "1" for group in groups)


_ORDINAL = re.compile(r"\d(?:st|nd|rd|th)\b").search


def _is_identifier(text: str) -> bool:
    """Long enough to identify: four digits, or letters and digits mixed, three of them."""
    digits = _digits(text)
    if _ordinary_start(text) or _ORDINAL(text):
        return False
    return len(digits) >= 4 or (bool(digits) and len(text) >= 4 and any(char.isalpha() for char in text))


def _has_value(text: str) -> bool:
    return len(text) >= 3 and bool(_digits(text)) and not _ordinary_start(text)


def _ordinary_start(text: str) -> bool:
    return text.split()[0].lower() in ORDINARY_WORDS


def _is_secret(text: str) -> bool:
    return len(text) >= 3 and text.lower().strip(".,!?") not in ORDINARY_WORDS and not text.startswith("<")


_MIXED = re.compile(r"\d[A-Za-z]")


def _is_code(text: str) -> bool:
    """Capitals and digits mixed: eight of them, or six where a letter follows a digit (TR7075 is a train)."""
    if not any(char.isalpha() for char in text) or sum(char.isdecimal() for char in text) < 2:
        return False
    return len(text) >= 8 or (len(text) >= 6 and _MIXED.search(text) is not None)


def _is_bare(text: str) -> bool:
    """A turn that is nothing but a number of four digits or a code ("pct 541") answers a question for one."""
    return sum(char.isdecimal() for char in text) >= 3 and not _ordinary_start(text)


def _not_time(text: str) -> bool:
    return not text.lower().endswith(("am", "pm"))


def _compile(pattern: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def _has(*parts: str) -> Callable[[str], bool]:
    return lambda text: any(part in text for part in parts)


def _said_to_be(kind: str, words: str, accept: Callable[[str], bool], label: str = f"{_LABEL}*") -> Recogniser:
    """A number that the words before it say is of a kind: "my booking number is ..."."""
    pattern = _compile(rf"\b(?:{words}){label}{_SAID}(?<![\w-]){_IDENTIFIER}(?![\w%])")
    return Recogniser(kind, pattern, accept=accept, cued=True)


_DATE = (
    r"(?P<value>(?<![\w-])\d{1,4}[-/. ]\d{1,2}[-/. ]\d{2,4}(?![\w-])|[A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?,? \d{4}"
    r"|\d{1,2}(?:st|nd|rd|th)?(?: of)? [A-Z][a-z]+,? \d{2,4})"
)
_NUMBERED = ("secret", "ssn", "card", "account", "order", "phone")
"""Types whose values are digits when asked for, in the order they are believed."""
_ZIP = r"\b(?:zip|post) ?codes?(?: is|:)* *(?P<value>\w{2,4} ?\d\w{0,3})\b"
_LOGIN = r"\b(?:user ?(?:name|id)|login)(?: is|:|=)+ *(?P<value>[\w.-]*\d[\w.-]*)"
_PLATE = r"\blicen[cs]e(?: plate| number| is|:)*\s*['\"]?(?P<value>[A-Z0-9]{2,4}[ -]?[A-Z0-9]{2,4})\b"
_BARE = _compile(
    r"^\W*(?:(?:sorry|yes|yeah|sure|ok|okay|oh|its|it|is)\W+)*"
    r"(?P<value>\d{4,30}(?: (?:and )?\d{4,30})*|[a-z]{1,4}(?: ?\d{1,12} ?[a-z]{0,3}){1,4})\W*$"
)
_ORDER = (
    r"orders?|bookings?|reservations?|confirmations?|booking confirmation|references?|ref|tracking|tickets?|cases?"
    r"|invoices?|polic(?:y|ies)|member|membership|customer|serial|claim|transaction|parcel|shipment|flight booking"
)
_ACCOUNT = r"accounts?|acct?|a/c|ac|routing|sort code|loyalty|frequent flyer"
_SSN = "ssn|social security"
_CODE = "pin|cvv|cvc|security code|passcode"
_CARD = r"(?:credit |debit |bank )?cards?|cc|credit|debit"
_CUE = re.compile(
    rf"(?i)\b(?:{_ORDER}|{_ACCOUNT}|{_CARD}|{_SSN}|{_CODE}|user ?name|user ?id|login|licen[cs]e|zip|post ?code"
    r"|birth|date of birth|d\.?o\.?b|born)"
).search
_MAY_BE_SECRET = re.compile(r"(?i)\b(?:pass(?:word|code|phrase)|pin|security|cv)").search
RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser("url", _compile(r"\b(?:https?://|www\.)[^\s<>]+[^\s<>.,;:!?)'\"]"), _has("://", "www.", "WWW.")),
    Recogniser("email", _compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"), _has("@")),
    Recogniser(
        "email",
        _compile(
            r"\b[\w.]{1,64}(?: \d{1,8})? ?(?: at |@)? ?(?:g|hot|yahoo|rocket|proton|e)?-?mail ?(?: dot |\.)? ?com\b"
            r"|\b[\w.]{1,64}(?: \d{1,8})? ?(?: at |@)? ?(?:yahoo|outlook|aol|icloud) ?(?: dot |\.)? ?com\b"
        ),
        lambda text: "com" in text and any(host in text for host in ("mail", "yahoo", "outlook", "aol", "icloud")),
    ),
    Recogniser("handle", _compile(r"(?<![\w@])@\w+"), _has("@")),
    Recogniser("ip", _compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])"), _has(".")),
    Recogniser("iban", _compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b", re.NOFLAG)),
    Recogniser("card", _compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])"), accept=_is_card),
    Recogniser("ssn", _compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), _has("-")),
    _said_to_be("ssn", _SSN, _has_value),
    Recogniser("phone", _compile(r"(?<![\w.$£€/-])(?:\+ ?)?\(?\d[\d ().-]{5,20}\d(?![\w/]|-\d)"), accept=_is_phone),
    Recogniser(
        "birthdate",
        _compile(
            r"\b(?:date of birth|birth ?date|birthday|d\.?o\.?b|born)\.?(?: is| on|:|,)*\s+"
            rf"{_DATE}"
        ),
        cued=True,
    ),
    Recogniser("birthdate", _compile(r"^\W*(?P<value>\d{1,2}[/.-]\d{1,2}[/.-](?:19\d\d|200\d))\W*$")),
    Recogniser("number", _compile(_PLATE), accept=_has_value, cued=True),
    Recogniser(
        "secret",
        _compile(
            r"\b(?:pass(?:word|code|phrase)|pin(?: (?:number|code))?|security (?:answer|code)|cvv|cvc)\s*(?:is|:|=)\s*"
            r"(?P<value>[^\s<>]*[^\s<>.,!?)\]\"'])"
        ),
        lambda text: _MAY_BE_SECRET(text) is not None,
        _is_secret,
    ),
    _said_to_be("secret", _CODE, _has_value),
    _said_to_be("card", _CARD, _is_identifier),
    _said_to_be("account", _ACCOUNT, _is_identifier),
    _said_to_be("order", _ORDER, _has_value, f"{_LABEL}+"),
    _said_to_be("order", _ORDER, _is_identifier),
    Recogniser("handle", _compile(_LOGIN), cued=True),
    Recogniser("address", streets.COMMON, accept=streets.is_street),
    Recogniser("address", streets.RARER, accept=streets.is_named),
    Recogniser("address", streets.CUED, accept=streets.is_named),
    Recogniser("address", streets.ANSWER, accept=streets.is_named, asked=True),
    Recogniser("address", streets.LOWER, accept=streets.is_named, asked=True),
    Recogniser("address", _compile(r"\b[A-Z]{2},? +\d{5}(?:-\d{4})?(?![\w-])", re.NOFLAG)),
    Recogniser("address", _compile(_ZIP), accept=_has_value, cued=True),
    Recogniser("address", _compile(r"\b[a-z]{1,2}\d{1,2}[a-z]?,? ?\d[a-z]{2}\b"), accept=_not_time),
    Recogniser("birthdate", _compile(_DATE), asked=True),
    *(Recogniser(kind, codes.ANSWER, accept=codes.is_answer, asked=True) for kind in _NUMBERED),
    Recogniser("address", streets.POSTCODE, asked=True),
    Recogniser("number", _BARE, accept=_is_bare),
    Recogniser("order", codes.CODE, accept=codes.is_code),
    Recogniser("order", codes.SPACED, accept=codes.is_spaced),
    Recogniser("number", _compile(r"(?<![\w-])[A-Z0-9]{6,}(?![\w-])", re.NOFLAG), accept=_is_code),
    Recogniser("number", _compile(r"(?<![\w$£€.,:/-])\d{6,}(?![\w%]|[.,:]\d)")),
)  # fmt: skip
"""In the order they are tried. Those after `handle` find only what holds a digit."""


def replaced(text: str, replace: Callable[[str, str], str], asked: Asked = ()) -> str:
    """`text` with every value found replaced by what `replace(type, value)` gives; `asked` is what it answers."""
    digits = _HAS_DIGIT(text) is not None
    if not digits and "@" not in text and "com" not in text and "www." not in text and "://" not in text:
        return text if not _MAY_BE_SECRET(text) else _apply(_PASSWORD, text, replace)
    cued = digits and _CUE(text) is not None
    for recogniser in RECOGNISERS if digits else _WITHOUT_DIGITS:
        if (
            (cued or not recogniser.cued)
            and (not recogniser.asked or recogniser.type in asked)
            and recogniser.needs(text)
        ):
            text = _apply(recogniser, text, replace)
    return text


_PASSWORD = next(each for each in RECOGNISERS if each.type == "secret")
_WITHOUT_DIGITS = (*RECOGNISERS[:4], _PASSWORD)


def _apply(recogniser: Recogniser, text: str, replace: Callable[[str, str], str]) -> str:
    def substitute(match: re.Match[str]) -> str:
        value = match["value"] if "value" in recogniser.pattern.groupindex else match[0]
        if value is None or not recogniser.accept(value):
            return match[0]
        start = match.start("value") - match.start() if value != match[0] else 0
        return match[0][:start] + replace(recogniser.type, value) + match[0][start + len(value) :]

    return recogniser.pattern.sub(substitute, text)
