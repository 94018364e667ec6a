"""Next-action evaluation: does the retrieved example's next system turn carry the action that was really taken?

No judge and no model are needed. Actions and task names are read here, for splitting and scoring; everything that
learns or retrieves gets dialogues without them.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dialoom.agent.sequences import without_tools
from dialoom.dialogue import EMPTY, Dialogue, Role, Utterance
from dialoom.errors import NothingToLearn, UsageError
from dialoom.evaluation.intervals import interval
from dialoom.examples.base import Example, Selector

Observe = Literal["text", "tools"]

UNSCORED = "custom"
"""STAR's label of a reply the wizard made up: it says nothing about the action."""

VOTES = 5
ASKED = 25  # examples asked for, so that five with a label are left


@dataclass(frozen=True, slots=True)
class Split:
    """Training and test dialogues."""

    train: tuple[Dialogue, ...]
    test: tuple[Dialogue, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One scored turn: what was said before it, and the action then taken."""

    context: Dialogue
    action: str
    task: str


def usable(dialogue: Dialogue) -> bool:
    """Completed, without planned trouble, one task: as far as the dialogue's metadata says anything about that."""
    about = dialogue.metadata
    return (
        about.get("completion", "Complete") == "Complete"
        and bool(about.get("happy", True))
        and not about.get("multi_task", False)
    )


def task_of(dialogue: Dialogue) -> str:
    """The dialogue's task, or "all" where the source names none."""
    tasks = dialogue.metadata.get("tasks")
    return str(tasks[0]) if tasks else "all"


def action_of(utterance: Utterance) -> str | None:
    """The action a system turn is scored by, or None."""
    return utterance.action if utterance.role is Role.SYSTEM and utterance.action != UNSCORED else None


def split_by_task(dialogues: Iterable[Dialogue], share: float, seed: int) -> Split:
    """A seeded split that gives every task the same `share` of test dialogues; the order of input does not matter."""
    if not 0.0 < share < 1.0:
        raise UsageError(f"The test share is {share}, and lies between 0 and 1.", hint="Try --split 0.2.")
    by_task: dict[str, list[Dialogue]] = defaultdict(list)
    for dialogue in dialogues:
        by_task[task_of(dialogue)].append(dialogue)
    train: list[Dialogue] = []
    test: list[Dialogue] = []
    for task in sorted(by_task):
        shuffled = sorted(by_task[task], key=lambda dialogue: dialogue.id)
        random.Random(f"{seed}:{task}").shuffle(shuffled)  # noqa: S311 - a split is no secret
        cut = round(share * len(shuffled))
        test += shuffled[:cut]
        train += shuffled[cut:]
    return Split(tuple(train), tuple(test))


def observed(dialogue: Dialogue, observe: Observe) -> Dialogue:
    """What is seen of a dialogue: with `text` only what its speakers say."""
    return dialogue if observe == "tools" else without_tools(dialogue)


def blind(dialogue: Dialogue) -> Dialogue:
    """The dialogue without actions and metadata: all that learning and retrieval may see."""
    utterances = tuple(replace(utterance, action=None) for utterance in dialogue.utterances)
    return Dialogue(dialogue.id, utterances, EMPTY)


def cases(dialogues: Iterable[Dialogue]) -> Iterator[Case]:
    """Every system turn with a known action. Tool calls are rounds of the tool role, so they are not scored."""
    for dialogue in dialogues:
        unseen = blind(dialogue)
        for place, utterance in enumerate(dialogue.utterances):
            action = action_of(utterance)
            if action is not None:
                yield Case(replace(unseen, utterances=unseen.utterances[:place]), action, task_of(dialogue))


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of right turns with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Score:
    """How often the action was right: of the best example, and of the commonest action of five.

    `top1` and `vote5` choose among training turns with a label (the `main` pool: the presence of a label is used,
    never its value); `strict_top1` and `strict_vote5` among all system turns, an unlabelled one counting as wrong.
    """

    top1: Rate
    vote5: Rate
    strict_top1: Rate
    strict_vote5: Rate
    tasks: Mapping[str, tuple[float, float]]
    turns: int


def score(selector: Selector, labels: Mapping[str, Sequence[str | None]], asked: Sequence[Case]) -> Score:
    """Ask `selector` for every case. `labels`: training dialogue id -> the action of each of its utterances.

    Raises `NothingToLearn` when there is no case.
    """
    if not asked:
        raise NothingToLearn("No system turn of the test dialogues has a known action, so there is nothing to score.")
    rows = np.zeros((len(asked), 4))
    for row, case in enumerate(asked):
        found = selector.select(case.context, ASKED)
        actions = [_label(example, labels) for example in found]
        rows[row] = _right(case.action, [a for a in actions if a is not None]) + _right(case.action, actions)
    return _score(rows, asked)


def score_predictions(predicted: Sequence[str], asked: Sequence[Case]) -> Score:
    """The score of actions predicted outright."""
    right = np.asarray([p == case.action for p, case in zip(predicted, asked, strict=True)], dtype=np.float64)
    return _score(np.repeat(right[:, None], 4, axis=1), asked)


def labels_of(dialogues: Iterable[Dialogue]) -> dict[str, list[str | None]]:
    """The action of each utterance of each dialogue."""
    return {dialogue.id: [action_of(u) for u in dialogue.utterances] for dialogue in dialogues}


def _label(example: Example, labels: Mapping[str, Sequence[str | None]]) -> str | None:
    return labels[example.dialogue.id][example.reply]


def _right(action: str, found: Sequence[str | None]) -> tuple[bool, bool]:
    if not found:
        return False, False
    votes = Counter(found[:VOTES])
    most = max(votes.values())
    winner = next(candidate for candidate in found if votes[candidate] == most)
    return found[0] == action, winner == action


def _score(rows: np.ndarray[tuple[int, int], np.dtype[np.float64]], asked: Sequence[Case]) -> Score:
    groups = [case.context.id for case in asked]
    top1, vote5, strict1, strict5 = (Rate(float(column.mean()), *interval(column, groups)) for column in rows.T)
    by_task: dict[str, list[int]] = defaultdict(list)
    for number, case in enumerate(asked):
        by_task[case.task].append(number)
    tasks = {t: (float(rows[by_task[t], 0].mean()), float(rows[by_task[t], 1].mean())) for t in sorted(by_task)}
    return Score(top1, vote5, strict1, strict5, tasks, len(asked))
