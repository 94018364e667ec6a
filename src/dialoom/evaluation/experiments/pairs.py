"""Pairs of completed dialogues: what a judge or a person compares (DFA-RAG sec. 4.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from dialoom.dialogue import Dialogue
from dialoom.evaluation.experiments.definition import SpeakerNames
from dialoom.evaluation.experiments.ledger import digest
from dialoom.examples.prompt import Speakers
from dialoom.models.templates import one_line


@dataclass(frozen=True, slots=True)
class Pair:
    """A dialogue completed by `system` and by `against`: each a mapping of turn -> reply."""

    dataset: str
    domain: str
    system: str
    against: str
    seed: int
    dialogue: Dialogue
    ours: Mapping[int, str]
    theirs: Mapping[int, str]
    speakers: SpeakerNames

    @property
    def id(self) -> str:
        """The same as long as both systems reply the same: a label given to other replies is not one of these."""
        replies = [sorted(self.ours.items()), sorted(self.theirs.items())]
        return digest([self.dataset, self.system, self.against, self.seed, self.dialogue.id, replies])

    @property
    def same(self) -> bool:
        """Whether both say the same, case and spaces aside: a tie that nobody needs to be asked about."""
        return all(_plain(self.ours[turn]) == _plain(self.theirs[turn]) for turn in self.ours)

    def lines(self, replies: Mapping[int, str] | None, before: int | None = None) -> list[str]:
        """The dialogue as numbered lines, the asked turns filled with `replies`; with None they are left open.

        With `before` it begins that many lines before the first asked turn.
        """
        names = Speakers(self.speakers.user, self.speakers.system)
        first = 0 if before is None else max(0, min(self.ours) - before)
        return [
            f"{number} {names.name(said.role)}: {self._said(number, said.text, replies)}".rstrip()
            for number, said in enumerate(self.dialogue.utterances)
            if number >= first
        ]

    @property
    def said(self) -> dict[int, str]:
        """What was really said in the asked turns."""
        return {turn: self.dialogue.utterances[turn].text for turn in self.ours}

    @property
    def truth(self) -> list[str]:
        """The dialogue as it really went."""
        return self.lines(self.said)

    def _said(self, number: int, text: str, replies: Mapping[int, str] | None) -> str:
        if number in self.ours:
            text = "" if replies is None else replies[number]
        return one_line(text, ()).replace('"""', "'''")


Replied = Mapping[tuple[str, str, str, int], Mapping[int, str]]
"""(system, data set, dialogue, seed) -> turn -> reply."""


def pairs_of(
    replied: Replied,
    dialogues: Mapping[tuple[str, str], Dialogue],
    asked: Mapping[tuple[str, str], frozenset[int]],
    domains: Mapping[tuple[str, str], str],
    against: str,
    speakers: Mapping[str, SpeakerNames],
) -> tuple[list[Pair], Counter[str]]:
    """Every dialogue that a system and `against` completed, and per system how many are incomplete.

    The keys of `dialogues`, `asked` and `domains` are (data set, dialogue id).
    """
    pairs: list[Pair] = []
    incomplete: Counter[str] = Counter()
    for (system, dataset, id_, seed), ours in replied.items():
        if system == against:
            continue
        place = dataset, id_
        theirs = replied.get((against, dataset, id_, seed), {})
        if set(ours) != asked[place] or set(theirs) != asked[place]:
            incomplete[system] += 1
            continue
        pairs.append(
            Pair(dataset, domains[place], system, against, seed, dialogues[place], ours, theirs, speakers[dataset])
        )
    return pairs, incomplete


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
