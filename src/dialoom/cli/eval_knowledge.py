"""`dialoom eval knowledge`: source planning and evidence retrieval on labelled turns."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from dialoom.errors import UnknownName

if TYPE_CHECKING:
    from dialoom.evaluation.kbp import Scores
    from dialoom.evaluation.knowledge import KnowledgeReport
    from dialoom.knowledge.ranking.ranker import Watch

EXAMPLE = "Example: dialoom eval knowledge --format kbp --train train.json --dev dev.json --json"


def knowledge(
    train: Annotated[list[str], typer.Option(help="Labelled dialogues to learn from.")],
    dev: Annotated[list[str], typer.Option(help="Labelled dialogues to report on; nothing is tuned on them.")],
    test: Annotated[list[str] | None, typer.Option(help="Further dialogues to report on.")] = None,
    format: Annotated[str, typer.Option(help="The dialogues' format.")] = "kbp",  # noqa: A002
    ablations: Annotated[bool, typer.Option(help="Also rows without memory and with unseen personas.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Which sources does a turn need, and which evidence? One planner and one ranker, trained on --train alone.

    Runs on one CPU core in about three minutes without --ablations. Figures are percentages.
    """
    from dialoom.evaluation.knowledge import evaluate_kbp

    if format != "kbp":
        raise UnknownName("format of labelled turns", format, ("kbp",))
    with _progress() as watch:
        report = evaluate_kbp(train, dev, test or (), ablations=ablations, watch=watch)
    if as_json:
        typer.echo(json.dumps(report.plain(), indent=2))
    else:
        _print(report)


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
        planning = Table(title=f"Planning on {split}: F1 (turns planned so)")
        recall = Table(title=f"Retrieval on {split}: Recall@1, gold plan given")
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
    console.print("Turns: " + ", ".join(f"{name} {number}" for name, number in report.counts.items()))
    for note in report.notes:
        console.print(note, markup=False)


def _add(method: str, scores: Scores, planning: Table, recall: Table) -> None:
    if scores.f1:
        cells = [f"{scores.f1[name]:.2f} ({scores.predicted[name]}, gold {scores.gold[name]})" for name in scores.f1]
        planning.add_row(method.replace("_", " "), *cells)
    recall.add_row(method.replace("_", " "), *(f"{value:.2f}" for value in scores.recall_at_1.values()))
