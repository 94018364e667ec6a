"""One experiment from its file to its results: ask, judge, measure, keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dialoom.dialogue import Dialogue
from dialoom.evaluation.experiments.definition import Experiment
from dialoom.evaluation.experiments.gold import Found, ReplyActions
from dialoom.evaluation.experiments.items import Data
from dialoom.evaluation.experiments.judging import Bench, Judged
from dialoom.evaluation.experiments.ledger import Ledger
from dialoom.evaluation.experiments.measures import Answered, measure
from dialoom.evaluation.experiments.pairs import Pair
from dialoom.evaluation.experiments.results import Results, Row, answered, pairs_from
from dialoom.evaluation.experiments.running import Advance, Asked, Plan, Purse, Replies
from dialoom.evaluation.experiments.systems import Opener, Reply
from dialoom.models.base import LanguageModel
from dialoom.models.opening import open_model


async def run_experiment(
    experiment: Experiment,
    source: Path,
    folder: Path,
    *,
    models: Callable[[str], LanguageModel] = open_model,
    advance: Advance | None = None,
    app: Path | None = None,
) -> Results:
    """Run an experiment whose paths are relative to `source`; results go into `folder`, where a stopped run continues.

    `app` is the application module of flows, which no data file may name.

    Replies and verdicts that are already in `folder` are not asked for again. Results are saved when the budget is
    spent or a system is given up too; `Results.run` says so. Raises `UsageError` for what must be mended in the file.
    """
    plan = Plan.make(experiment, Opener(source, models, experiment.prices, app), folder)
    replies = await plan.run(advance)
    dialogues = {(data.spec.name, dialogue.id): dialogue for data in plan.data for dialogue in data.test}
    scorers = {data.spec.name: Scorer(experiment, data) for data in plan.data}
    rows = [scorers[asked.item.dataset].row(asked, replies) for asked in replies.asked]
    told: dict[str, Any] = {
        "skipped": {data.spec.name: dict(data.skipped) for data in plan.data},
        "items": {data.spec.name: len(data.items) for data in plan.data},
        "train": {data.spec.name: len(data.train) for data in plan.data},
        "missing": dict(replies.missing),
        "given_up": dict(replies.given_up),
        "torn": replies.ledger.torn,
        "stopped": replies.stopped,
        "asked_before": replies.spent.known,
        "stale": replies.stale,
        "reasons": {row.system: row.error for row in rows if row.error},
    }
    judged: list[Judged] = []
    if experiment.judge is not None and not replies.stopped:
        pairs, incomplete = pairs_from(experiment, dialogues, rows, experiment.judge.against)
        told["incomplete"] = dict(incomplete)
        judged, told["stopped"] = await _judged(experiment, pairs, replies, plan, models, advance)
        told["reasons"] |= {found.judge: found.error for found in judged if found.error}
    told["calls"], told["dollars"] = replies.spent.calls, replies.spent.dollars
    results = Results(experiment, dialogues, rows, judged, told)
    results.save(folder)
    return results


@dataclass(frozen=True)
class Scorer:
    """Turns the answers of one data set into measured rows."""

    experiment: Experiment
    data: Data

    def row(self, asked: Asked, replies: Replies) -> Row:
        """The row of a question."""
        item = asked.item
        place = (asked.system, asked.seed, item.dataset, item.dialogue, item.turn, item.domain, item.reference)
        reply = replies.reply(asked)
        if reply is None:
            return Row(*place, None, error=replies.error(asked))
        row = Row(
            *place,
            reply.text,
            reply.candidates,
            calls=reply.calls,
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            dollars=reply.dollars,
            milliseconds=reply.milliseconds,
            note=reply.note,
            found=self.found(reply),
        )
        return replace(row, metrics=self._metrics(answered(self._dialogues[item.dialogue], row)))

    def found(self, reply: Reply) -> Found:
        """What came with a reply, for the metrics of actions, plans and evidence."""
        used = (example.rpartition("#") for example in reply.examples)
        actions = tuple(self._action(id_, int(turn)) for id_, _, turn in used)
        action = reply.action
        if action is None and reply.taken:
            id_, _, turn = reply.taken.rpartition("#")
            action = self._action(id_, int(turn))
        if action is None and "next-action" in self.experiment.metrics:
            action = self._reply_actions.of(reply.text)
        known = any(label is not None for label in actions)
        return Found(action, actions if known else (), reply.plan, reply.evidence)

    def _metrics(self, said: Answered) -> dict[str, float]:
        measures = ((name, measure(name)) for name in self.experiment.metrics)
        return {name: float(of.item(said)) for name, of in measures if of.item is not None and of.applies(said)}

    def _action(self, dialogue: str, turn: int) -> str | None:
        labels = self.data.actions.get(dialogue, ())
        return labels[turn] if turn < len(labels) else None

    @cached_property
    def _dialogues(self) -> dict[str, Dialogue]:
        return {dialogue.id: dialogue for dialogue in self.data.test}

    @cached_property
    def _reply_actions(self) -> ReplyActions:
        return ReplyActions.build(self.data.train, self.data.actions)


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
    bench = Bench.open(experiment.judge, plan.opener.folder, models, ledger, experiment.prices)
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
