"""`dialoom bench`: what can be measured of true replies."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from dialoom.cli import bench_replies
from dialoom.cli.console import Json, out, print_json, progress

app = typer.Typer(help="Measure true replies.", no_args_is_help=True)
app.command("replies", epilog=bench_replies.EXAMPLE)(bench_replies.replies_command)

MEASURES = {
    "truthful": "truthful",
    "precision": "claims true",
    "silent": "silent",
    "informative": "informative",
    "distinct": "distinct",
    "bleu": "BLEU",
    "rouge": "ROUGE-L",
    "tokens_per_second": "tokens/s",
}


@app.callback()
def bench() -> None:
    """Measure true replies."""


@app.command("smcalflow")
def smcalflow(
    file: Annotated[Path, typer.Argument(help="An SMCalFlow 2.0 file, .jsonl or .jsonl.gz.", show_default=False)],
    as_json: Json = False,
    failures: Annotated[Path | None, typer.Option(help="Write what is not derived here, as JSON lines.")] = None,
) -> None:
    """Event queries of a real corpus: what share parses, executes, is described, and has a derivable reply.

    Example: dialoom bench smcalflow valid.dataflow_dialogues.jsonl.gz
    """
    from dialoom.domains.calendar.smcalflow.bench import examine, summarise
    from dialoom.domains.calendar.smcalflow.levels import LEVELS
    from dialoom.domains.calendar.smcalflow.turns import is_event_query, read_turns
    from dialoom.files import write_text

    turns = [turn for turn in read_turns(file) if is_event_query(turn.program)]
    results = [examine(turn) for turn in progress(turns, "Deriving replies", len(turns))]
    summary = summarise(results)
    if failures is not None:
        lost = [{**dataclasses.asdict(item.turn), "problem": item.problem} for item in results if not item.derived]
        write_text(failures, "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in lost))
    if as_json:
        print_json(dataclasses.asdict(summary))
        return
    table = Table(title=f"Event queries of {file.name}: {summary.turns} turns", box=None, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name in ("parsed", "executed", "described", "derived"):
        table.add_row(name, f"{100 * getattr(summary, name):.1f} %")
    for number, share in summary.levels.items():
        table.add_row(f"  level {number}, {LEVELS[number]}", f"{100 * share:.1f} %")
    table.add_row("productions per grammar, median", f"{summary.productions:.0f}")
    for stage, milliseconds in summary.milliseconds.items():
        table.add_row(f"{stage}, median ms", f"{milliseconds:.2f}")
    out.print(table)


@app.command("truth")
def truth(
    file: Annotated[
        Path | None, typer.Argument(help="An SMCalFlow 2.0 file, for references; without one, made-up questions.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="A model folder or .gguf file; by default the embedded one.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many computations.", min=1)] = 30,
    as_json: Json = False,
) -> None:
    """Truthful replies of one model without rules, of rules without a model, and of both, on the same computations.

    Claims are read and looked up by a verifier that knows neither rules nor grammars.

    Example: dialoom bench truth --limit 10
    """
    from dialoom.domains.calendar.smcalflow.turns import is_event_query, read_turns
    from dialoom.domains.calendar.truth_bench import corpus_cases, made_up_cases, measure, recall, systems
    from dialoom.generation.transformers_model import TransformersTokenModel
    from dialoom.models.embedded import default_weights

    if file is None:
        cases = made_up_cases(limit)
    else:
        cases = corpus_cases((turn for turn in read_turns(file) if is_event_query(turn.program)), limit)
    loaded = TransformersTokenModel.load(model or default_weights(), chat=False)
    rows = [
        measure(name, speaker, cases, lambda text: len(loaded.encode(text)))
        for name, speaker in progress(systems(loaded).items(), "Speaking", 5)
    ]
    lies = recall(cases)
    if as_json:
        print_json({"systems": [dataclasses.asdict(row) for row in rows], "verifier": dataclasses.asdict(lies)})
        return
    table = Table(title=f"{len(cases)} computations", box=None, padding=(0, 1, 0, 0))
    table.add_column()
    for row in rows:
        table.add_column(row.system, justify="right", max_width=13)
    for name, shown in MEASURES.items():
        values = [getattr(row, name) for row in rows]
        per = 1 if name == "tokens_per_second" else 100
        table.add_row(shown, *("-" if value is None else f"{per * value:.1f}" for value in values))
    out.print(table)
    out.print(
        "\nTruthful: replies without a false claim. Silent: without any claim. Informative: with claims, all true."
        " In percent; BLEU and ROUGE-L times 100. Tokens/s include reading the prompt."
    )
    kinds = ", ".join(f"{kind} {lies.caught[kind]}/{n}" for kind, n in sorted(lies.planted.items()))
    out.print(f"\nThe verifier caught {100 * lies.share:.1f} % of the lies planted in true replies ({kinds}),")
    out.print(f"and called {lies.alarms} of {lies.truths} true replies false.")
