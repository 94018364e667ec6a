"""Finding phrases in what people type: tokens with positions, tolerance for misspelling, clauses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dialoom.errors import MissingExtra

MIN_TOLERANT = 4
"""Shorter words must be exact: 'no' is not 'on'."""
SWAPPED = 90.0
"""Likeness of words with two neighbouring letters swapped."""
MAX_TEXT = 2000
"""Characters of a message that recognisers look at."""

_TOKEN = re.compile(r"\w+(?:['’\-]\w+)*")
_NEGATED = re.compile(
    r"(?:\bnot|\bwithout|\bdon['’]t|n['’]t want|n['’]t like)\s+(?:an?\s+|the\s+|any\s+)?$", re.IGNORECASE
)
_FILLERS = {"um", "uh", "well", "oh", "hmm", "er", "ah", "so", "hi", "hello", "hey"}

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase found in a text: which one, where, and how alike (0 to 100)."""

    phrase: str
    start: int
    end: int
    score: float


def tokens(text: str) -> list[tuple[str, int, int]]:
    """Words folded to lower case, with where they begin and end."""
    return [
        (match.group().casefold().replace("’", "'"), match.start(), match.end())
        for match in _TOKEN.finditer(text[:MAX_TEXT])
    ]


def find(phrases: Iterable[str], text: str, tolerance: float = 100) -> list[Found]:
    """Every place where one of the phrases stands, best first, then leftmost; overlapping weaker finds are dropped."""
    spoken = tokens(text)
    found: list[Found] = []
    by_length: dict[int, dict[str, str]] = {}
    for phrase in phrases:
        parts = [word for word, _, _ in tokens(phrase)]
        if parts:
            by_length.setdefault(len(parts), {}).setdefault(" ".join(parts), phrase)
    for length, known in by_length.items():
        for at in range(len(spoken) - length + 1):
            window = spoken[at : at + length]
            joined = " ".join(word for word, _, _ in window)
            for phrase, score in _alike(joined, known, tolerance):
                found.append(Found(known[phrase], window[0][1], window[-1][2], score))
    found.sort(key=lambda item: (-item.score, -(item.end - item.start), item.start, item.phrase))
    kept: list[Found] = []
    for item in found:
        rivals = [other for other in kept if overlap((item.start, item.end), (other.start, other.end))]
        if all((item.start, item.end, item.score) == (other.start, other.end, other.score) for other in rivals):
            kept.append(item)
    return kept


def _alike(joined: str, known: dict[str, str], tolerance: float) -> Sequence[tuple[str, float]]:
    if joined in known:
        return [(joined, 100.0)]
    for plural in ("s", "es"):
        if joined.endswith(plural) and joined[: -len(plural)] in known and len(joined) > MIN_TOLERANT:
            return [(joined[: -len(plural)], 99.0)]
    if tolerance >= 100 or len(joined) < MIN_TOLERANT:
        return []
    try:
        from rapidfuzz import fuzz, process
    except ImportError as error:
        raise MissingExtra("Tolerant matching", "flows") from error
    close = process.extract(joined, known.keys(), scorer=fuzz.ratio, score_cutoff=tolerance, limit=3)
    found = [(phrase, score) for phrase, score, _ in close if len(phrase) >= MIN_TOLERANT]
    return found or [(phrase, SWAPPED) for phrase in known if _swapped(joined, phrase)]


def _swapped(a: str, b: str) -> bool:
    """Whether two words differ in two neighbouring letters that changed places, the slip that ratios overrate."""
    differ = [at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
    if len(a) != len(b) or len(a) <= MIN_TOLERANT or len(differ) != 2 or differ[1] != differ[0] + 1:
        return False
    first, second = differ
    return a[first] == b[second] and a[second] == b[first]


def overlap(a: Span, b: Span) -> bool:
    """Whether two spans share a character."""
    return a[0] < b[1] and b[0] < a[1]


def negated(text: str, start: int) -> bool:
    """Whether what begins at `start` is refused: 'not ...', 'without ...', "don't want ..." ."""
    return bool(_NEGATED.search(text[:start]))


def opens_clause(text: str, start: int) -> bool:
    """Whether a phrase stands at the beginning of the message or after a stop, fillers aside."""
    before = re.split(r"[.,;:!?\n]|\s-\s", text[:start])[-1]
    return all(word in _FILLERS for word, _, _ in tokens(before))


def clauses(text: str, joiners: Sequence[str]) -> list[Span]:
    """The parts of a message between stops and joining words."""
    words = "|".join(re.escape(word) for word in sorted(joiners, key=len, reverse=True))
    stops = rf"[.;,!?\n]+|\b(?:{words})\b" if words else r"[.;,!?\n]+"
    spans: list[Span] = []
    at = 0
    for match in re.finditer(stops, text, re.IGNORECASE):
        spans.append((at, match.start()))
        at = match.end()
    spans.append((at, len(text)))
    return [(start, end) for start, end in spans if text[start:end].strip()]
