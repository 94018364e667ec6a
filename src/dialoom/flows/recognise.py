"""Recognisers: text to slot values without a model. Each value comes with the span of text it was read from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from dialoom.flows import words
from dialoom.flows.moments import find_moment
from dialoom.flows.slots import (
    ByChoices,
    ByDate,
    ByFunction,
    ByNames,
    ByNumber,
    ByPattern,
    ByText,
    ByYesNo,
    Slot,
    checked,
)
from dialoom.flows.words import Span, overlap

_YES = (
    "yes,yeah,yep,yup,y,sure,ok,okay,of course,please do,correct,right,that's right,that is right,absolutely,"
    "definitely,go ahead,sounds good,fine,exactly,i do,i would,yes please,perfect,great"
)
_NO = (
    "no,nope,nah,n,not really,no thanks,no thank you,nothing,nothing else,that's all,that is all,that's it,"
    "that is it,none,not now,don't,do not,wrong,i'm done,i am done,never"
)
_ONES = (
    "zero,one,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fourteen,fifteen,sixteen,"
    "seventeen,eighteen,nineteen"
)
YES, NO, _UNITS = (tuple(listed.split(",")) for listed in (_YES, _NO, _ONES))
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS: dict[str, float] = {
    **{word: float(value) for value, word in enumerate(_UNITS)},
    **{word: 10.0 * value for value, word in enumerate(_TENS, 2)},
    **{f"{ten}-{one}": 10.0 * t + o for t, ten in enumerate(_TENS, 2) for o, one in enumerate(_UNITS[1:10], 1)},
    "a couple": 2.0,
    "a dozen": 12.0,
    "half a dozen": 6.0,
}
_DIGITS = re.compile(r"(?<![\w.,])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w])")
WEAK = (ByNumber, ByDate, ByYesNo, ByText)
"""Recognisers that could read almost any message: they never overwrite a filled slot unless the user corrects."""


@dataclass(frozen=True, slots=True)
class Match:
    """A value for a slot and where it was read; several `rivals` when the words fit more than one value equally."""

    slot: str
    value: Any
    start: int
    end: int
    rivals: tuple[str, ...] = ()


class Reading(NamedTuple):
    """What a recogniser of the application may return: the value and where it stands in the text."""

    value: Any
    start: int
    end: int


@dataclass
class Hearing:
    """One message and what of it has already been understood; a piece of text is understood once per turn."""

    text: str
    now: datetime
    language: str = "en"
    memory: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    taken: list[Span] = field(default_factory=list)

    def free(self, start: int, end: int) -> bool:
        """Whether nothing has been read from this span yet."""
        return not any(overlap((start, end), span) for span in self.taken)

    def take(self, match: Match) -> None:
        """Mark the span of a match as understood."""
        self.taken.append((match.start, match.end))


def recognise(name: str, slot: Slot, hearing: Hearing) -> Match | None:
    """The first acceptable value for a slot in what is not yet understood, or None.

    A list slot whose items have a recogniser takes every value found. Values the slot refuses (bounds, patterns) are
    returned all the same: the caller says what is wrong with them.
    """
    if slot.type == "list" and slot.items is not None and slot.items.recogniser is not None:
        found = sorted(_all(name, slot.items, hearing), key=lambda match: match.start)
        clear = [match for match in found if not match.rivals]
        if not clear:
            return found[0] if found else None
        values = list(dict.fromkeys(match.value for match in clear))
        return Match(name, values, clear[0].start, clear[-1].end)
    return next(iter(_all(name, slot, hearing)), None)


def _all(name: str, slot: Slot, hearing: Hearing) -> list[Match]:
    match slot.recogniser:
        case ByChoices(tolerance=tolerance):
            return _phrases(name, slot.synonyms(), hearing, tolerance)
        case ByNames() as by:
            listed = hearing.memory.get(by.source) if by.source else None
            names = [str(item) for item in listed] if isinstance(listed, Sequence) else by.names
            return _phrases(name, {item: [item] for item in names}, hearing, by.tolerance)
        case ByPattern() as by:
            return [
                Match(name, found.group(by.group), found.start(), found.end())
                for found in re.finditer(by.pattern, hearing.text[: words.MAX_TEXT], re.IGNORECASE)
                if hearing.free(found.start(), found.end()) and found.group(by.group)
            ]
        case ByNumber() as by:
            return _numbers(name, slot, by, hearing)
        case ByDate() as by:
            moment = find_moment(hearing.text[: words.MAX_TEXT], by.by, hearing.now, hearing.language, by.prefer)
            if moment is None or not hearing.free(moment.start, moment.end):
                return []
            return [Match(name, checked(Slot(type=by.by), moment.value), moment.start, moment.end)]
        case ByYesNo() as by:
            return _yes_no(name, by, hearing)
        case ByText():
            said = hearing.text.strip()
            return [Match(name, said, 0, len(hearing.text))] if said and not hearing.taken else []
        case ByFunction() as by:
            value = hearing.functions[by.function](hearing.text) if by.function in hearing.functions else None
            if value is None:
                return []
            read = value if isinstance(value, Reading) else Reading(value, 0, len(hearing.text))
            return [Match(name, *read)] if hearing.free(read.start, read.end) else []
    return []


def _phrases(name: str, values: Mapping[str, Sequence[str]], hearing: Hearing, tolerance: float) -> list[Match]:
    owner: dict[str, list[str]] = {}
    for value, phrases in values.items():
        for phrase in phrases:
            owner.setdefault(phrase, []).append(value)
    found = [
        item
        for item in words.find(owner, hearing.text, tolerance)
        if hearing.free(item.start, item.end) and not words.negated(hearing.text, item.start)
    ]
    by_span: dict[Span, list[str]] = {}
    for item in found:
        by_span.setdefault((item.start, item.end), []).extend(owner[item.phrase])
    if not by_span:
        by_span = _by_part(owner, hearing)
    matches = []
    for (start, end), names in sorted(by_span.items()):
        distinct = tuple(dict.fromkeys(names))
        matches.append(Match(name, distinct[0], start, end, distinct if len(distinct) > 1 else ()))
    return matches


def _by_part(owner: Mapping[str, Sequence[str]], hearing: Hearing) -> dict[Span, list[str]]:
    """Words that are a part of a longer name: 'Smith' for 'Dr Anna Smith'."""
    parts: dict[str, list[str]] = {}
    for phrase, values in owner.items():
        pieces = [word for word, _, _ in words.tokens(phrase)]
        for piece in pieces if len(pieces) > 1 else ():
            if len(piece) > 2:
                parts.setdefault(piece, []).extend(values)
    return {
        (start, end): parts[word]
        for word, start, end in words.tokens(hearing.text)
        if word in parts and hearing.free(start, end)
    }


def _numbers(name: str, slot: Slot, by: ByNumber, hearing: Hearing) -> list[Match]:
    digits = _DIGITS.finditer(hearing.text[: words.MAX_TEXT])
    matches = [(float(found.group().replace(",", "")), found.start(), found.end()) for found in digits]
    spelled = {**NUMBER_WORDS, **by.words}
    matches += [(spelled[item.phrase], item.start, item.end) for item in words.find(spelled, hearing.text)]
    whole = [
        Match(name, int(value) if value.is_integer() else value, start, end)
        for value, start, end in sorted(matches, key=lambda entry: entry[1])
        if hearing.free(start, end)
    ]
    return [match for match in whole if slot.type != "integer" or isinstance(match.value, int)]


def _yes_no(name: str, by: ByYesNo, hearing: Hearing) -> list[Match]:
    meaning = {**dict.fromkeys([*NO, *by.no], False), **dict.fromkeys([*YES, *by.yes], True)}
    found = [
        item
        for item in words.find(meaning, hearing.text)
        if hearing.free(item.start, item.end) and words.opens_clause(hearing.text, item.start)
    ]
    found.sort(key=lambda item: (item.start, item.start - item.end))
    return [Match(name, meaning[item.phrase], item.start, item.end) for item in found[:1]]
