"""`dialoom eval dialogues`: run an experiment, and show what it found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from dialoom.cli.console import Json, err, out, print_json
from dialoom.evaluation.experiments.definition import json_schema, read_experiment
from dialoom.evaluation.experiments.experiment import run_experiment
from dialoom.evaluation.experiments.items import Item
from dialoom.evaluation.experiments.judging import WinRate
from dialoom.evaluation.experiments.report import write_report
from dialoom.evaluation.experiments.results import Results
from dialoom.evaluation.experiments.running import Advance, Plan, Spent
from dialoom.evaluation.experiments.summary import Line, Summary, Value, headline, summarised
from dialoom.evaluation.experiments.systems import Opener
from dialoom.files import write_text
from dialoom.models.blocking import run_sync

EXAMPLE = "Example: dialoom eval dialogues experiment.yaml --out results"


def dialogues_command(
    experiment_file: Annotated[Path, typer.Argument(help="The experiment, a YAML file.", show_default=False)],
    folder: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where results go (the file's name with -results).")
    ] = None,
    items: Annotated[
        Path | None, typer.Option(help="Only write what is asked, a line of JSON a turn, to answer it elsewhere.")
    ] = None,
    app: Annotated[Path | None, typer.Option(help="The application module of flows among the systems.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Only count what would be asked.")] = False,
    as_json: Json = False,
) -> None:
    """Run an experiment: systems answer the turns of test dialogues, metrics and judges compare them.

    A stopped run continues where it was: nothing is asked twice. Results, a table and report.html go into the folder.
    """
    experiment = read_experiment(experiment_file)
    source = experiment_file.parent
    target = folder or Path(f"{experiment_file.stem}-results")
    if items is not None or plan:
        _planned(
            Plan.make(experiment, Opener(source, prices=experiment.prices, app=app), target), items, as_json=as_json
        )
        return
    try:
        with _progress() as advance:
            results = run_sync(run_experiment(experiment, source, target, advance=advance, app=app))
    except KeyboardInterrupt:
        err.print(f"What was answered is kept in {escape(str(target))}: run the same command again to go on.")
        raise
    summary = summarised(results)
    write_report(results, summary, target / "report.html")
    write_text(target / "summary.json", json.dumps(summary.to_json(), ensure_ascii=False, indent=1) + "\n")
    if as_json:
        print_json({"folder": str(target), "run": dict(results.run), **summary.to_json()})
    else:
        _print(results, summary, target)


def schema_command() -> None:
    """Print the JSON Schema of experiment files, for editors and checks."""
    print_json(json_schema())


def _planned(plan: Plan, path: Path | None, *, as_json: bool) -> None:
    if path is not None:
        lines = [json.dumps(_told(item), ensure_ascii=False) + "\n" for data in plan.data for item in data.items]
        write_text(path, "".join(lines))
        out.print(f"{len(lines)} turns written to {escape(str(path))}.")
        return
    pending = plan.pending()
    if as_json:
        print_json(pending)
        return
    for system, counts in pending.items():
        out.print(f"{escape(system)}: {counts['pending']} of {counts['asked']} replies are still to be asked for.")


def _told(item: Item) -> dict[str, Any]:
    context = [{"role": said.role.value, "text": said.text} for said in item.context.utterances]
    return {
        "dataset": item.dataset,
        "dialogue": item.dialogue,
        "turn": item.turn,
        "domain": item.domain,
        "context": context,
    }


@contextmanager
def _progress() -> Iterator[Advance | None]:
    if not err.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("reading")

        def advance(spent: Spent) -> None:
            told = f"{escape(spent.what)}  {spent.calls} calls, ${spent.dollars:.4f}, {spent.failed} failed"
            bar.update(task, completed=spent.done, total=spent.total, description=told)

        yield advance


def _print(results: Results, summary: Summary, target: Path) -> None:
    lines, wins = summary.lines, {rate.system: rate for rate in headline(summary.wins)}
    columns = (Column(escape(line.system), overflow="fold") for line in lines)
    table = Table("", *columns, box=None, header_style="bold")
    table.add_row("replies", *(str(line.replies) for line in lines))
    for name in results.experiment.metrics:
        table.add_row(name, *(_value(line.metrics[name], name) for line in lines))
    if results.experiment.judge is not None:
        against = escape(results.experiment.judge.against)
        table.add_row(f"win rate over {against}", *(_rate(wins.get(line.system)) for line in lines))
    table.add_row("ms, median (95 %)", *(f"{line.p50:.0f} ({line.p95:.0f})" for line in lines))
    if any(line.calls for line in lines):
        table.add_row("model calls", *(str(line.calls) for line in lines))
        table.add_row("tokens", *(str(line.tokens) for line in lines))
        table.add_row("dollars", *("-" if line.dollars is None else f"{line.dollars:.4f}" for line in lines))
    out.print(table)
    for told in remarks(results.run, summary):
        err.print(escape(told))
    out.print(f"\nRead it in [bold]{escape(str(target / 'report.html'))}[/].")


def remarks(run: Mapping[str, Any], summary: Summary) -> list[str]:
    """What was left out, failed or stopped, a line each."""
    told = [f"Stopped: {run['stopped']}. Run again with a larger budget to go on."] if run["stopped"] else []
    told += [
        f"{name}: left out {count} {what}." for name, left in run["skipped"].items() for what, count in left.items()
    ]
    told += [f"{name} failed too often in a row and was given up: {why}" for name, why in run["given_up"].items()]
    told += [f"{line.system}: {_lost(line)}." for line in summary.lines if _lost(line)]
    told += [f"{name} failed so: {why}" for name, why in run.get("reasons", {}).items() if name not in run["given_up"]]
    told += [
        f"{name}: {n} dialogues are incomplete and were not judged." for name, n in run.get("incomplete", {}).items()
    ]
    for rate in summary.wins:
        if rate.malformed or rate.unjudged:
            told.append(f"{rate.judge} on {rate.system}: {rate.malformed} malformed, {rate.unjudged} not judged.")
        if rate.agreement is not None and rate.first is not None:
            told.append(
                f"{rate.judge} on {rate.system}: the two orders agree on {rate.agreement:.0%} of the pairs; "
                f"{rate.first:.0%} of its verdicts are for what stood first."
            )
    if run.get("stale"):
        told.append(f"{run['stale']} answers in the folder are of other code, data or settings and do not count.")
    told += [f"{name} is of {counts}." for name, counts in partly(summary).items()]
    if run["torn"]:
        told.append(f"{run['torn']} records had been cut short by an earlier stop and were asked again.")
    return told


def partly(summary: Summary) -> dict[str, str]:
    """The metrics that not every reply is measured by, with how many are: those that need labels."""
    told: dict[str, str] = {}
    for name in summary.lines[0].metrics if summary.lines else ():
        counts = {line.system: (line.metrics[name].count, line.replies) for line in summary.lines}
        if any(count < replies for count, replies in counts.values()):
            listed = ", ".join(f"{count} of {replies} ({name})" for name, (count, replies) in counts.items())
            told[name] = f"the replies with the labels it needs: {listed}"
    return told


def _lost(line: Line) -> str:
    counts = {
        "replies failed (run again to retry)": line.failed,
        "replies are missing": line.missing,
        "replies were given without the model, which failed": line.fallbacks,
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count)


def _value(value: Value, name: str) -> str:
    if value.value is None:
        return "-"
    digits = 1 if name.startswith(("bleu", "length")) else 3
    shown = f"{value.value:.{digits}f}"
    if value.low is None or value.high is None:
        return shown
    return f"{shown} [dim]{value.low:.{digits}f}-{value.high:.{digits}f}[/]"


def _rate(rate: WinRate | None) -> str:
    if rate is None or rate.rate is None:
        return "-"
    return f"{rate.rate:.1%} [dim]{rate.low:.0%}-{rate.high:.0%}[/]"
