"""What simulated conversations measure, in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dialoom.errors import NothingToLearn
from dialoom.evaluation.experiments.definition import Price
from dialoom.evaluation.intervals import share_interval
from dialoom.evaluation.simulation.metering import Bill
from dialoom.evaluation.simulation.partners import Partner
from dialoom.evaluation.simulation.talks import Talk


@dataclass(frozen=True, slots=True)
class Measures:
    """Means over talks. `turns_to_success` and `conformance` are None where there is nothing to say it of.

    `completion` (with its 95 % interval `low` to `high`), `handed_off` and `failed` are shares of talks, `repairs` a
    mean a talk, `fallbacks` turns of the agent without its model, which had failed, `p50` and `p95` milliseconds of an
    agent's turn. `conformance` is the share of rounds that a learned automaton explains, or of turns that went as a
    flow's author foresaw. `bill` is the agent's, `players` that of models that play the user. `domains` is completion
    by domain.
    """

    talks: int
    completion: float
    low: float
    high: float
    turns_to_success: float | None
    repairs: float
    handed_off: float
    failed: float
    fallbacks: int
    conformance: float | None
    bill: Bill
    players: Bill
    p50: float
    p95: float
    domains: dict[str, float] = field(default_factory=dict)


def measured(
    talks: Sequence[Talk], partner: Partner | None = None, prices: Mapping[str, Price] | None = None
) -> Measures:
    """Means over `talks`; with their `partner`, how much of them it explains. Raises `NothingToLearn` for none.

    `prices` are of models whose adapters know none, by name.
    """
    if not talks:
        raise NothingToLearn("No conversation was held, so there is nothing to measure.")
    times = np.asarray([one for talk in talks for one in talk.milliseconds] or [0.0])
    reached = np.asarray([talk.reached for talk in talks], dtype=np.float64)
    turns = [talk.turns for talk in talks if talk.reached]
    low, high = share_interval(sum(talk.reached for talk in talks), len(talks))
    by_domain: dict[str, list[bool]] = {}
    for talk in talks:
        by_domain.setdefault(talk.domain, []).append(talk.reached)
    known = prices or {}
    return Measures(
        talks=len(talks),
        completion=float(reached.mean()),
        low=low,
        high=high,
        turns_to_success=float(np.mean(turns)) if turns else None,
        repairs=float(np.mean([talk.repairs for talk in talks])),
        handed_off=float(np.mean([talk.hand_off for talk in talks])),
        failed=float(np.mean([bool(talk.failed) for talk in talks])),
        fallbacks=sum(talk.fallbacks for talk in talks),
        conformance=_conformance(talks, partner),
        bill=Bill.of((call for talk in talks for call in talk.called), known),
        players=Bill.of((call for talk in talks for call in talk.played), known),
        p50=float(np.quantile(times, 0.5)),
        p95=float(np.quantile(times, 0.95)),
        domains={domain: float(np.mean(by_domain[domain])) for domain in sorted(by_domain)},
    )


def _conformance(talks: Sequence[Talk], partner: Partner | None) -> float | None:
    judged = [talk for talk in talks if talk.conforming is not None]
    if judged:
        return sum(talk.conforming or 0 for talk in judged) / max(1, sum(talk.turns for talk in judged))
    return None if partner is None else partner.conformance([t.dialogue for t in talks if t.dialogue.utterances])
