"""Codes that identify: letters and digits mixed as in "QF-48213", and not as in "500ml", "iPhone 12" or "10am"."""

from __future__ import annotations

import re

from dialoom.corpora.redaction.words import ORDINARY_WORDS, words_of

_PUBLIC = (
    "flights?|trains?|bus(?:es)?|lines?|models?|rooms?|gates?|platforms?|routes?|version|error|errors|type|sizes?"
    "|terminal|channel|page|highway|road|route|article|windows|android|ios|firmware|build"
)
_SHAPE = r"[A-Za-z0-9]{1,24}(?:[-/][A-Za-z0-9]{1,24}){0,5}"
_START, _END = r"(?<![\w.$£€@/'’-])", r"(?![\w%@/]|-\w|[.,:]\d| (?:train|flight|bus|line)\b)"
CODE = re.compile(
    rf"\b(?:{_PUBLIC})(?: number| no\.?| code)?:? [#]?{_SHAPE}(?!\w)"
    rf"|{_START}(?P<value>(?=[A-Za-z/-]{{0,24}}\d){_SHAPE}){_END}",
    re.IGNORECASE,
)
"""Candidates for `is_code` (group `value`); what is said to be a flight, a model or the like is passed over."""
SPACED = re.compile(rf"{_START}(?P<value>[A-Z]{{1,4}} \d{{5,12}}){_END}")
"""Candidates for `is_spaced`: "XX 0039201"."""

_GROUP = re.compile(r"\d+|[A-Za-z]+")
_YEAR = re.compile(r"(?:19|20)\d\d").fullmatch
_DATE = re.compile(r"\d{1,2}([-/.])\d{1,2}\1\d{2,4}|\d{4}([-/.])\d{1,2}\2\d{1,2}").fullmatch
_SIZE = re.compile(r"\d+(?:x\d+)+[a-z]{0,2}", re.IGNORECASE).fullmatch
_UNITS = words_of("""
gb mb tb kb hz khz mhz ghz v w kw kwh mah ah kg g mg ml l cl cm mm m km in ft lb lbs oz am pm h hr hrs min mins s sec
secs p k x fps bps mbps kbps gbps eur usd gbp inr aud cad jpy chf rs st nd rd th pcs pc days day yrs yr am/pm ppm dpi
""")
_PUBLIC_PREFIXES = words_of("""
rtx gtx rx ddr usb hdmi iso iec en din ral rfc kb cve aes sha md utf mp win ios http https lte wpa cr ps gt covid xbox
jan feb mar apr may jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun fy cy est gmt utc usd eur gbp inr aud
cad jpy chf rs top vol ch no nr par ver rev v
""")


def is_code(token: str) -> bool:
    """Whether a token is in the shape of an identifier: a few letters and three digits or more, or more groups.

    Passed over: units ("500ml"), sizes ("1600x900"), times, dates, years ("FY2023") and public series ("ISO9001").
    """
    groups = _GROUP.findall(token)
    letters = [group for group in groups if group.isalpha()]
    numbers = [group for group in groups if group.isdecimal()]
    count = sum(map(len, numbers))
    if not letters or not numbers or count < 3 or len(token) < 5 or max(map(len, letters)) > 4 or _SIZE(token):
        return False
    if any(group.lower() in _UNITS for group in groups[1:]) or groups[0].lower() in _PUBLIC_PREFIXES:
        return False
    if any(group.lower() in _PUBLIC_PREFIXES for group in letters):
        return False
    joined = "-" not in token and "/" not in token
    if groups[0].isdecimal():  # "48213QF", "12AB34": with letters in lower case it is more often a measure
        return count >= 4 and (len(numbers) > 1 or count >= 5) and token == token.upper()
    if joined and len(groups) == 2:
        lower = letters[0] != letters[0].upper()
        return _YEAR(numbers[0]) is None and (count >= 4 or (len(letters[0]) > 1 and not lower))
    return count >= 4 or len(numbers) == 1


def is_spaced(value: str) -> bool:
    """Whether capitals and digits apart are an identifier: not "IN 20000" or "USD 12000"."""
    letters = value.split()[0].lower()
    return letters not in ORDINARY_WORDS and letters not in _PUBLIC_PREFIXES and letters not in _UNITS


ANSWER = re.compile(
    rf"(?<!in )(?<!since )(?<!on )(?<![\w.$£€@/<'’-])"
    rf"(?P<value>(?:(?!(?:OK|NO|YES|IS|IT|ITS|ID|SO|HI|AND|THE|MY|OR|FOR) )[A-Z]{{1,4}} )?"
    rf"(?=[A-Za-z/-]{{0,24}}\d){_SHAPE}"
    rf"(?: \d[\dA-Za-z]{{1,11}}){{0,5}})(?![\w%@/>]|-\w|[.,:]\d)"
)
"""Candidates for `is_answer` in the answer to a question for a number."""


def is_answer(value: str) -> bool:
    """Whether a value that answers a question for a number is one: four digits, or letters with two and more."""
    first = value.split()[0].lower()
    groups = _GROUP.findall(value)
    count = sum(len(group) for group in groups if group.isdecimal())
    if first in ORDINARY_WORDS or any(group.lower() in _UNITS for group in groups[1:]) or _SIZE(value):
        return False
    if _DATE(value):
        return False
    if groups[0].lower() in _PUBLIC_PREFIXES and groups[0].islower():
        return False
    return count >= 4 or (count >= 2 and any(group.isalpha() for group in groups) and count + len(groups) >= 4)
