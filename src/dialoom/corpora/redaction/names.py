"""Personal names by the words around them: greetings, introductions, signatures, answers to "your name, please?"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from dialoom.corpora.redaction.questions import asks_name
from dialoom.corpora.redaction.words import AMBIGUOUS_NAMES, GIVEN_NAMES, ORDINARY_WORDS, words_of
from dialoom.dialogue import Role

CERTAIN_NAMES = GIVEN_NAMES - AMBIGUOUS_NAMES
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")
_GAP = re.compile(r" {1,2}")
_STRONG = re.compile(
    r"\b(?:my (?:full |first |last |sur)?names?(?: is|['’]s| its| would be)?:? "
    r"|(?:full |first |last |sur)names? ?(?:is|:|-) ?|names? ?(?:is|:|would be) ?|name['’]s "
    r"|under the names?(?: of)? "
    r"|(?:please|can|just|you may|you can|friends|everyone)(?: all)? call me )|^\W*name (?=[^\W\d_]+\W*$)",
    re.IGNORECASE,
)
_WEAK = re.compile(r"\b(?:i['’]?m|i am|this is|name|call me) ", re.IGNORECASE)
_IT = re.compile(r"\b(?:it['’]?s|it is) ", re.IGNORECASE)
_UNDER = re.compile(
    r"\b(?:under|in the name of|on behalf of|(?:registered|belongs|addressed) to|(?:ordered|booked|bought) by) ",
    re.IGNORECASE,
)
_MADE_FOR = re.compile(
    r"\bmy (?:wife|husband|mother|mum|mom|father|dad|son|daughter|partner|sister|brother|friend|colleague),? "
    r"|\b(?:orders?|bookings?|reservations?|parcels?|packages?|appointments?|accounts?|delivery|subscription|invoices?)"
    r"(?: (?:is|was|made|booked))? for ",
    re.IGNORECASE,
)
_FOR = re.compile(r"\bfor (?=[A-Z])")
_ADDRESSED = re.compile(r"\b(?:you are|you['’]re) ", re.IGNORECASE)
_CALLED = re.compile(r"\b(?:called|named) ", re.IGNORECASE)
_GREETING = re.compile(
    r"(?:\b(?:hi|hello|hey|hiya|dear|greetings|good (?:morning|afternoon|evening|day)|welcome(?: back)?),? +)"
    r"(?=[^\W\d_])",
    re.IGNORECASE,
)
_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Doctor|Prof|Professor|Sir|Madam)\b\.? (?=[A-Z])")
_FROM = re.compile(r" (?:from|here|speaking|calling|with|again)\b")
_VOCATIVE = re.compile(r"(?:(?<!\w)[a-z’']{2,}|[)!?.]),? (?P<name>[A-Z][a-z]{2,})(?= ?(?:[.!?,]| \^|$))")
_KIND_WORDS = re.compile(
    r"\b(?:sorry|thank|thanks|apolog|understand|appreciate|welcome|glad|concern|hear)", re.IGNORECASE
)
_SIGNED = re.compile(
    r"(?:(?:^|(?<=\s))[-–—/~]\s?|\^\s?)(?P<name>[A-Z][A-Za-z]{0,14})(?=\s*(?:\(?\d/\d\)?)?\s*(?:<[a-z-]+>\s*)*$)"
)
_REGARDS = re.compile(
    r"\b(?:regards|cheers|sincerely|thanks|ty|best|love|yours)\b[,!.]?\s*[-–—]?\s*(?P<name>[A-Z][a-z]+)\s*(?:\d/\d)?\s*$",
    re.IGNORECASE,
)
_LAST = re.compile(r"[.!?)]\s+(?P<name>[A-Z][a-z]+)\s*(?:\d/\d)?\s*$")
_BESIDE = re.compile(
    r"(?:^\W*|[,.;:)]\s+|[-–—] |\band |<[a-z]+> )(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){1,2})(?=\W*$|[,.;]|\W+<)"
)
_IDENTIFIED = re.compile(r"<(?:order|account|phone|email|card|number|birthdate|ssn|secret)>").search
_LIVES = re.compile(r"\b(?:to|for) (?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+){1,2}),? <(?:our-)?address>")
_BEFORE_NAME = re.compile(r"(?P<before>^|[.!?]\s+|\w,? |\W)(?P<name>[A-Z][a-z'’-]+[a-z]) <name>")
_ALONE = re.compile(r"(?<![\w'’&-])(?P<name>[A-Z][a-z]{1,14})(?![\w'’&-]|['’]s)")
_FILLERS = words_of("""
yes yeah yep sure ok okay hi hello of course it is its my name i am im the full this so well and under for certainly
absolutely please first last mr mrs ms dr no that's it's i'm name's that would be
""")
_ANSWERS = re.compile(r"\W*(?:$|\d|and\b|here\b|speaking\b|[a-z]{2,4} \d)").match
_NEXT = re.compile(r"[^\w]*([^\W\d_]+(?:['’][^\W\d_]+)?)")
_NEAR = 40
"""Characters looked at before and after a name."""
_CAPITAL = re.compile(r"[A-Z]").search
Kind = str
"""`name` for people, `agent` for whoever speaks for the system."""


def names_in(turns: Iterable[tuple[Role, str]], seen: set[tuple[Role, str, bool]]) -> dict[str, Kind]:
    """Names in a dialogue by the cues of its turns; turns in `seen` are passed over, others are added to it.

    Who says a name is theirs, or is addressed by it, tells whose it is; a name that both sides go by is a customer's.
    """
    found: dict[str, Kind] = {}
    for role, name, how in _cues(turns, seen):
        agents = (role is Role.SYSTEM) == (how == "own")
        kind = "mentioned" if how == "mentioned" else "agent" if agents else "name"
        if _WEIGHT[kind] > _WEIGHT[found.get(name, "")]:
            found[name] = kind
    return {name: "name" if kind == "mentioned" else kind for name, kind in found.items()}


def own_names(turns: Iterable[tuple[Role, str]]) -> list[str]:
    """The names that users say are theirs, in order."""
    return [name for role, name, how in _cues(turns, set()) if role is Role.USER and how == "own"]


_WEIGHT = {"": 0, "mentioned": 1, "agent": 2, "name": 3}


def _cues(turns: Iterable[tuple[Role, str]], seen: set[tuple[Role, str, bool]]) -> Iterator[tuple[Role, str, str]]:
    """(who says it, the name, whether it is the speaker's own, the one addressed or only mentioned)."""
    asked = False
    for role, text in turns:
        if role is Role.TOOL:
            continue
        if (role, text, asked) not in seen:
            seen.add((role, text, asked))
            yield from ((role, name, how) for name, how in _in_turn(role, text, asked))
        asked = role is Role.SYSTEM and asks_name(text)


def _in_turn(role: Role, text: str, asked: bool) -> Iterator[tuple[str, str]]:
    yield from ((name, "own") for name in _after(_STRONG, text, _believed))
    yield from ((name, "own") for name in _after(_WEAK, text, _presented))
    yield from ((name, "own") for name in _after(_IT, text, _presented if role is Role.USER else _introduced))
    yield from ((name, "addressed") for name in _after(_ADDRESSED, text, _introduced))
    yield from ((name, "mentioned") for name in _after(_CALLED, text, _introduced))
    yield from ((name, "addressed") for name in _after(_GREETING, text, _greeted if role is Role.SYSTEM else _listed))
    own = "own" if role is Role.USER else "mentioned"
    yield from ((name, own) for name in _after(_UNDER, text, _full))
    yield from ((name, "mentioned") for name in _after(_MADE_FOR, text, _full))
    yield from ((name, "mentioned") for name in _after(_FOR, text, _given_in_full))
    if asked:
        yield from ((name, "own") for name in _answered(text))
        yield from ((name, "own") for name in _pairs(_BESIDE, text))
    if role is Role.USER:
        yield from _opening(text)
    if not _CAPITAL(text):
        return
    yield from ((name, "mentioned") for name in _after(_TITLE, text, _believed))
    if role is Role.USER and _IDENTIFIED(text) and not asked:
        yield from ((name, "own") for name in _pairs(_BESIDE, text))
    yield from ((name, "mentioned") for name in _pairs(_LIVES, text))
    if "<name>" in text:
        yield from ((name, "mentioned") for name in _before_name(text))
    signed: set[str] = set()
    match: re.Match[str] | None
    for match in _SIGNED.finditer(text):
        if role is Role.SYSTEM or (match["name"].lower() not in ORDINARY_WORDS and len(match["name"]) > 2):
            signed.add(match["name"])
    for pattern in (_REGARDS, _LAST):
        if (match := pattern.search(text)) and _is_given(match["name"]):
            signed.add(match["name"])
    yield from ((name, "own") for name in sorted(signed))
    kind = role is Role.SYSTEM and _KIND_WORDS.search(text)
    for match in _VOCATIVE.finditer(text):
        name = match["name"]
        apart = name.lower() not in ORDINARY_WORDS or name.lower() in AMBIGUOUS_NAMES
        if name not in signed and (_is_given(name) or (kind and "," in match[0] and apart)):
            yield name, "addressed" if "," in match[0] else "mentioned"
    yield from ((name, "mentioned") for name in _lone(text))


Accept = Callable[[list[str], str], int]
"""How many of the words after a cue are a name, given what follows them; 0 when none is."""


def _after(cue: re.Pattern[str], text: str, accept: Accept) -> Iterator[str]:
    for match in cue.finditer(text):
        words, ends = _run(text, match.end())
        count = accept(words, text[ends[-1] :] if ends else "")
        if count:
            yield text[match.end() : ends[count - 1]].rstrip(".")


def _run(text: str, at: int, most: int = 3) -> tuple[list[str], list[int]]:
    """Up to `most` words from `at`, separated by single spaces; a word with a full stop ends the run."""
    words: list[str] = []
    ends: list[int] = []
    while len(words) < most and (match := _TOKEN.match(text, at)):
        words.append(match[0].rstrip("."))
        ends.append(match.end() - (match[0].endswith(".") and len(words[-1]) > 1))
        if match[0].endswith(".") and len(words[-1]) > 1:
            break
        gap = _GAP.match(text, match.end())
        if gap is None:
            break
        at = gap.end()
    return words, ends


def _believed(words: list[str], _rest: str) -> int:
    """After a cue that says it is a name: any words that are not ordinary, all capitalised if the first is."""
    if not words or not _may_be_name(words[0]):
        return 0
    capital = words[0][0].isupper()
    count = 1
    while count < len(words) and _may_be_name(words[count]) and words[count][0].isupper() == capital:
        count += 1
    return count


def _introduced(words: list[str], rest: str) -> int:
    """After "I'm", "this is", "it's": a known given name, or a capitalised word said to come from somewhere."""
    if words and words[0].lower() in GIVEN_NAMES and words[0].lower() not in ORDINARY_WORDS:
        return _believed(words, rest)
    if len(words) == 1 and words[0][0].isupper() and _may_be_name(words[0]) and _FROM.match(rest):
        return 1
    second = len(words) > 1 and words[1].lower() in ("from", "here", "speaking", "calling")
    return int(second and words[0][0].isupper() and _may_be_name(words[0]) and len(words[0]) > 2)


def _presented(words: list[str], rest: str) -> int:
    """After "I'm", "this is", "it's": as above, or a given name and a surname that nobody knows."""
    return _introduced(words, rest) or _full(words, rest)


def _full(words: list[str], rest: str) -> int:
    """A given name and a surname, known or not: two or three words with capitals, then a pause or an ordinary word."""
    count = 0
    while count < len(words) and _may_be_name(words[count]) and words[count][:1].isupper():
        count += 1
    if count < 2 or words[0].lower() in _PLACES or any(word.lower() in _FIRMS or word.isupper() for word in words):
        return 0
    if count < len(words):
        return count if words[count].islower() and words[count] in ORDINARY_WORDS else 0
    return count if not rest.strip() or not rest[0].isspace() or rest.split()[0].lower() in ORDINARY_WORDS else 0


def _given_in_full(words: list[str], rest: str) -> int:
    """A known given name with a surname."""
    return _full(words, rest) if words and words[0].lower() in CERTAIN_NAMES else 0


def _pairs(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Two or three words with capitals that are nothing else."""
    for match in pattern.finditer(text):
        words = match["name"].split()
        if _full(words, "") == len(words):
            yield match["name"]


def _before_name(text: str) -> Iterator[str]:
    """A first name beside a surname taken out: "Marguerite <name>", at a sentence's start only if it is known."""
    for match in _BEFORE_NAME.finditer(text):
        inside = match["before"][:1].isalnum()
        known = _is_given(match["name"]) or (inside and _may_be_name(match["name"]))
        if known and match["name"].lower() not in _TITLES:
            yield match["name"]


def _greeted(words: list[str], rest: str) -> int:
    """After a greeting by the system: a known given name, or a capitalised word before a pause."""
    if _listed(words, rest):
        return _believed(words, rest)
    count = _believed(words, rest) if words and words[0][0].isupper() and not words[0].isupper() else 0
    return count if count == len(words) and count < 3 and (not rest or rest[0] in ",.!;:-\n") else 0


def _listed(words: list[str], rest: str) -> int:
    """A known given name, in lower case only if it is nothing else."""
    if not words:
        return 0
    plain = words[0].lower() in CERTAIN_NAMES and words[0].lower() not in ORDINARY_WORDS
    return _believed(words, rest) if plain or _is_given(words[0]) else 0


def _answered(text: str) -> Iterator[str]:
    """The name that opens an answer to a question for a name, after words such as "sure, it's"."""
    at = 0
    while match := _NEXT.match(text, at):
        if match[1].lower().replace("’", "'") not in _FILLERS:
            words, ends = _run(text, match.start(1))
            count = 0 if any(word.lower() in _FIRMS for word in words) else _believed(words, "")
            short = len(text.split()) <= 4 or not text[ends[count - 1] :][:1].isspace() if count else False
            if count and (short or _is_given(words[0])):
                yield text[match.start(1) : ends[count - 1]].rstrip(".")
            return
        at = match.end()


def _lone(text: str) -> Iterator[str]:
    """Known given names with a capital that stand apart from other capitalised words (not "Charlie Chan", a place)."""
    for match in _ALONE.finditer(text):
        if match["name"].lower() not in CERTAIN_NAMES:
            continue
        before = text[max(0, match.start() - _NEAR) : match.start()].rsplit(None, 1)[-1:]
        after = text[match.end() : match.end() + _NEAR].split(None, 1)[:1]
        joined = text[match.end() : match.end() + 1] == " "
        if before and before[0][:1].isupper() and before[0][-1:].isalnum() and before[0].lower() not in ORDINARY_WORDS:
            continue
        if joined and after and after[0][:1].isupper() and after[0].strip(".,!?'").lower() not in ORDINARY_WORDS:
            continue
        if joined and after and after[0][:1] == "&":
            continue
        yield match["name"]


def _opening(text: str) -> Iterator[tuple[str, str]]:
    """A given name that opens a user's turn: an answer to a question that was not kept ("ben and rtd 245"), or talk."""
    words, ends = _run(text, len(text) - len(text.lstrip()))
    if words and words[0].lower() in CERTAIN_NAMES and words[0].lower() not in ORDINARY_WORDS:
        count = _believed(words, "") if len(words) == len(text.split()) else 1
        yield text[: ends[count - 1]].strip().rstrip("."), "own" if _ANSWERS(text, ends[count - 1]) else "mentioned"


def _is_given(word: str) -> bool:
    """A known given name with a capital."""
    return word[:1].isupper() and word.lower() in GIVEN_NAMES


def _may_be_name(word: str) -> bool:
    lowered = word.lower().replace("’", "'")
    if word[:1].isupper() and lowered in AMBIGUOUS_NAMES and lowered in GIVEN_NAMES:
        return True
    return lowered not in ORDINARY_WORDS and lowered.replace("'", "") not in ORDINARY_WORDS


def name_pattern(names: Mapping[str, Kind]) -> tuple[re.Pattern[str], dict[str, Kind]] | None:
    """A pattern for the names, whole and in parts, and the kind by matched text in lower case; None without names.

    A part that is also an ordinary or ambiguous word ("Will", "Mark") is found only as written, with its capital;
    others in any case. Parts of one letter are found only inside the whole name.
    """
    exact: set[str] = set()
    anyhow: set[str] = set()
    kinds: dict[str, Kind] = {}
    for name, kind in names.items():
        parts = name.split()
        for part in (" ".join(parts), *(parts if len(parts) > 1 else ())):
            plain = part.lower().rstrip(".")
            if not plain or (len(plain) == 1 and part != name) or plain in _TITLES:
                continue
            loose = len(plain) > 2 and plain not in ORDINARY_WORDS and plain not in AMBIGUOUS_NAMES
            if not loose and part.islower() and part != name:
                continue
            (anyhow if loose else exact).add(part.rstrip("."))
            if kinds.get(plain, "agent") == "agent":
                kinds[plain] = kind
    if not kinds:
        return None
    choices = [rf"(?i:{_alternatives(anyhow)})"] if anyhow else []
    choices += [_alternatives(exact)] if exact else []
    return re.compile(rf"(?<![\w<])(?<!\w-)(?:{'|'.join(choices)})(?![\w>])"), kinds


_PLACES = words_of("""
san los las santa st saint el la le les costa hong port fort mount lake united puerto cape rio sao tel abu sri buenos
star harry grand royal big apple xbox galaxy google microsoft sony samsung
""")
"""Words that open the names of places and brands, not of people."""
_FIRMS = words_of("""
venue ltd llc inc gmbh plc corp company design designs services solutions prime play pro max plus mini premium ultra
airways airlines rail railway express inn lodge cafe bistro grill kitchen lounge studio studios media games motors
bikes foods garden gardens hall castle university institute clinic dental pharmacy insurance energy broadband galaxy
edition series islands valley beach bay
""")
"""Words in the names of firms, products and places."""
_TITLES = words_of("mr mrs ms miss dr sir madam doctor and the of")


def _alternatives(words: set[str]) -> str:
    """Longest first, so that a whole name goes before its parts."""
    return "|".join(r"\s+".join(map(re.escape, word.split())) for word in sorted(words, key=lambda w: (-len(w), w)))
