"""How near a reply comes to what can be said: the same grammars with more and more left open."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dialoom.domains.calendar.clues import WEEKDAYS
from dialoom.domains.calendar.times import MONTHS
from dialoom.generation import Grammar, Recogniser
from dialoom.generation.grammar import Production

LEVELS = {
    1: "skeleton: any words for when, who, where",
    2: "kinds: any days, times, counts, names",
    3: "copies: any days, times and counts",
    4: "coherence: any times and lengths",
}
"""What each level leaves open; level 5 leaves nothing open and is what `derived` counts."""

# Marks are characters of the private use area, which no reply contains.
_ANY, _TIME, _DAY, _NUMBER, _VERDICT, _QUOTE, _NAME = map(chr, range(0xE000, 0xE007))
_WORDS = (
    "I|You|Your|The|There|It|That|This|Yes|No|Here|Looks|Unfortunately|Which|Not|Nobody|They|He|She|We|AM|PM|Is|My|For"
)
_OPEN = {
    4: [(r"\d{1,2}:\d\d( [AP]M)?", _TIME), (r"(\d+|an?|half an) (and a half )?(hours?|minutes?)", _TIME)],
    3: [
        (rf"\b({'|'.join([*WEEKDAYS, *MONTHS])}|today|tomorrow|yesterday|tonight|\d+(st|nd|rd|th))\b", _DAY),
        (r"\b(one|\d+)\b", _NUMBER),
        (r"\b(Yes|No)\b", _VERDICT),
    ],
    2: [(r'"[^"]*"', _QUOTE), (rf"\b(?!(?:{_WORDS})\b)[A-Z][\w'-]*( (?!(?:{_WORDS})\b)[A-Z][\w'-]*)*", _NAME)],
    1: [(rf"[{_TIME}-{_NAME}]", _ANY)],
}


def level(reply: str, grammars: Iterable[Grammar]) -> int:
    """The highest level from 0 to 4 at which one of the grammars holds the reply."""
    best = 0
    for grammar in grammars:
        while best < 4 and _holds(grammar, reply, best + 1):
            best += 1
    return best


def _holds(grammar: Grammar, reply: str, level: int) -> bool:
    text = opened(reply, level)
    productions = [
        production._replace(symbols=tuple(opened(s, level) if isinstance(s, str) else s for s in production.symbols))
        for production in grammar.productions
    ]
    if level == 1:
        words = set(re.findall(r"[^\s.]+", text))
        context = [number for number, pair in enumerate(grammar.pairs) if pair.type == "CONTEXT"]
        productions += [Production(head, (f" {word}", head)) for head in context for word in words]
        productions += [Production(head, ()) for head in context]
    return Recogniser(Grammar(grammar.start, grammar.pairs, tuple(productions))).accepts(text)


def opened(text: str, level: int) -> str:
    """The text with marks in place of the values that a level leaves open."""
    for number in range(4, level - 1, -1):
        for pattern, mark in _OPEN[number]:
            text = re.sub(pattern, mark, text)
    return text
