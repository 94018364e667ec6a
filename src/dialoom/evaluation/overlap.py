"""An overlap-free split: no test dialogue shares utterances with training (S-ICL sec. 3.1)."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dialoom.dialogue import Dialogue, Role
from dialoom.encoders.words import words
from dialoom.errors import NothingToLearn, UnknownName, UsageError

SHOWN = 20
SIDES = ("both", "user")


@dataclass(frozen=True, slots=True)
class OverlapSettings:
    """What counts as shared.

    Utterances of fewer than `words` words are not looked at: everybody says "thank you". Two are near-duplicates when
    the Jaccard similarity of their word sets is at least `similarity`; 1.0 looks for equal word sequences alone.
    With `side` "user" only what the served person says is compared: agents that speak in set phrases share most of
    them, and tie a whole corpus together.
    """

    words: int = 6
    similarity: float = 0.8
    side: Literal["both", "user"] = "both"

    def __post_init__(self) -> None:
        if self.side not in SIDES:
            raise UnknownName("side", self.side, SIDES)
        if self.words < 1 or not 0.0 < self.similarity <= 1.0:
            raise UsageError(
                f"Overlap of at least {self.words} words with a similarity of {self.similarity} makes no sense.",
                hint="Words are 1 or more, and a similarity is above 0 and at most 1.",
            )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two utterances that tie two dialogues together; `exact` when they are the same words in the same order."""

    dialogue: str
    other: str
    text: str
    other_text: str
    exact: bool


@dataclass(frozen=True, slots=True)
class OverlapReport:
    """What the split found and moved.

    `groups` are sets of dialogues tied by shared utterances, `largest` the size of the greatest. `moved` are the
    dialogues that a plain random split of the same seed puts into the test part and that went to training, because
    the rest of their group would not fit. `wanted` and `test` are the test sizes asked for and reached.
    """

    dialogues: int
    wanted: int
    test: int
    groups: int
    tied: int
    largest: int
    exact: int
    near: int
    moved: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class OverlapFree:
    """Training and test dialogues that share no utterance, and the report."""

    train: tuple[Dialogue, ...]
    test: tuple[Dialogue, ...]
    report: OverlapReport


def split_without_overlap(
    dialogues: Iterable[Dialogue], share: float, seed: int = 0, settings: OverlapSettings | None = None
) -> OverlapFree:
    """Split so that no test dialogue shares an utterance, exactly or nearly, with a training dialogue.

    Dialogues tied by shared utterances stay together; groups go to the test part in a seeded random order while they
    fit. The order of input does not matter. Raises `UsageError` for a share outside (0, 1), and `NothingToLearn` when
    the test part stays empty because everything is tied to everything.
    """
    if not 0.0 < share < 1.0:
        raise UsageError(f"The test share is {share}, and lies between 0 and 1.", hint="Try 0.1.")
    ordered = sorted(dialogues, key=lambda dialogue: dialogue.id)
    pairs = list(shared_utterances(ordered, settings or OverlapSettings()))
    groups = _groups(len(ordered), [(first, second) for first, second, _ in pairs])
    draw = random.Random(seed)  # noqa: S311 - a split is no secret
    plain = list(range(len(ordered)))
    draw.shuffle(plain)
    wanted = round(share * len(ordered))
    place = {number: at for at, number in enumerate(plain)}
    groups.sort(key=lambda group: min(place[number] for number in group))
    chosen: set[int] = set()
    for group in groups:
        if len(chosen) + len(group) <= wanted:
            chosen.update(group)
    if not chosen:
        raise NothingToLearn(
            f"No group of dialogues without shared utterances fits into a test part of {wanted} "
            f"of {len(ordered)} dialogues.",
            hint="Compare what users say alone (side user), longer utterances (more words), or raise the similarity.",
        )
    moved = tuple(sorted(ordered[number].id for number in plain[:wanted] if number not in chosen))
    report = OverlapReport(
        dialogues=len(ordered),
        wanted=wanted,
        test=len(chosen),
        groups=sum(len(group) > 1 for group in groups),
        tied=sum(len(group) for group in groups if len(group) > 1),
        largest=max(map(len, groups)),
        exact=sum(pair.exact for _, _, pair in pairs),
        near=sum(not pair.exact for _, _, pair in pairs),
        moved=moved,
        pairs=tuple(pair for _, _, pair in pairs[:SHOWN]),
    )
    train = tuple(dialogue for number, dialogue in enumerate(ordered) if number not in chosen)
    return OverlapFree(train, tuple(ordered[number] for number in sorted(chosen)), report)


def shared_utterances(dialogues: Sequence[Dialogue], settings: OverlapSettings) -> Iterable[tuple[int, int, Pair]]:
    """Ties between dialogues: (number, other number, the two utterances), enough to connect all that are tied.

    Of many dialogues that share one utterance, each is tied to the first, not to every other.
    """
    roles = {Role.USER} if settings.side == "user" else {Role.USER, Role.SYSTEM}
    first: dict[tuple[str, ...], tuple[int, str]] = {}
    for number, dialogue in enumerate(dialogues):
        for said in dialogue.utterances:
            spoken = tuple(words(said.text))
            if said.role not in roles or len(spoken) < settings.words:
                continue
            known, text = first.setdefault(spoken, (number, said.text))
            if known != number:
                yield known, number, Pair(dialogues[known].id, dialogue.id, text, said.text, True)
    if settings.similarity < 1.0:
        places = list(first.values())
        for one, other in near_duplicates([frozenset(spoken) for spoken in first], settings.similarity):
            (number, text), (second, other_text) = places[one], places[other]
            if number != second:
                yield number, second, Pair(dialogues[number].id, dialogues[second].id, text, other_text, False)


def near_duplicates(sets: Sequence[frozenset[str]], similarity: float) -> Iterable[tuple[int, int]]:
    """Every pair of `sets` with a Jaccard similarity of at least `similarity`, each once.

    Exact, by prefix filtering: similar sets must share one of their rarest words (Bayardo et al. 2007).
    """
    frequency = Counter(word for found in sets for word in found)
    rarest = [sorted(found, key=lambda word: (frequency[word], word)) for found in sets]
    index: dict[str, list[int]] = defaultdict(list)
    for number in sorted(range(len(sets)), key=lambda n: len(sets[n])):
        found = sets[number]
        prefix = rarest[number][: len(found) - _at_least(similarity * len(found)) + 1]
        for other in sorted({other for word in prefix for other in index[word]}):
            if len(sets[other]) >= similarity * len(found) - 1e-9:
                common = len(found & sets[other])
                if common >= similarity * (len(found) + len(sets[other]) - common) - 1e-9:
                    yield other, number
        for word in prefix:
            index[word].append(number)


def _at_least(value: float) -> int:
    return int(-(-(value - 1e-9) // 1))


def _groups(count: int, ties: Iterable[tuple[int, int]]) -> list[list[int]]:
    parent = list(range(count))

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    for one, other in ties:
        parent[max(root(one), root(other))] = min(root(one), root(other))
    members: dict[int, list[int]] = defaultdict(list)
    for number in range(count):
        members[root(number)].append(number)
    return list(members.values())
