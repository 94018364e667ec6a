"""DFA-RAG's table 3 with a learned policy, cross-validated: learn on some dialogues, answer and score the others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dialoom.agent.progress import Progress, silent
from dialoom.errors import UsageError
from dialoom.evaluation.multiwoz.benchmark import Benchmark
from dialoom.evaluation.multiwoz.dialogues import WozDialogues
from dialoom.evaluation.multiwoz.guards import Guard, guards
from dialoom.evaluation.multiwoz.handwritten import handwritten
from dialoom.evaluation.multiwoz.learning import answer, judge, learn_obligations
from dialoom.evaluation.multiwoz.policy import Policy, observed
from dialoom.evaluation.multiwoz.predictions import Predictions, Turn

CONTROL = "[name] [trainid] [phone] [address] [postcode] [reference]"
"""What a system could say in every turn to score well without answering anything."""

ROWS = ("control", "human", "no obligations", "learned", "hand-written")


@dataclass(frozen=True, slots=True)
class Table3:
    """Responses of each of `ROWS` to all dialogues, and the obligations learned in each fold."""

    predictions: Mapping[str, Predictions]
    guards: tuple[tuple[Guard, ...], ...]


def table3(dialogues: WozDialogues, benchmark: Benchmark, *, folds: int = 3, progress: Progress = silent) -> Table3:
    """Cross-validate: policy, obligations and their thresholds of a fold are learned without its dialogues.

    Folds depend on dialogue ids alone. Raises `UsageError` for dialogues without a goal, or fewer than two to a fold.
    """
    unknown = [name for name in dialogues if name not in benchmark.goals]
    if unknown:
        raise UsageError(f"{len(unknown)} of {len(dialogues)} dialogues have no goal: {', '.join(unknown[:3])}.")
    if not 2 <= folds <= len(dialogues) // 2:
        raise UsageError(f"{folds} folds of {len(dialogues)} dialogues; there are 2 or more, of 2 dialogues or more.")
    names = sorted(dialogues, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    rows: dict[str, dict[str, Sequence[Turn]]] = {row: {} for row in ROWS}
    learned: list[tuple[Guard, ...]] = []
    for number in progress(range(folds), "folds", folds):
        test = {name: dialogues[name] for name in names[number::folds]}
        train = {name: dialogues[name] for name in names if name not in test}
        policy = Policy(observed(train, benchmark), benchmark)
        half = {name: train[name] for name in list(train)[::2]}  # thresholds need fewer dialogues than states
        obligations = learn_obligations(policy, policy.evidence(), half, benchmark)
        learned.append(tuple(guards(policy, obligations)))
        rows["control"] |= {name: [Turn(CONTROL)] * len(turns) for name, turns in test.items()}
        rows["human"] |= {name: [Turn(each.response) for each in turns] for name, turns in test.items()}
        rows["no obligations"] |= answer(policy, lambda *_: (frozenset(), frozenset()), test)
        rows["learned"] |= answer(policy, judge(obligations), test)
        rows["hand-written"] |= answer(policy, handwritten, test)
    return Table3(rows, tuple(learned))
