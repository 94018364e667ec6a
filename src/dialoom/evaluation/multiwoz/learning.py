"""Learning how much evidence makes an obligation, by answering the training dialogues again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from dialoom.evaluation.multiwoz.benchmark import Benchmark
from dialoom.evaluation.multiwoz.dialogues import WozDialogues
from dialoom.evaluation.multiwoz.obligations import Evidence, Key, Obligations, Threshold
from dialoom.evaluation.multiwoz.policy import Judge, Policy
from dialoom.evaluation.multiwoz.predictions import Predictions
from dialoom.evaluation.multiwoz.scores import scores
from dialoom.evaluation.multiwoz.tracker import SLOTS

NOW = (0.02, 0.07, 0.2)
LATER = (0.1, 0.2, 0.4)
GROUPS: Sequence[Sequence[str]] = (("NAME",), ("TRAINID",), ("REFERENCE",), ("PHONE", "ADDRESS", "POST"))
"""Slots that share a threshold: venues, trains, bookings, details."""


def learn_obligations(
    policy: Policy, evidence: Mapping[Key, Evidence], dialogues: WozDialogues, benchmark: Benchmark
) -> Obligations:
    """The obligations whose thresholds serve the training `dialogues` best, one group of slots after the other.

    Best is the combined score of the benchmark, (Inform + Success) / 2 + BLEU, less one point for each percent of turns
    that breaks a promise. A dialogue is answered without its own turns, yet its turns do count in the evidence.
    """
    thresholds = dict.fromkeys(SLOTS, Threshold())
    for group in GROUPS:
        candidates = [thresholds | dict.fromkeys(group, Threshold(*pair)) for pair in product(NOW, LATER)]
        thresholds = max(
            candidates,
            key=lambda tried: _worth(answer(policy, judge(Obligations(evidence, tried)), dialogues), benchmark),
        )
    return Obligations(evidence, thresholds)


def judge(obligations: Obligations) -> Judge:
    """Duties by learned obligations."""
    return lambda _turn, progress, path: obligations.judge(path, progress.slots)


def answer(policy: Policy, duties: Judge, dialogues: WozDialogues) -> Predictions:
    """A policy's responses to the user turns of `dialogues`."""
    return {name: policy.respond(name, [each.user for each in turns], duties) for name, turns in dialogues.items()}


def _worth(predictions: Predictions, benchmark: Benchmark) -> float:
    found = scores(predictions, benchmark)
    broken = found.violations.empty_offers + found.violations.early_references
    return (found.inform + found.success) / 2 + (found.bleu or 0.0) - 100 * broken / found.turns
