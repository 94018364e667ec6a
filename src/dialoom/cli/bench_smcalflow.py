"""`dialoom bench smcalflow`: how much of a corpus of real programs the calendar reads, runs, describes and derives."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table


def smcalflow(
    file: Annotated[Path, typer.Argument(help="An SMCalFlow 2.0 file, .jsonl or .jsonl.gz.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object with shares of 1.")] = False,
    failures: Annotated[
        Path | None, typer.Option(help="Write the turns that are not derived here, as JSON lines.")
    ] = None,
) -> None:
    """Event queries of a real corpus: shares that parse, execute, are described, and whose replies are derivable."""
    from dialoom.domains.calendar.smcalflow.bench import examine, summarise
    from dialoom.domains.calendar.smcalflow.turns import is_event_query, read_turns
    from dialoom.files import write_text

    turns = [turn for turn in read_turns(file) if is_event_query(turn.program)]
    shown = track(turns, "Deriving replies", disable=as_json, console=Console(stderr=True), transient=True)
    results = [examine(turn) for turn in shown]
    summary = summarise(results)
    if failures is not None:
        lost = [{**dataclasses.asdict(r.turn), "problem": r.problem} for r in results if not r.derived]
        write_text(failures, "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in lost))
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(summary)))
        return
    table = Table(title=f"Event queries of {file.name}: {summary.turns} turns")
    table.add_column("")
    table.add_column("", justify="right")
    for name in ("parsed", "executed", "described", "derived"):
        table.add_row(name, f"{100 * getattr(summary, name):.1f} %")
    table.add_row("productions per grammar (median)", f"{summary.productions:.0f}")
    for stage, milliseconds in summary.milliseconds.items():
        table.add_row(f"{stage}, ms (median)", f"{milliseconds:.2f}")
    Console().print(table)
