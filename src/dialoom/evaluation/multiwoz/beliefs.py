"""States predicted from the user's words alone: which mention of a value fills which slot, learned from dialogues.

A plain tracker, so that a policy can be scored without gold states. Words that name a value are classified by what
stands around them; values nobody names in words ("free wifi" is internet: yes) have learned cues. It reads only
what the user says, so a venue that the user merely accepts is not in its states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dialoom.errors import NothingToLearn
from dialoom.evaluation.multiwoz.benchmark import Benchmark, State
from dialoom.evaluation.multiwoz.cues import Cues, learn_cues
from dialoom.evaluation.multiwoz.dialogues import WozDialogues
from dialoom.evaluation.multiwoz.spelling import Spelling

_TOKEN = re.compile(r"\d{1,2}:\d{2}|[a-z0-9']+")
_TIME = re.compile(r"\d{1,2}:\d{2}")
_LONGEST = 5  # words of a value
_AROUND = 3  # words on each side of a mention
_OFTEN = 5  # turns that change a value without naming it before cues for it are looked for
_NOTHING = "nothing"

Change = tuple[str, str, str]
"""Domain, slot, value."""


@dataclass(frozen=True, slots=True)
class _Mention:
    value: str
    features: Mapping[str, int]


class Beliefs:
    """Learned from the training dialogues of a benchmark; `follow` says the state after each turn of another one."""

    def __init__(self, dialogues: WozDialogues, benchmark: Benchmark) -> None:
        """Learn. Raises `NothingToLearn` where no turn of `dialogues` names a value of its state."""
        from sklearn.feature_extraction import FeatureHasher
        from sklearn.svm import LinearSVC

        self._spelling = benchmark.spelling
        changes = {name: list(_changes(benchmark.states[name], self._spelling)) for name in dialogues}
        said = {value for turns in changes.values() for turn in turns for *_, value in turn}
        self._lexicon = {tuple(_tokens(value)) for value in said | benchmark.venues.vocabulary()} - {()}
        mentions: list[_Mention] = []
        slots: list[str] = []
        silent: list[tuple[str, frozenset[str]]] = []
        for name, exchanges in dialogues.items():
            domain = _NOTHING
            for exchange, changed in zip(exchanges, changes[name], strict=True):
                left = set(changed)
                for mention in self._mentions(exchange.user, domain):
                    filled = [change for change in changed if self._names(mention, change)]
                    mentions += [mention] * max(1, len(filled))
                    slots += [f"{place} {slot}" for place, slot, _ in filled] or [_NOTHING]
                    left -= set(filled)
                silent.append((exchange.user, frozenset(" ".join(change) for change in left)))
                domain = changed[-1][0] if changed else domain
        if len(set(slots)) < 2:
            raise NothingToLearn("no user turn names a value of its state.")
        self._hasher = FeatureHasher(1 << 16, alternate_sign=False)
        self._classifier = LinearSVC(C=0.3, random_state=0).fit(self._vectors(mentions), slots)
        counts = Counter(meaning for _, meant in silent for meaning in meant)
        self._cues: Cues = learn_cues(silent, sorted(meaning for meaning in counts if counts[meaning] >= _OFTEN))

    def follow(self, users: Sequence[str]) -> list[State]:
        """The state after each user turn of one dialogue."""
        state: dict[str, dict[str, str]] = {}
        domain = _NOTHING
        states: list[State] = []
        for user in users:
            for place, slot, value in self._heard(user, domain):
                state = {**state, place: {**state.get(place, {}), slot: value}}
                domain = place
            states.append(state)
        return states

    def _heard(self, user: str, domain: str) -> Iterator[Change]:
        for meaning in sorted(self._cues.heard(user)):
            place, slot, value = meaning.split(" ", 2)
            if domain in (place, _NOTHING) or place in user.lower():
                yield place, slot, value
        mentions = list(self._mentions(user, domain))
        if mentions:
            for mention, filled in zip(mentions, self._classifier.predict(self._vectors(mentions)), strict=True):
                if filled != _NOTHING:
                    place, slot = str(filled).split(" ")
                    yield place, slot, self._spelling.value(slot, mention.value)

    def _mentions(self, user: str, domain: str) -> Iterator[_Mention]:
        """Every stretch of words that names a value, the longest first; none inside another."""
        tokens = _tokens(user)
        place = 0
        while place < len(tokens):
            length = next((n for n in range(_LONGEST, 0, -1) if self._is_value(tokens[place : place + n])), 0)
            if length:
                yield _Mention(
                    " ".join(tokens[place : place + length]), _features(tokens, place, place + length, domain)
                )
            place += max(1, length)

    def _is_value(self, tokens: Sequence[str]) -> bool:
        return tuple(tokens) in self._lexicon or (len(tokens) == 1 and bool(_TIME.fullmatch(tokens[0])))

    def _names(self, mention: _Mention, change: Change) -> bool:
        _, slot, value = change
        return self._spelling.value(slot, mention.value) == value or mention.value == " ".join(_tokens(value))

    def _vectors(self, mentions: Iterable[_Mention]) -> object:
        return self._hasher.transform(mention.features for mention in mentions)


def _changes(states: Sequence[State], spelling: Spelling) -> Iterator[list[Change]]:
    before: State = {}
    for state in map(spelling.state, states):
        yield [
            (domain, slot, value)
            for domain, slots in state.items()
            for slot, value in slots.items()
            if before.get(domain, {}).get(slot) != value
        ]
        before = state


def _features(tokens: Sequence[str], start: int, end: int, domain: str) -> dict[str, int]:
    value = " ".join(tokens[start:end])
    kind = "time" if _TIME.fullmatch(value) else "number" if value.isdigit() else value
    left = tokens[max(0, start - _AROUND) : start]
    right = tokens[end : end + _AROUND]
    return dict.fromkeys(
        (
            f"kind={kind}",
            f"domain={domain}",
            f"kind={kind} domain={domain}",
            *(f"-{distance} {word}" for distance, word in enumerate(reversed(left))),
            *(f"+{distance} {word}" for distance, word in enumerate(right)),
            *(f"near {word}" for word in (*left, *right)),
            *(f"kind={kind} near {word}" for word in (*left, *right)),
            *(f"has {word}" for word in tokens),
        ),
        1,
    )


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())
