"""`dialoom eval knowledge`: planning, retrieval and replies on labelled turns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from dialoom.errors import UnknownName

if TYPE_CHECKING:
    from dialoom.evaluation.kbp import Scores
    from dialoom.evaluation.kbp_replies import ReplyScores
    from dialoom.evaluation.knowledge import KnowledgeReport, ReplySettings
    from dialoom.knowledge.base import ConsistencyScorer
    from dialoom.knowledge.ranking.ranker import Watch

EXAMPLE = "Example: dialoom eval knowledge --format kbp --train train.json --dev dev.json --json"


def knowledge(
    train: Annotated[list[str], typer.Option(help="Labelled dialogues to learn from.")],
    dev: Annotated[list[str], typer.Option(help="Labelled dialogues to report on; nothing is tuned on them.")],
    test: Annotated[list[str] | None, typer.Option(help="Further dialogues to report on.")] = None,
    format: Annotated[str, typer.Option(help="The dialogues' format.")] = "kbp",  # noqa: A002
    ablations: Annotated[bool, typer.Option(help="Also rows without memory and with unseen personas.")] = True,
    replies: Annotated[
        str, typer.Option(help="Who replies: 'extractive', 'unims:FOLDER', a model to write them, or 'none'.")
    ] = "extractive",
    reply_turns: Annotated[
        int, typer.Option(min=0, help="Turns of each file to reply to, evenly spaced; 0: all.")
    ] = 300,
    consistency: Annotated[str, typer.Option(help="Judge: 'lexical', or the folder of a trained cross-encoder.")] = (
        "lexical"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Which sources does a turn need, and which evidence? One planner and one ranker, trained on --train alone.

    Runs on one CPU core in about three minutes without --ablations. Figures are percentages.
    """
    from dialoom.evaluation.knowledge import evaluate_kbp

    if format != "kbp":
        raise UnknownName("format of labelled turns", format, ("kbp",))
    who = _replies(replies, reply_turns, consistency)
    with _progress() as watch:
        report = evaluate_kbp(train, dev, test or (), ablations=ablations, replies=who, watch=watch)
    if as_json:
        typer.echo(json.dumps(report.plain(), indent=2))
    else:
        _print(report)


def _replies(spec: str, turns: int, judge: str) -> ReplySettings | None:
    from dialoom.evaluation.knowledge import ReplySettings
    from dialoom.knowledge import LexicalConsistency, PromptedReader
    from dialoom.models.opening import open_model

    if spec in ("none", ""):
        return None
    kind, _, folder = spec.partition(":")
    settings = ReplySettings(turns=turns, consistency=LexicalConsistency() if judge == "lexical" else _judge(judge))
    if kind == "unims":
        from dialoom.knowledge.unified.model import UnifiedModel

        return replace(settings, unified=UnifiedModel.load(folder))
    return settings if spec == "extractive" else replace(settings, reader=PromptedReader(open_model(spec)))


def _judge(folder: str) -> ConsistencyScorer:
    from dialoom.knowledge.encoding.crossencoder import CrossEncoder

    return CrossEncoder.load(folder)


@contextmanager
def _progress() -> Iterator[Watch]:
    bars = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*bars, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading", total=None)

        def watch(what: str, done: int, of: int) -> None:
            progress.update(task, description=what, completed=done, total=of)

        yield watch


def _print(report: KnowledgeReport) -> None:
    console = Console()
    for split, rows in report.rows.items():
        planning = Table(title=f"Table III: planning on {split}, F1 (turns planned so)")
        recall = Table(title=f"Table IV: retrieval on {split}, Recall@1, gold plan given")
        for table, names in (
            (planning, ("NULL", "PERSONA", "BOTH")),
            (recall, ("PERSONA", "BOTH_PERSONA", "BOTH_DOCUMENTS")),
        ):
            table.add_column("method")
            for name in names:
                table.add_column(name, justify="right")
        for method, scores in rows.items():
            _add(method, scores, planning, recall)
        console.print(planning)
        console.print(recall)
    for split, found in report.replies.items():
        _print_replies(console, split, found)
    console.print("Turns: " + ", ".join(f"{name} {number}" for name, number in report.counts.items()))
    for note in report.notes:
        console.print(note, markup=False)


def _add(method: str, scores: Scores, planning: Table, recall: Table) -> None:
    if scores.f1:
        cells = [f"{scores.f1[name]:.2f} ({scores.predicted[name]}, gold {scores.gold[name]})" for name in scores.f1]
        planning.add_row(method.replace("_", " "), *cells)
    recall.add_row(method.replace("_", " "), *(f"{value:.2f}" for value in scores.recall_at_1.values()))


def _print_replies(console: Console, split: str, found: Mapping[str, ReplyScores]) -> None:
    from dialoom.evaluation.kbp_replies import TABLES

    for title, names in TABLES.items():
        table = Table(title=f"{title}, on {split}")
        for column in ("row", "BLEU-1", "ROUGE-L", "P.C", "K.C"):
            table.add_column(column, justify="left" if column == "row" else "right")
        for name in names:
            if name in found:
                cells = (f"{value:.2f}" for value in found[name].plain().values())
                table.add_row(name.replace("_", " "), *cells)
        console.print(table)
    console.print("BLEU-1 and ROUGE-L count characters without white space.")
