"""Street addresses: a house number, a name, a kind of street or a word that says it is where somebody lives."""

from __future__ import annotations

import re

from dialoom.corpora.redaction.words import ORDINARY_WORDS, words_of

_COMMON = (
    "street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|way|court|ct|place|pl|square|sq|highway|hwy|terrace"
    "|parkway|pkwy|crescent|circle|cir"
)
_RARER = (
    "Rise|Bend|Row|Mews|Close|Quay|Wharf|Walk|Hill|Green|Grove|Parade|Yard|Gardens|Gate|Path|Alley|Bank|Bridge|Vale"
    "|View|Villas|Loop|Trail|Pike|Cove|Ridge|Heights|Park|Passage|Promenade|Esplanade|Field|Fields|Meadow|Meadows"
    "|Orchard|Brow|Croft|Embankment|Strand|Street|Road|Lane|Avenue"
)
_BEFORE = r"(?:\b(?i:flat|apt|apartment|unit|suite|floor)\.? \w{1,5},? )?"
_NUMBER = _BEFORE + r"(?<![\w.,:$£€#/-])\d{1,6}[a-zA-Z]?,? "
_FLAT = r"(?:,? (?:[Aa]pt|[Aa]partment|[Uu]nit|[Ss]uite|[Ss]te|[Ff]lat|[Ff]loor|#)\.? ?\w+)"
_NO_TOWN = (
    r"(?!(?:Thanks?|Please|But|And|The|It|It's|My|Is|Can|Could|Would|Will|Yes|No|Not|Ok|Okay|So|We|You|Your|That|This"
    r"|Mr|Mrs|Ms|Dr|If|For|As|Is|At|To)\b)"
)
_CAPITAL = r"[A-Z][\w'’.-]*[\w'’]"
_TOWN = rf"(?:, {_NO_TOWN}{_CAPITAL}(?: {_NO_TOWN}{_CAPITAL}){{0,2}})"
_CODE = r"(?:,? (?:[A-Z]{1,2}\d{1,2}[A-Z]? ?\d[A-Z]{2}|\d{4,5}(?:-\d{4})?)(?![\w.,]?\d))"
_AFTER_CODE = rf"(?:{_CODE}(?: {_NO_TOWN}{_CAPITAL}){{0,2}})"
_TAIL = rf"{_FLAT}?{_TOWN}{{0,2}}{_AFTER_CODE}?{_TOWN}?"
COMMON = re.compile(
    rf"{_BEFORE}(?<![\w.$£€-])(?i:\d{{1,6}}[a-z]?,? (?:[a-z0-9.'’]+ ){{1,4}}?(?:{_COMMON})\b"
    r"(?:,? (?:apt|apartment|unit|suite|ste|flat|#)\.? ?\w+)?(?:,? +(?:[a-z.]+,? +){1,3}\d{5}(?:-\d{4})?\b)?)"
    rf"{_TOWN}{{0,2}}{_AFTER_CODE}?"
)
"""With a kind of street that is hardly ever anything else; candidates for `is_street`."""
RARER = re.compile(rf"{_NUMBER}(?:{_CAPITAL} ){{1,3}}?(?:{_RARER})\b{_TAIL}")
"""With a kind of street that is also a word, all with capitals; candidates for `is_named`."""
CUED = re.compile(
    r"(?:\b(?:(?:live|living|stay|staying) (?:at|in|on)|address(?: is|:| to)?|deliver(?:ed|y)?(?: it| that| them)? to"
    r"|(?:ship|send|sent|forward|moved?|moving|changed?|update|updated|goes|go|deliver)(?: it| that| them)? to|it's|its"
    rf"|it is)):? (?P<value>{_NUMBER}{_CAPITAL}(?: {_NO_TOWN}{_CAPITAL}){{0,2}}{_TAIL})",
)
"""After words that say where something goes; candidates for `is_named`."""
ANSWER = re.compile(
    rf"{_NUMBER}{_CAPITAL}(?: {_NO_TOWN}{_CAPITAL}){{0,2}}{_TAIL}"
    rf"|(?<![\w'’.]){_CAPITAL}(?: {_CAPITAL}){{0,2}} \d{{1,4}}[a-z]?\b(?:, \d{{4,5}} {_CAPITAL}|{_TAIL})(?=\W*$)"
)
"""In an answer to a question for an address; candidates for `is_named`."""
LOWER = re.compile(
    r"^\W*(?:(?:it'?s|its|sure|yes|ok|okay|at|to|is|i live|we live|please)\W+){0,4}"
    rf"(?P<value>{_NUMBER}[a-z][a-z'’]+(?: [a-z'’]+){{1,4}}(?:, ?[a-z'’]+(?: [a-z'’]+)?){{0,2}}"
    r"(?:,? \d{4,5})?)(?=\W*$)"
)
"""A whole answer in lower case to a question for an address; candidates for `is_named`."""
POSTCODE = re.compile(
    r"(?<![\w.,:$£€#/-])(?P<value>\d{4,6}|[A-Za-z]{1,2}\d[A-Za-z\d]? ?\d[A-Za-z]{2})(?![\w%]|[.,:]\d)"
)

_STREETS = words_of(_COMMON.replace("|", " "))
_STREET_WORDS = words_of("north south east west new old park church main market station high school center central")
_MONTHS_AND_UNITS = words_of("""
january february march april may june july august september october november december euros pounds dollars pieces
pairs pm am o'clock mins mb gb kg km cm mm ml x times percent stars star inch grams litres liters metres meters
boxes bottles sets items parcels
""")
_WORD = re.compile(r"[A-Za-z']+")


def is_street(text: str) -> bool:
    """A house number, a name that is no ordinary phrase, a kind of street: "10 minutes drive" is none."""
    words = [word.lower() for word in _WORD.findall(text)]
    stop = next(i for i, word in enumerate(words) if word in _STREETS)
    named = [word for word in words[:stop] if word not in ("n", "s", "e", "w", "th", "st", "nd", "rd")]
    return not any(word in ORDINARY_WORDS - _STREET_WORDS for word in named)


def is_named(text: str) -> bool:
    """Whether the first word beside the number may name a street: not "5 Minutes Walk", "3 December"."""
    word = _WORD.findall(text)
    first = next((each.lower() for each in word if len(each) > 1), "")
    return first not in ORDINARY_WORDS - _STREET_WORDS and first not in _MONTHS_AND_UNITS
