"""`dialoom eval multiwoz`: Inform, Success, BLEU and richness of delexicalised responses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from dialoom.cli.console import Json, out, print_json

if TYPE_CHECKING:
    from dialoom.evaluation.multiwoz.scores import Scores

EXAMPLE = "Example: dialoom eval multiwoz predictions.json --data multiwoz/evaluator_data"


def multiwoz_command(
    predictions: Annotated[Path, typer.Argument(help="Responses: {id: [{response, state?, active_domains?}]}.")],
    data: Annotated[Path, typer.Option(help="The folder of evaluation data: goals, databases, spellings.")],
    as_json: Json = False,
) -> None:
    """Score a system's MultiWOZ responses as the official evaluation does.

    Without states in the file, the gold states are used; without active domains, they are estimated from the states.
    """
    from dialoom.evaluation.multiwoz.benchmark import open_benchmark
    from dialoom.evaluation.multiwoz.predictions import read_predictions
    from dialoom.evaluation.multiwoz.scores import scores

    benchmark = open_benchmark(data)
    found = scores(read_predictions(predictions, benchmark), benchmark)
    if as_json:
        print_json(as_record(found))
        return
    out.print(table({predictions.stem: found}))
    out.print(
        f"{found.dialogues} dialogues, {found.turns} turns; {found.states} states,"
        f" {found.active_domains} active domains."
    )
    for line in remarks(found):
        out.print(line)


def as_record(found: Scores) -> dict[str, Any]:
    """Scores as JSON: rates in percent, `domains` by name."""
    record = asdict(found)
    record["domains"] = {name: {"inform": pair[0], "success": pair[1]} for name, pair in found.domains.items()}
    return record


def table(systems: Mapping[str, Scores]) -> Table:
    """One column a system, with what Inform and Success alone would hide."""
    rows: dict[str, Callable[[Scores], str]] = {
        "Inform": lambda found: f"{found.inform:.1f}",
        "Success": lambda found: f"{found.success:.1f}",
        "BLEU": lambda found: "-" if found.bleu is None else f"{found.bleu:.1f}",
        "average length": lambda found: f"{found.richness.average_length:.2f}",
        "bigram entropy": lambda found: f"{found.richness.conditional_bigram_entropy:.2f}",
        "words": lambda found: str(found.richness.unigrams),
        "trigrams": lambda found: str(found.richness.trigrams),
        "responses": lambda found: str(found.richness.responses),
        "placeholders a turn": lambda found: f"{found.placeholders:.2f}",
        "empty offers": lambda found: f"{found.violations.empty_offers} of {found.violations.empty_results}",
        "early references": lambda found: f"{found.violations.early_references} of {found.violations.references}",
    }
    grid = Table("", *systems)
    for name, shown in rows.items():
        grid.add_row(name, *(shown(found) for found in systems.values()))
    return grid


def remarks(found: Scores) -> list[str]:
    """What a reader of the figures should know."""
    said = []
    if found.bleu is None:
        said.append("No BLEU: the data holds no references of these dialogues.")
    elif found.bleu_turns < found.turns:
        said.append(f"BLEU over the {found.bleu_turns} turns with references.")
    if found.unknown_placeholders:
        listed = ", ".join(f"[{name}] {count}x" for name, count in found.unknown_placeholders.items())
        said.append(f"Unknown placeholders count as nothing: {listed}.")
    return said
