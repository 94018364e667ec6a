"""`dialoom eval multiwoz-policy`: learn a policy from MultiWOZ dialogues, cross-validate it and score it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dialoom.cli.console import Json, print_json, progress
from dialoom.cli.console import out as console
from dialoom.cli.eval_multiwoz import as_record, remarks, table

if TYPE_CHECKING:
    from dialoom.evaluation.multiwoz.table3 import Table3

EXAMPLE = "Example: dialoom eval multiwoz-policy val.json.zip --data multiwoz/evaluator_data --out table3"
SHOWN = 12
States = Literal["gold", "predicted"]


def multiwoz_policy_command(
    dialogues: Annotated[Path, typer.Argument(help="MultiWOZ 2.1 dialogues in ConvLab's form, zipped or not.")],
    data: Annotated[Path, typer.Option(help="The folder of evaluation data: goals, databases, spellings.")],
    folds: Annotated[int, typer.Option(help="Each part is answered by what was learned from the others.")] = 3,
    states: Annotated[
        States, typer.Option(help="States to answer and score in: gold, or predicted by words.")
    ] = "gold",
    out: Annotated[Path | None, typer.Option(help="A folder for responses and obligations.")] = None,
    as_json: Json = False,
) -> None:
    """Learn an automaton and its obligations from dialogues, answer held-out ones, and score the answers.

    The control row says every placeholder in every turn: what Inform and Success alone are worth.
    """
    from dialoom.evaluation.multiwoz.benchmark import open_benchmark
    from dialoom.evaluation.multiwoz.dialogues import read_dialogues
    from dialoom.evaluation.multiwoz.scores import scores
    from dialoom.evaluation.multiwoz.table3 import table3

    benchmark = open_benchmark(data)
    corpus = read_dialogues(dialogues)
    found = table3(corpus, benchmark, folds=folds, predicted_states=states == "predicted", progress=progress)
    scored = {row: scores(predictions, benchmark) for row, predictions in found.predictions.items()}
    if out is not None:
        _write(out, found)
    if as_json:
        guards = [[asdict(guard) for guard in fold.guards] for fold in found.folds]
        cues = [fold.cues.phrases for fold in found.folds]
        print_json({"rows": {row: as_record(each) for row, each in scored.items()}, "cues": cues, "guards": guards})
        return
    console.print(table(scored))
    first = scored["learned"]
    console.print(
        f"{first.dialogues} dialogues, {first.turns} turns, {folds} folds; {states} states, estimated domains."
    )
    for line in remarks(first):
        console.print(line)
    read = found.folds[0]
    console.print(f"What users' words ask for, as learned in the first fold: {read.cues}.", emoji=False, markup=False)
    console.print(f"Obligations learned in the first fold, {min(SHOWN, len(read.guards))} of {len(read.guards)}:")
    for guard in read.guards[:SHOWN]:
        console.print(f"- {guard}", emoji=False, markup=False)


def _write(out: Path, found: Table3) -> None:
    from dialoom.files import write_text

    for row, predictions in found.predictions.items():
        said: dict[str, Any] = {
            name: [
                {"response": turn.response, **({} if turn.state is None else {"state": turn.state})} for turn in turns
            ]
            for name, turns in predictions.items()
        }
        write_text(out / f"{row.replace(' ', '-')}.json", json.dumps(said, ensure_ascii=False, indent=1))
    lines = [f"fold {number}: {guard}" for number, fold in enumerate(found.folds, 1) for guard in fold.guards]
    write_text(out / "obligations.txt", "\n".join(lines) + "\n")
