"""What systems are asked: the conversation before each system turn of a test dialogue, and the true reply."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dialoom.agent.sequences import without_tools
from dialoom.corpora import open_corpus
from dialoom.dialogue import Dialogue, Role, as_json
from dialoom.errors import NothingToLearn
from dialoom.evaluation.experiments.definition import Dataset
from dialoom.evaluation.experiments.gold import Actions
from dialoom.evaluation.experiments.ledger import digest
from dialoom.evaluation.next_action import blind, labels_of, split_by_task
from dialoom.evaluation.overlap import split_without_overlap

DOMAINS = ("domain", "domains", "services", "workflow", "tasks", "flow")
"""Keys of the metadata that name a domain, in the order they are looked for."""


@dataclass(frozen=True, slots=True)
class Item:
    """One turn asked for: what was said before it, and what was really said (`reference`)."""

    dataset: str
    dialogue: str
    turn: int
    domain: str
    context: Dialogue
    reference: str

    @property
    def id(self) -> str:
        """Data set, dialogue and turn: the same in every run."""
        return f"{self.dataset}/{self.dialogue}#{self.turn}"

    @property
    def group(self) -> str:
        """The dialogue it belongs to: turns of one dialogue are not independent."""
        return f"{self.dataset}/{self.dialogue}"


@dataclass(frozen=True, slots=True)
class Data:
    """A data set as it was read: training and test dialogues, the items, and what was left out and why.

    `actions` are the labels of the training dialogues, for scoring; systems get `train`, which has none.
    """

    spec: Dataset
    train: tuple[Dialogue, ...]
    test: tuple[Dialogue, ...]
    items: tuple[Item, ...]
    skipped: Mapping[str, int] = field(default_factory=dict)
    actions: Actions = field(default_factory=dict)

    @property
    def train_digest(self) -> str:
        """A hash of the training dialogues."""
        return digest([as_json(dialogue) for dialogue in self.train])


def read_dataset(spec: Dataset, folder: Path) -> Data:
    """The dialogues of a data set. Labels for evaluation are taken off them.

    Broken records, dialogues without text and dialogues in which one side never speaks are left out and counted.
    Raises `NothingToLearn` when nothing is left to ask.
    """
    skipped: Counter[str] = Counter()
    if spec.data:
        every = list(_read(spec, spec.data, folder, skipped))
        if spec.overlap_free:
            free = split_without_overlap(every, spec.split, spec.seed)
            train, test = free.train, free.test
        else:
            parts = split_by_task(every, spec.split, spec.seed)
            train, test = parts.train, parts.test
    else:
        train = tuple(_read(spec, spec.train, folder, skipped)) if spec.train else ()
        test = tuple(_read(spec, spec.test, folder, skipped))
    train = _without(train, test, skipped)
    if spec.dialogues is not None and len(test) > spec.dialogues:
        drawn = random.Random(spec.seed).sample(sorted(test, key=lambda d: d.id), spec.dialogues)  # noqa: S311
        test = tuple(sorted(drawn, key=lambda dialogue: dialogue.id))
    items = tuple(item for dialogue in test for item in _items(spec, dialogue))
    if not items:
        told = ", ".join(f"{count} {what}" for what, count in skipped.items())
        raise NothingToLearn(
            f"Data set '{spec.name}' has no system turn to ask for{f' ({told})' if told else ''}.",
            hint="Check its paths and the roles of its speakers.",
        )
    return Data(spec, tuple(map(blind, train)), tuple(test), items, dict(skipped), labels_of(train))


def domain_of(dialogue: Dialogue, key: str | None) -> str:
    """The dialogue's domain by its metadata: `key`, or the first of `DOMAINS` there is; else "all"."""
    for name in (key,) if key else DOMAINS:
        value: Any = dialogue.metadata.get(name)
        if isinstance(value, list | tuple):
            value = "+".join(sorted(str(one) for one in value if one))
        if value:
            return str(value)
    return "all"


def _read(spec: Dataset, paths: Sequence[str], folder: Path, skipped: Counter[str]) -> Iterator[Dialogue]:
    corpus = open_corpus([folder / path for path in paths], spec.format, on_error="skip")
    for dialogue in corpus:
        spoken = dialogue if spec.tools else without_tools(dialogue)
        if {Role.USER, Role.SYSTEM} <= {said.role for said in spoken.utterances}:
            yield spoken
        else:
            skipped["dialogues in which one side never speaks"] += 1
    for what, count in (("broken records", corpus.counts.skipped), ("empty dialogues", corpus.counts.empty)):
        if count:
            skipped[what] += count


def _without(train: Sequence[Dialogue], test: Sequence[Dialogue], skipped: Counter[str]) -> tuple[Dialogue, ...]:
    """`train` without the dialogues that are tested, which are counted."""
    tested = {dialogue.id: dialogue for dialogue in test}
    kept = tuple(d for d in train if d.id not in tested or d.utterances != tested[d.id].utterances)
    if len(kept) < len(train):
        skipped["training dialogues that are test dialogues"] += len(train) - len(kept)
    return kept


def _items(spec: Dataset, dialogue: Dialogue) -> Iterator[Item]:
    unseen = blind(dialogue)
    domain = domain_of(dialogue, spec.domain)
    turns = [
        place
        for place, said in enumerate(unseen.utterances)
        if said.role is Role.SYSTEM and any(earlier.role is Role.USER for earlier in unseen.utterances[:place])
    ]
    for place in turns[-1:] if spec.turns == "last" else turns:
        context = replace(unseen, utterances=unseen.utterances[:place])
        yield Item(spec.name, dialogue.id, place, domain, context, unseen.utterances[place].text)
