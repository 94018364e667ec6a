"""`dialoom eval label` and `dialoom eval agreement`: people as judges."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from dialoom.cli.console import Json, err, out, print_json
from dialoom.errors import NothingToLearn
from dialoom.evaluation.experiments.labels import agreements, export_labels, read_labels
from dialoom.evaluation.experiments.results import Results

Folder = Annotated[Path, typer.Argument(help="The folder of an experiment's results.", show_default=False)]
Against = Annotated[str | None, typer.Option(help="The system compared with. Default: the judge's.")]

LABEL_EXAMPLE = "Example: dialoom eval label results --out labels.csv --count 50"
AGREEMENT_EXAMPLE = "Example: dialoom eval agreement results anna.csv ben.csv"


def label_command(
    results: Folder,
    path: Annotated[Path, typer.Option("--out", "-o", help="The table to fill in.")] = Path("labels.csv"),
    count: Annotated[int, typer.Option(help="How many pairs.", min=1)] = 50,
    against: Against = None,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 0,
) -> None:
    """Export pairs of completed dialogues for people to judge. Nobody sees which system is A; choose A, B or tie."""
    written = export_labels(Results.load(results), path, count, seed=seed, against=against)
    out.print(f"{written} pairs written to {escape(str(path))}. Fill in the column choice with A, B or tie.")


def agreement_command(
    results: Folder,
    labels: Annotated[list[Path], typer.Argument(help="Labelled tables, one a person.", show_default=False)],
    against: Against = None,
    as_json: Json = False,
) -> None:
    """How far people and judges agree: share of equal labels and Cohen's kappa, for every two of them."""
    found = Results.load(results)
    labelled = {}
    for path in labels:
        labelled[path.stem], blank = read_labels(path, found, against=against)
        if blank:
            err.print(f"{escape(str(path))}: {blank} pairs have no choice and do not count.")
    shared = agreements(found, labelled)
    if not shared:
        raise NothingToLearn("No two of them labelled the same pair.", hint="Label pairs of one export.")
    if as_json:
        print_json([asdict(agreement) for agreement in shared])
        return
    table = Table("one", "other", "pairs", "agreed", "Cohen's kappa", box=None, header_style="bold")
    for agreement in shared:
        kappa = "-" if agreement.kappa is None else f"{agreement.kappa:.2f}"
        names = escape(agreement.one), escape(agreement.other)
        table.add_row(*names, str(agreement.pairs), f"{agreement.agreed:.0%}", kappa)
    out.print(table)
