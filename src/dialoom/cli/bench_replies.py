"""`dialoom bench replies`: tables 1 and 2 of dataflow transduction."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from dialoom.cli.console import Json, out, print_json, progress

if TYPE_CHECKING:
    from dialoom.evaluation.replies.tables import Scores, Tables

EXAMPLE = "Example: dialoom bench replies replies.yaml --limit 100"
METRICS = {"BLEU": "bleu", "ROUGE": "rouge", "BERTSc.": "bertscore", "R@1": "r1", "R@5": "r5"}
CHECKED = {"Truthful": "truthful", "No claim": "silent"}


def replies_command(
    config: Annotated[Path, typer.Argument(help="The file that `dialoom train replies` read.", show_default=False)],
    limit: Annotated[int | None, typer.Option(help="Only the first N test queries.", min=1)] = None,
    bertscore: Annotated[str | None, typer.Option(help="An encoder for BERTScore: FOLDER or FOLDER@LAYER.")] = None,
    as_json: Json = False,
) -> None:
    """Tables 1 and 2 of the dataflow transduction paper: tuned models, with and without the grammar.

    Test replies are those of the corpus that are true in some world. A verifier stands in for the paper's human judges:
    it knows neither rules nor grammars, and judges truth alone.
    """
    from dialoom.domains.calendar.smcalflow.replies import known_replies
    from dialoom.evaluation.bertscore import opened
    from dialoom.evaluation.replies.settings import read_settings
    from dialoom.evaluation.replies.tables import measure
    from dialoom.evaluation.replies.tuning import split

    settings = read_settings(config)
    turns = split(settings).test[:limit]
    test = list(known_replies(progress(turns, "Finding worlds", len(turns))))
    bert = opened(bertscore) if bertscore else None
    tables = measure(settings, test, bert=bert, watch=lambda system, replies: progress(replies, system, len(replies)))
    if as_json:
        document = {"turns": len(turns), **dataclasses.asdict(tables)}
        document["groups"] = [group | {"variant": group["variant"].model_dump()} for group in document["groups"]]
        print_json(document)
        return
    out.print(
        f"{len(test)} test replies; {len(turns) - len(test)} of {len(turns)} event queries left out: no world found"
    )
    _show(tables)


def _show(tables: Tables) -> None:
    first = _table("System", METRICS | CHECKED)
    for name, scores in tables.table1():
        first.add_row(name, *_cells(scores, METRICS, 2), *_cells(scores, CHECKED, 3))
    out.print(f"\nTable 1 ({tables.full.title})", first, "")
    second = _table("", METRICS | CHECKED)
    for number, group in enumerate(tables.groups, 1):
        untuned = "" if group.constrained else " (not tuned yet)"
        second.add_row(f"{number}. {group.title}{untuned}")
        for mark, scores in (("✗", group.unconstrained), ("✓", group.constrained)):
            second.add_row(f"   {mark}", *_cells(scores, METRICS, 2), *_cells(scores, CHECKED, 3))
    out.print("Table 2 (✗ unconstrained, ✓ QCFG-constrained)", second)


def _table(first: str, columns: dict[str, str]) -> Table:
    table = Table(first, box=None, min_width=110)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _cells(scores: Scores | None, columns: dict[str, str], digits: int) -> list[str]:
    values = [getattr(scores, name) if scores else None for name in columns.values()]
    return ["-" if value is None else f"{value:.{digits}f}" for value in values]
