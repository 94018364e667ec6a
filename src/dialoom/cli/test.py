"""`dialoom test`: run conversation tests, offline unless a live model is named."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.cli.console import out
from dialoom.errors import UsageError
from dialoom.files import write_text
from dialoom.models.opening import open_model
from dialoom.testing.coverage import Coverage
from dialoom.testing.judging import Judge
from dialoom.testing.junit import junit
from dialoom.testing.suites import Options, Report, run_folder


def run_tests(
    folder: Annotated[Path, typer.Argument(help="A folder of test_*.yaml files, or one file.")],
    model: Annotated[str, typer.Option(help="A live model in place of cassettes, such as `openai:NAME`.")] = "",
    record: Annotated[bool, typer.Option("--record", help="Record the model's answers into the cassettes.")] = False,
    judge: Annotated[str, typer.Option(help="A model that decides the judged expectations.")] = "",
    only: Annotated[str, typer.Option(help="Run the tests with this in their name.")] = "",
    flow: Annotated[str, typer.Option(help="The flow of Rasa test_cases, relative to their file.")] = "",
    app: Annotated[Path | None, typer.Option(help="The application module; app.py beside the flow by default.")] = None,
    coverage: Annotated[bool, typer.Option("--coverage", help="List what no test touched.")] = False,
    least: Annotated[int, typer.Option(min=0, max=100, help="Fail below this percentage of nodes touched.")] = 0,
    xml: Annotated[Path | None, typer.Option("--junit", help="Write the results as JUnit XML.")] = None,
) -> None:
    """Run the conversation tests of a folder. Exit code 1 if any fails.

    Example: dialoom test examples/shop --coverage
    """
    if record and not model:
        raise UsageError("Recording needs a model.", hint="Add --model NAME.")
    options = Options(
        model=open_model(model) if model else None,
        record=record,
        judge=Judge(open_model(judge)) if judge else None,
        only=only,
        flow=flow,
        application=app,
    )
    report = asyncio.run(run_folder(folder, options))
    if xml is not None:
        write_text(xml, junit(report.outcomes))
    shown = _show(report, details=coverage)
    if not report.passed or shown < least:
        raise typer.Exit(1)


def _show(report: Report, *, details: bool) -> int:
    for outcome in report.outcomes:
        if not outcome.passed:
            runs = f" ({outcome.passed_runs} of {outcome.runs} runs passed)" if outcome.runs > 1 else ""
            out.print(f"[red]FAILED[/] {escape(outcome.file.name)}: {escape(outcome.test.name)}{runs}")
            for problem in outcome.failures:
                out.print(f"  {escape(problem)}")
            for problem in outcome.judged:
                out.print(f"  judged: {escape(problem)}")
    least = 100
    for path, coverage in report.coverage.items():
        seen, size = coverage.summary()["nodes"]
        least = min(least, 100 * seen // size)
        _show_coverage(path, coverage, details=details)
    failed = sum(not outcome.passed for outcome in report.outcomes)
    skipped = sum(outcome.skipped for outcome in report.outcomes)
    seconds = sum(outcome.seconds for outcome in report.outcomes)
    note = f", {skipped} judged statements skipped (no --judge)" if skipped else ""
    out.print(f"{len(report.outcomes) - failed} passed, {failed} failed{note} in {seconds:.1f} s")
    return least


def _show_coverage(path: Path, coverage: Coverage, *, details: bool) -> None:
    figures = ", ".join(f"{kind} {seen}/{size}" for kind, (seen, size) in coverage.summary().items())
    out.print(f"{escape(path.name)}: {figures}")
    if details:
        for kind, names in coverage.untouched().items():
            for name in names:
                out.print(f"  untouched {kind}: {escape(name)}")
