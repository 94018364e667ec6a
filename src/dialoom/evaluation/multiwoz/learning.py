"""Learning a policy and its obligations, by answering the training dialogues again and again."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from dialoom.evaluation.multiwoz.benchmark import Benchmark, State
from dialoom.evaluation.multiwoz.cues import Cues, learn_cues
from dialoom.evaluation.multiwoz.dialogues import LEAVING, WozDialogues
from dialoom.evaluation.multiwoz.obligations import Duty, Evidence, Key, Obligations, Threshold
from dialoom.evaluation.multiwoz.policy import Judge, Policy
from dialoom.evaluation.multiwoz.predictions import Predictions, Turn
from dialoom.evaluation.multiwoz.scores import scores
from dialoom.evaluation.multiwoz.tracker import SLOTS
from dialoom.evaluation.multiwoz.wording import Heard, Said, Wording, observed

NOW = (0.05, 0.1, 0.2)
LATER = (0.1, 0.4)
GROUPS = [
    tuple(product(slots, standings))
    for slots in (("NAME",), ("TRAINID",), ("REFERENCE",), ("PHONE", "ADDRESS", "POST"))
    for standings in (("asked",), ("untold",), ("told", "stale"))
]
"""Duties that share a threshold: to tell of venues, trains, bookings or details; when asked, unasked, or again."""

REPLAYS = 2
"""How often the policy answers the training dialogues to learn from what its own answers lead to."""

States = Mapping[str, Sequence[State]]
"""Dialogue id -> the state after each user turn."""

Dialogues = Mapping[str, Sequence[Heard]]
"""Dialogue id -> its turns as a policy hears them."""

Others = Mapping[str, Obligations]
"""Dialogue id -> what all other dialogues show."""

Thresholds = dict[Duty, Threshold]


@dataclass(frozen=True, slots=True)
class Lesson:
    """What is learned before any obligation: which words ask for what, and the turns to answer with."""

    cues: Cues
    wording: Wording


def lesson(dialogues: WozDialogues, benchmark: Benchmark) -> Lesson:
    """Learn the words of users and observe the human systems."""
    slots = benchmark.spelling.slots
    turns = [
        (each.user, frozenset(slots.get(name, name) for name in each.meant))
        for exchanges in dialogues.values()
        for each in exchanges
    ]
    cues = learn_cues(turns, (*SLOTS, LEAVING))
    return Lesson(cues, Wording(observed(dialogues, human(dialogues), benchmark, cues)))


def human(dialogues: WozDialogues) -> Predictions:
    """The responses of the human systems."""
    return {name: [Turn(each.response) for each in turns] for name, turns in dialogues.items()}


def hear(learned: Lesson, dialogues: WozDialogues, states: States, benchmark: Benchmark) -> Dialogues:
    """The users' turns of `dialogues`, in these states."""
    return {
        name: learned.wording.hear([each.user for each in turns], states[name], benchmark, learned.cues)
        for name, turns in dialogues.items()
    }


def learn_obligations(learned: Lesson, dialogues: WozDialogues, benchmark: Benchmark) -> tuple[Policy, Obligations]:
    """Learn a policy and its obligations from `dialogues`.

    Human systems show what is owed after human answers, and a policy's own answers lead elsewhere: it books a turn too
    early, say. So it answers the dialogues `REPLAYS` times, and what the human said where it got to is evidence too
    (dataset aggregation, Ross et al. 2011). A training dialogue is answered without its own words and evidence.
    """
    heard = hear(learned, dialogues, benchmark.states, benchmark)
    some = {name: heard[name] for name in list(heard)[::2]}  # thresholds need fewer dialogues than states
    thresholds: Thresholds = {}
    replayed: list[Said] = []
    for replay in range(REPLAYS + 1):
        policy = Policy(learned.wording, replayed)
        evidence = policy.evidence()
        by_dialogue = policy.evidence_by_dialogue()
        others = {name: Obligations(_without(evidence, own), {}) for name, own in by_dialogue.items()}
        thresholds = _best(policy, others, thresholds, some, benchmark)
        if replay < REPLAYS:
            answers = _rehearse(policy, others, thresholds, heard)
            replayed = [*replayed, *observed(dialogues, answers, benchmark, learned.cues)]
    return policy, Obligations(evidence, thresholds)


def _without(evidence: dict[Key, Evidence], own: Mapping[Key, Evidence]) -> Mapping[Key, Evidence]:
    return ChainMap({key: evidence[key] - part for key, part in own.items()}, evidence)


def _best(
    policy: Policy, others: Others, thresholds: Thresholds, dialogues: Dialogues, benchmark: Benchmark
) -> Thresholds:
    """The thresholds that serve best, one group of duties after the other."""
    for group in GROUPS:
        candidates = [thresholds | dict.fromkeys(group, Threshold(*pair)) for pair in product(NOW, LATER)]
        thresholds = max(candidates, key=lambda tried: _worth(_rehearse(policy, others, tried, dialogues), benchmark))
    return thresholds


def _rehearse(policy: Policy, others: Others, thresholds: Thresholds, dialogues: Dialogues) -> Predictions:
    """Answer training dialogues, each by the evidence of the others."""
    return {
        name: answer(policy, judge(others[name].under(thresholds)), {name: heard})[name]
        for name, heard in dialogues.items()
    }


def judge(obligations: Obligations) -> Judge:
    """Duties by learned obligations."""
    return lambda _turn, progress, path: obligations.judge(path, progress.slots)


def answer(policy: Policy, duties: Judge, dialogues: Dialogues) -> Predictions:
    """A policy's responses to `dialogues`."""
    return {
        name: [Turn(response) for response in policy.respond(name, heard, duties)] for name, heard in dialogues.items()
    }


def _worth(predictions: Predictions, benchmark: Benchmark) -> float:
    """(Inform + Success) / 2 + BLEU, less one point for each percent of turns that breaks a promise."""
    found = scores(predictions, benchmark)
    broken = found.violations.empty_offers + found.violations.early_references
    return (found.inform + found.success) / 2 + (found.bleu or 0.0) - 100 * broken / found.turns
