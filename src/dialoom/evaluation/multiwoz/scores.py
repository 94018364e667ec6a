"""All scores of a system's predictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dialoom.evaluation.metrics import bleu
from dialoom.evaluation.multiwoz.benchmark import Benchmark, State
from dialoom.evaluation.multiwoz.predictions import Predictions, Turn
from dialoom.evaluation.multiwoz.richness import Richness, richness
from dialoom.evaluation.multiwoz.success import Outcome, Told, estimated_domains, outcome
from dialoom.evaluation.multiwoz.violations import Violations, violations


@dataclass(frozen=True, slots=True)
class Scores:
    """Rates in percent, rounded to one digit as the benchmark's table; `domains`: domain -> (inform, success).

    `bleu` is None without references, and over `bleu_turns` turns otherwise. `states` and `active_domains` say whether
    the system's own were used. `placeholders`: mean number in a turn; a system that says everything in every turn shows
    here. `unknown_placeholders`: names no table knows, with their counts; each is a slot lost.
    """

    inform: float
    success: float
    bleu: float | None
    domains: Mapping[str, tuple[float, float]]
    richness: Richness
    placeholders: float
    violations: Violations
    dialogues: int
    turns: int
    bleu_turns: int
    states: str
    active_domains: str
    unknown_placeholders: Mapping[str, int]


def scores(predictions: Predictions, benchmark: Benchmark) -> Scores:
    """Score predictions. A single turn without state, or without domains, sets the system's own aside everywhere."""
    every = [turn for turns in predictions.values() for turn in turns]
    own_states = all(turn.state is not None for turn in every)
    told = dict(_told(predictions, benchmark, own_states))
    outcomes = {name: outcome(benchmark.goals[name], turns, benchmark.venues) for name, turns in told.items()}
    spelling = benchmark.spelling
    texts = {turn.response: spelling.text(turn.response) for turn in every}
    scored, bleu_turns = _bleu(predictions, benchmark, texts)
    unknown = Counter(
        name for turn in every for name in spelling.placeholders(turn.response) if name not in spelling.slots
    )
    return Scores(
        inform=_percent([found.informs for found in outcomes.values()]),
        success=_percent([found.succeeds for found in outcomes.values()]),
        bleu=scored,
        domains=_by_domain(list(outcomes.values())),
        richness=richness([texts[turn.response] for turn in every]),
        placeholders=round(sum(len(spelling.placeholders(turn.response)) for turn in every) / len(every), 2),
        violations=violations((turn for turns in told.values() for turn in turns), benchmark.venues),
        dialogues=len(predictions),
        turns=len(every),
        bleu_turns=bleu_turns,
        states="predicted" if own_states else "gold",
        active_domains="predicted" if all(turn.domains is not None for turn in every) else "estimated",
        unknown_placeholders=dict(unknown.most_common()),
    )


def _told(predictions: Predictions, benchmark: Benchmark, own_states: bool) -> Iterator[tuple[str, list[Told]]]:
    own_domains = all(turn.domains is not None for turns in predictions.values() for turn in turns)
    spelling = benchmark.spelling
    for name, turns in predictions.items():
        states = [spelling.state(state) for state in _states(turns, benchmark.states[name], own_states)]
        domains = [turn.domains or () for turn in turns] if own_domains else list(estimated_domains(states))
        yield (
            name,
            [
                Told(spelling.mentioned(turn.response), state, active, booked)
                for turn, state, active, booked in zip(turns, states, domains, benchmark.booked[name], strict=True)
            ],
        )


def _states(turns: Sequence[Turn], gold: Sequence[State], own: bool) -> Sequence[State]:
    return [turn.state or {} for turn in turns] if own else gold


def _percent(values: Sequence[bool]) -> float:
    return round(100 * sum(values) / len(values), 1)


def _by_domain(outcomes: Sequence[Outcome]) -> dict[str, tuple[float, float]]:
    found = {}
    for domain in sorted({domain for each in outcomes for domain in each.inform}):
        rows = [each for each in outcomes if domain in each.inform]
        found[domain] = (
            _percent([each.inform[domain] for each in rows]),
            _percent([each.success[domain] for each in rows]),
        )
    return found


def _bleu(predictions: Predictions, benchmark: Benchmark, texts: Mapping[str, str]) -> tuple[float | None, int]:
    """BLEU over the dialogues with references, and how many turns that is."""
    replies: list[str] = []
    references: list[str] = []
    for name, turns in predictions.items():
        if name in benchmark.references:
            replies += [texts[turn.response] for turn in turns]
            references += benchmark.references[name]
    if not references:
        return None, 0
    return round(bleu(replies, references), 1), len(references)
