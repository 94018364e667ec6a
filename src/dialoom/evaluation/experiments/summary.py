"""The table of an experiment: each system's metrics with intervals, its failures, its speed and its price."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dialoom.errors import NothingToLearn
from dialoom.evaluation.experiments.comparing import Comparison, compare, compare_corpus
from dialoom.evaluation.experiments.judging import PANEL, WinRate, panel, value_of, win_rates
from dialoom.evaluation.experiments.measures import Answered, measure
from dialoom.evaluation.experiments.results import Results, Row
from dialoom.evaluation.intervals import interval

WIN_RATE = "win-rate"


@dataclass(frozen=True, slots=True)
class Value:
    """A metric of a system; the interval (95 %, dialogues resampled) is None for metrics of a whole corpus.

    `count` replies were measured: a metric that needs labels is of the labelled turns.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    count: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A system's line: counts, metrics overall and by domain, milliseconds (median and 95 % point), tokens, dollars.

    `fallbacks` are replies that an agent gave without its model, which had failed. `dollars` is None where no price is
    known, and the cost of answers that were kept from earlier runs is included.
    """

    system: str
    replies: int
    failed: int
    missing: int
    fallbacks: int
    metrics: Mapping[str, Value]
    domains: Mapping[str, Mapping[str, Value]]
    p50: float
    p95: float
    calls: int
    tokens: int
    dollars: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """The table."""

    lines: Sequence[Line]
    wins: Sequence[WinRate]
    wins_by_domain: Sequence[WinRate]

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)


def summarised(results: Results) -> Summary:
    """The table of `results`."""
    names = results.experiment.metrics
    lines = [_line(results, system, names) for system in results.systems]
    return Summary(lines, win_rates(results.judged), win_rates(results.judged, by_domain=True))


def compared(one: tuple[Results, str], other: tuple[Results, str], metric: str, seed: int = 0) -> Comparison:
    """Whether two systems differ by `metric`, of one experiment or of two on the same test dialogues.

    Raises `UnknownName` for a metric or system there is not, `NothingToLearn` when they share no item it applies to.
    """
    if metric == WIN_RATE:
        (a, groups), (b, more) = _outcomes(*one), _outcomes(*other)
        return compare(metric, a, b, {**groups, **more}, seed=seed)
    parts = [_applicable(results, results.of(system), metric) for results, system in (one, other)]
    if not all(parts):
        raise NothingToLearn(
            f"'{metric}' says nothing of these replies: {measure(metric).told}.",
            hint="It needs labels that the data set has and the systems answer; see docs/evaluation.md.",
        )
    groups = {row.item: row.group for part in parts for row, _ in part}
    of_corpus = measure(metric).corpus
    if of_corpus is not None:
        said = [{row.item: answered for row, answered in part} for part in parts]
        return compare_corpus(metric, of_corpus, said[0], said[1], groups, seed=seed)
    values = [{row.item: _measured(metric, row, answered) for row, answered in part} for part in parts]
    return compare(metric, values[0], values[1], groups, seed=seed)


def _applicable(results: Results, rows: Sequence[Row], metric: str) -> list[tuple[Row, Answered]]:
    """The replies that a metric says something of."""
    applies = measure(metric).applies
    replied = [(row, results.answered(row)) for row in rows if row.reply is not None]
    return [(row, answered) for row, answered in replied if applies(answered)]


def _measured(metric: str, row: Row, answered: Answered) -> float:
    """A metric of one reply, as it was measured when the experiment ran, or now."""
    if metric in row.metrics:
        return row.metrics[metric]
    item = measure(metric).item
    assert item is not None  # noqa: S101 - the caller looked
    return float(item(answered))


def _outcomes(results: Results, system: str) -> tuple[dict[str, float], dict[str, str]]:
    """What a system won; the one that all are compared with ties with itself."""
    results.of(system)
    judge = results.experiment.judge
    reference = judge is not None and judge.against == system
    judged = [found for found in results.judged if reference or found.pair.system == system]
    if not judged:
        raise NothingToLearn(
            f"No judge compared '{system}' with another system.", hint="Add a judge to the experiment and run it again."
        )
    values, groups = {}, {}
    for pair, outcome in panel(judged):
        value = value_of(outcome)
        if value is not None:
            name = f"{pair.dataset}/{pair.dialogue.id}@{pair.seed}>{pair.against}"
            values[name], groups[name] = 0.5 if reference else value, f"{pair.dataset}/{pair.dialogue.id}"
    return values, groups


def _line(results: Results, system: str, names: Sequence[str]) -> Line:
    rows = results.of(system)
    answered = [row for row in rows if row.reply is not None]
    by_domain: dict[str, list[Row]] = defaultdict(list)
    for row in answered:
        by_domain[row.domain].append(row)
    took = np.asarray([row.milliseconds for row in answered] or [0.0])
    told = Counter("failed" if row.error else "missing" for row in rows if row.reply is None)
    dollars = [row.dollars for row in rows if row.dollars is not None]
    return Line(
        system=system,
        replies=len(answered),
        failed=told["failed"],
        missing=told["missing"],
        fallbacks=sum(bool(row.note) for row in answered),
        metrics=_values(results, answered, names),
        domains={domain: _values(results, by_domain[domain], names) for domain in sorted(by_domain)},
        p50=float(np.quantile(took, 0.5)),
        p95=float(np.quantile(took, 0.95)),
        calls=sum(row.calls for row in rows),
        tokens=sum(row.prompt_tokens + row.completion_tokens for row in rows),
        dollars=sum(dollars) if dollars else None,
    )


def _values(results: Results, rows: Sequence[Row], names: Sequence[str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name in names:
        corpus, part = measure(name).corpus, _applicable(results, rows, name)
        if not part:
            values[name] = Value(None)
        elif corpus is not None:
            values[name] = Value(corpus([answered for _, answered in part]), count=len(part))
        else:
            found = np.asarray([_measured(name, row, answered) for row, answered in part], dtype=np.float64)
            values[name] = Value(float(found.mean()), *interval(found, [row.group for row, _ in part]), len(part))
    return values


def headline(wins: Sequence[WinRate]) -> list[WinRate]:
    """The rates to show first: the panel's where there is one, else the judge's."""
    judges = {rate.judge for rate in wins}
    return [rate for rate in wins if rate.judge == PANEL or PANEL not in judges]
