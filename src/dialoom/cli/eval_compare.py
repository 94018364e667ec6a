"""`dialoom eval compare`: is the difference between two systems real?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Column, Table

from dialoom.cli.console import Json, out, print_json
from dialoom.errors import UsageError
from dialoom.evaluation.experiments.comparing import Comparison
from dialoom.evaluation.experiments.results import Results
from dialoom.evaluation.experiments.summary import compared

EXAMPLE = "Example: dialoom eval compare results#bm25 results#automaton --metric rouge-l"
System = Annotated[str, typer.Argument(help="FOLDER#SYSTEM, or FOLDER where it has one system.", show_default=False)]


def compare_command(
    a: System,
    b: System,
    metric: Annotated[
        list[str] | None, typer.Option(help="A metric, or win-rate; may be repeated. Default: those of the experiment.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    as_json: Json = False,
) -> None:
    """Compare two systems on the turns both answered: difference, 95 % interval and p of a permutation test.

    Dialogues are resampled whole, because turns of one dialogue are not independent.
    """
    one, other = _opened(a), _opened(b)
    found = [compared(one, other, name, seed) for name in metric or one[0].experiment.metrics]
    if as_json:
        print_json([asdict(comparison) for comparison in found])
        return
    table = Table(
        Column("metric", no_wrap=True),
        escape(a),
        escape(b),
        "difference",
        "95 %",
        "p",
        "",
        box=None,
        header_style="bold",
    )
    for comparison in found:
        table.add_row(
            comparison.metric,
            f"{comparison.a:.4g}",
            f"{comparison.b:.4g}",
            f"{comparison.difference:+.4g}",
            f"{comparison.low:+.4g} to {comparison.high:+.4g}",
            f"{comparison.p:.4f}",
            "real" if comparison.real else "may be chance",
        )
    out.print(table)
    out.print(f"[dim]{_how(found[0])}[/]")


def _how(comparison: Comparison) -> str:
    told = f"{comparison.items} turns of {comparison.dialogues} dialogues, {comparison.method}, bootstrap interval."
    if comparison.unpaired:
        told += f" {comparison.unpaired} turns that only one answered are left out."
    return told


def _opened(name: str) -> tuple[Results, str]:
    folder, _, system = name.partition("#")
    results = Results.load(Path(folder))
    if not system and len(results.systems) > 1:
        listed = ", ".join(f"{folder}#{known}" for known in results.systems)
        raise UsageError(f"Which system of {folder}?", hint=f"One of: {listed}.")
    system = system or results.systems[0]
    results.of(system)
    return results, system
