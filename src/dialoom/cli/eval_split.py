"""`dialoom eval split`: training and test transcripts that share no utterance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.cli.console import Json, out, print_json
from dialoom.cli.project import Project
from dialoom.cli.reading import Format, OnError, Transcripts, corpus, read
from dialoom.corpora import write_jsonl
from dialoom.errors import UnknownName
from dialoom.evaluation.overlap import SIDES, OverlapReport, OverlapSettings, split_without_overlap

EXAMPLE = "Example: dialoom eval split transcripts.jsonl --test 0.1 --out split"


def split_command(
    transcripts: Transcripts,
    test: Annotated[float, typer.Option(help="Share of the dialogues that is wanted for testing.")] = 0.1,
    folder: Annotated[Path, typer.Option("--out", "-o", help="Where train.jsonl and test.jsonl go.")] = Path("split"),
    words: Annotated[int, typer.Option(help="Utterances of fewer words are not looked at.")] = 6,
    similarity: Annotated[
        float, typer.Option(help="Word overlap (Jaccard) of near-duplicates; 1 for exact only.")
    ] = 0.8,
    side: Annotated[str, typer.Option(help="`both`, or `user`: agents with set phrases tie everything.")] = "both",
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    format: Format = "auto",  # noqa: A002
    on_error: OnError = "raise",
    as_json: Json = False,
) -> None:
    """Split transcripts so that no test dialogue shares an utterance with training, exactly or nearly.

    Dialogues tied by a shared utterance stay on one side. The report says what that moved.
    """
    if side not in SIDES:
        raise UnknownName("side", side, SIDES)
    settings = OverlapSettings(words, similarity, "user" if side == "user" else "both")
    project = Project(transcripts=tuple(transcripts), format=format)
    parts = split_without_overlap(read(corpus(project, on_error)), test, seed, settings)
    write_jsonl(folder / "train.jsonl", parts.train)
    write_jsonl(folder / "test.jsonl", parts.test)
    if as_json:
        print_json(parts.report.to_json())
    else:
        _print(parts.report, folder)


def _print(report: OverlapReport, folder: Path) -> None:
    out.print(
        f"{report.dialogues} dialogues: {report.dialogues - report.test} for training, {report.test} for testing "
        f"({report.wanted} wanted), in {escape(str(folder))}/train.jsonl and test.jsonl."
    )
    out.print(
        f"{report.tied} dialogues are tied into {report.groups} groups by shared utterances "
        f"({report.exact} exact ties, {report.near} near ones); the largest has {report.largest}."
    )
    told = f": {', '.join(report.moved[:10])}{' ...' if len(report.moved) > 10 else ''}" if report.moved else ""
    out.print(f"{len(report.moved)} dialogues of a plain random test part went to training{escape(told)}.")
    for pair in report.pairs[:5]:
        kind = "same" if pair.exact else "near"
        out.print(f"  [dim]{kind}[/] {escape(pair.dialogue)}: {escape(pair.text[:70])}")
        out.print(f"       {escape(pair.other)}: {escape(pair.other_text[:70])}")
