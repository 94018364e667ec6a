"""DFA-RAG's table 3 with a learned policy, cross-validated: learn on some dialogues, answer and score the others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dialoom.agent.progress import Progress as ShowProgress
from dialoom.agent.progress import silent
from dialoom.errors import UsageError
from dialoom.evaluation.multiwoz.beliefs import Beliefs
from dialoom.evaluation.multiwoz.benchmark import Benchmark
from dialoom.evaluation.multiwoz.cues import Cues
from dialoom.evaluation.multiwoz.dialogues import WozDialogues
from dialoom.evaluation.multiwoz.guards import Guard, guards
from dialoom.evaluation.multiwoz.handwritten import handwritten
from dialoom.evaluation.multiwoz.learning import States, answer, hear, human, judge, learn_obligations, lesson
from dialoom.evaluation.multiwoz.policy import Policy
from dialoom.evaluation.multiwoz.predictions import Predictions, Turn

CONTROL = "[name] [trainid] [phone] [address] [postcode] [reference]"
"""What a system could say in every turn to score well without answering anything."""

ROWS = ("control", "human", "no obligations", "learned", "hand-written")


@dataclass(frozen=True, slots=True)
class Table3:
    """Responses of each of `ROWS` to all dialogues, and what each fold learned."""

    predictions: Mapping[str, Predictions]
    folds: tuple[Learned, ...]


@dataclass(frozen=True, slots=True)
class Learned:
    """What a person can read of one fold: the words that ask for a slot, and the obligations."""

    cues: Cues
    guards: tuple[Guard, ...]


def table3(
    dialogues: WozDialogues,
    benchmark: Benchmark,
    *,
    folds: int = 3,
    predicted_states: bool = False,
    progress: ShowProgress = silent,
) -> Table3:
    """Cross-validate: policy, obligations and their thresholds of a fold are learned without its dialogues.

    Folds depend on dialogue ids alone. With `predicted_states`, held-out dialogues are answered and scored in states
    predicted from the users' words, by a tracker that is learned on the other folds too. Raises `UsageError` for
    dialogues without a goal, or fewer than two to a fold.
    """
    unknown = [name for name in dialogues if name not in benchmark.goals]
    if unknown:
        raise UsageError(f"{len(unknown)} of {len(dialogues)} dialogues have no goal: {', '.join(unknown[:3])}.")
    if not 2 <= folds <= len(dialogues) // 2:
        raise UsageError(f"{folds} folds of {len(dialogues)} dialogues; there are 2 or more, of 2 dialogues or more.")
    names = sorted(dialogues, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    rows: dict[str, dict[str, Sequence[Turn]]] = {row: {} for row in ROWS}
    learned: list[Learned] = []
    for number in progress(range(folds), "folds", folds):
        test = {name: dialogues[name] for name in names[number::folds]}
        train = {name: dialogues[name] for name in names if name not in test}
        states = _predicted(train, test, benchmark) if predicted_states else benchmark.states
        said, found = _fold(train, test, states, benchmark)
        learned.append(found)
        for row, predictions in said.items():
            rows[row] |= _stated(predictions, states) if predicted_states else predictions
    return Table3(rows, tuple(learned))


def _fold(
    train: WozDialogues, test: WozDialogues, states: States, benchmark: Benchmark
) -> tuple[Mapping[str, Predictions], Learned]:
    taught = lesson(train, benchmark)
    heard = hear(taught, test, states, benchmark)
    plain = Policy(taught.wording)
    policy, obligations = learn_obligations(taught, train, benchmark)
    rows = {
        "control": {name: [Turn(CONTROL)] * len(turns) for name, turns in test.items()},
        "human": human(test),
        "no obligations": answer(plain, lambda *_: (frozenset(), frozenset()), heard),
        "learned": answer(policy, judge(obligations), heard),
        "hand-written": answer(plain, handwritten, heard),
    }
    return rows, Learned(taught.cues, tuple(guards(policy, obligations)))


def _predicted(train: WozDialogues, test: WozDialogues, benchmark: Benchmark) -> States:
    beliefs = Beliefs(train, benchmark)
    return {name: beliefs.follow([each.user for each in turns]) for name, turns in test.items()}


def _stated(predictions: Predictions, states: States) -> Predictions:
    return {
        name: [replace(turn, state=state) for turn, state in zip(turns, states[name], strict=True)]
        for name, turns in predictions.items()
    }
