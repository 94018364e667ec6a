"""One experiment from its file to its results: ask, judge, measure, keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dialoom.evaluation.experiments.definition import Experiment
from dialoom.evaluation.experiments.judging import Bench, Judged
from dialoom.evaluation.experiments.ledger import Ledger
from dialoom.evaluation.experiments.measures import measure
from dialoom.evaluation.experiments.pairs import Pair
from dialoom.evaluation.experiments.results import Results, Row, pairs_from
from dialoom.evaluation.experiments.running import Advance, Asked, Plan, Purse, Replies
from dialoom.evaluation.experiments.systems import Opener
from dialoom.models.base import LanguageModel
from dialoom.models.opening import open_model


async def run_experiment(
    experiment: Experiment,
    source: Path,
    folder: Path,
    *,
    models: Callable[[str], LanguageModel] = open_model,
    advance: Advance | None = None,
) -> Results:
    """Run an experiment whose paths are relative to `source`; results go into `folder`, where a stopped run continues.

    Replies and verdicts that are already in `folder` are not asked for again. Results are saved when the budget is
    spent or a system is given up too; `Results.run` says so. Raises `UsageError` for what must be mended in the file.
    """
    plan = Plan.make(experiment, Opener(source, models), folder)
    replies = await plan.run(advance)
    rows = [row_of(asked, replies, experiment) for asked in replies.asked]
    dialogues = {(data.spec.name, dialogue.id): dialogue for data in plan.data for dialogue in data.test}
    told: dict[str, Any] = {
        "skipped": {data.spec.name: dict(data.skipped) for data in plan.data},
        "items": {data.spec.name: len(data.items) for data in plan.data},
        "train": {data.spec.name: len(data.train) for data in plan.data},
        "missing": dict(replies.missing),
        "given_up": dict(replies.given_up),
        "torn": replies.ledger.torn,
        "stopped": replies.stopped,
        "asked_before": replies.spent.known,
    }
    judged: list[Judged] = []
    if experiment.judge is not None and not replies.stopped:
        pairs, incomplete = pairs_from(experiment, dialogues, rows, experiment.judge.against)
        told["incomplete"] = dict(incomplete)
        judged, told["stopped"] = await _judged(experiment, pairs, replies, plan, models, advance)
    told["calls"], told["dollars"] = replies.spent.calls, replies.spent.dollars
    results = Results(experiment, dialogues, rows, judged, told)
    results.save(folder)
    return results


def row_of(asked: Asked, replies: Replies, experiment: Experiment) -> Row:
    """The row of a question, measured."""
    item = asked.item
    place = (asked.system, asked.seed, item.dataset, item.dialogue, item.turn, item.domain, item.reference)
    reply = replies.reply(asked)
    if reply is None:
        return Row(*place, None, error=replies.error(asked))
    said = (reply.text, *reply.candidates[1:])
    measures = ((name, measure(name).item) for name in experiment.metrics)
    metrics = {name: float(of_item(said, item.reference)) for name, of_item in measures if of_item is not None}
    return Row(
        *place,
        reply.text,
        reply.candidates,
        metrics,
        reply.calls,
        reply.prompt_tokens,
        reply.completion_tokens,
        reply.dollars,
        reply.milliseconds,
        reply.note,
    )


async def _judged(
    experiment: Experiment,
    pairs: list[Pair],
    replies: Replies,
    plan: Plan,
    models: Callable[[str], LanguageModel],
    advance: Advance | None,
) -> tuple[list[Judged], str]:
    assert experiment.judge is not None  # noqa: S101 - the caller looked
    chosen = _first(pairs, experiment.judge.dialogues)
    ledger = Ledger(plan.folder / "verdicts.jsonl")
    spent = replies.spent
    for record in ledger.records.values():
        spent.add(record)
    bench = Bench.open(experiment.judge, plan.opener.folder, models, ledger)
    spent.what, spent.done = "judging", 0
    spent.total = sum(not pair.same for _, pair, _ in bench.questions(chosen))

    def one_more() -> None:
        spent.done += 1
        if advance is not None:
            advance(spent)

    return await bench.judge(chosen, Purse(experiment.budget, spent), experiment.concurrency, one_more)


def _first(pairs: list[Pair], most: int | None) -> list[Pair]:
    """The pairs of the first `most` dialogues of each data set, in the order of their ids."""
    if most is None:
        return pairs
    kept = {
        (name, id_)
        for name in {pair.dataset for pair in pairs}
        for id_ in sorted({pair.dialogue.id for pair in pairs if pair.dataset == name})[:most]
    }
    return [pair for pair in pairs if (pair.dataset, pair.dialogue.id) in kept]
