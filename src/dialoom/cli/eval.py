"""`dialoom eval`: measure what was learned."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from dialoom.cli import eval_compare, eval_dialogues, eval_labels, eval_simulate, eval_split
from dialoom.dialogue import Dialogue
from dialoom.errors import NothingToLearn, UnknownName, UsageError

app = typer.Typer(help="Measure selectors, automata and agents.", no_args_is_help=True)

app.command("dialogues", epilog=eval_dialogues.EXAMPLE)(eval_dialogues.dialogues_command)
app.command("schema")(eval_dialogues.schema_command)
app.command("compare", epilog=eval_compare.EXAMPLE)(eval_compare.compare_command)
app.command("label", epilog=eval_labels.LABEL_EXAMPLE)(eval_labels.label_command)
app.command("agreement", epilog=eval_labels.AGREEMENT_EXAMPLE)(eval_labels.agreement_command)
app.command("simulate", epilog=eval_simulate.EXAMPLE)(eval_simulate.simulate_command)
app.command("split", epilog=eval_split.EXAMPLE)(eval_split.split_command)

EXAMPLE = "Example: dialoom eval next-action --data star.zip --format star --observe tools"


@app.callback()
def evaluate() -> None:
    """Measure selectors, automata and agents."""


@app.command("next-action", epilog=EXAMPLE)
def next_action(
    data: Annotated[list[str] | None, typer.Option(help="Transcripts to split into training and test.")] = None,
    train: Annotated[list[str] | None, typer.Option(help="Training transcripts, instead of --data.")] = None,
    test: Annotated[list[str] | None, typer.Option(help="Test transcripts, with --train.")] = None,
    format: Annotated[str, typer.Option(help="The transcripts' format.")] = "auto",  # noqa: A002
    split: Annotated[float, typer.Option(help="Share of the dialogues of every task that is tested.")] = 0.2,
    seed: Annotated[int, typer.Option(help="Seed of the split and of random draws.")] = 0,
    selectors: Annotated[str, typer.Option(help="Names, separated by commas.")] = "random,bm25,dense,automaton",
    observe: Annotated[str, typer.Option(help="What is seen: 'text' alone, or 'tools' as well.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Does the retrieved example's next system turn carry the action really taken? No judge, no model.

    Actions and task names are used for scoring only. Completed, happy, single-task dialogues count.
    """
    names = [name.strip() for name in selectors.split(",") if name.strip()]
    if observe not in ("text", "tools"):
        raise UnknownName("observation", observe, ("text", "tools"))
    result = _measured(_dialogues(data, train, test, format, split, seed), names, observe, seed)
    if as_json:
        typer.echo(json.dumps(result, indent=2))
    else:
        _print(result)


def _dialogues(
    data: list[str] | None,
    train: list[str] | None,
    test: list[str] | None,
    kind: str,
    share: float,
    seed: int,
) -> Any:
    from dialoom.corpora import open_corpus
    from dialoom.evaluation.next_action import Split, split_by_task, usable

    def read(paths: list[str]) -> list[Dialogue]:
        found = [dialogue for dialogue in open_corpus(paths, format=kind) if usable(dialogue)]
        if not found:
            raise NothingToLearn(f"{', '.join(paths)}: no completed dialogue to evaluate on.")
        return found

    if bool(data) == bool(train or test) or bool(train) != bool(test):
        raise UsageError("Say what to evaluate on.", hint="Give --data PATH, or both --train PATH and --test PATH.")
    if data:
        return split_by_task(read(data), share, seed)
    return Split(tuple(read(train or [])), tuple(read(test or [])))


def _measured(dialogues: Any, names: Sequence[str], observe: Any, seed: int) -> dict[str, Any]:
    from dialoom.evaluation.contenders import NAMES, Contenders
    from dialoom.evaluation.next_action import cases, observed

    for name in names:
        if name not in NAMES:
            raise UnknownName("selector", name, NAMES)
    train, test = ([observed(d, observe) for d in part] for part in (dialogues.train, dialogues.test))
    asked = list(cases(test))
    contenders = Contenders(train, seed)
    result: dict[str, Any] = {
        "observe": observe,
        "seed": seed,
        "dialogues": {"train": len(train), "test": len(test)},
        "turns": {"train": sum(a is not None for row in contenders.labels.values() for a in row), "test": len(asked)},
        "selectors": {},
    }
    learned = any(name.startswith("automaton") for name in names)
    with _progress(len(names) + learned) as advance:
        for name in names:
            result["selectors"][name] = _flat(asdict(contenders.score(name, asked)))
            advance(name)
        if learned:
            result["ceiling"] = _flat(asdict(contenders.ceiling(asked)))
            result["automaton"] = asdict(contenders.transitions(test))
            result["automaton"]["tags"] = {
                role.value: len(contenders.tagger.vocabulary(role)) for role in contenders.tagger.roles
            }
            advance("ceiling")
    return result


def _flat(score: Mapping[str, Any]) -> dict[str, Any]:
    """Rates as plain numbers, with their intervals beside them."""
    rates = ("top1", "vote5", "strict_top1", "strict_vote5")
    return {
        **{rate: score[rate]["value"] for rate in rates},
        "intervals": {rate: [score[rate]["low"], score[rate]["high"]] for rate in rates},
        "tasks": {task: {"top1": pair[0], "vote5": pair[1]} for task, pair in score["tasks"].items()},
        "turns": score["turns"],
    }


@contextmanager
def _progress(steps: int) -> Iterator[Any]:
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("measuring", total=steps)
        yield lambda name: progress.update(task, advance=1, description=f"measured {name}")


def _print(result: Mapping[str, Any]) -> None:
    console = Console()
    sizes = result["dialogues"]
    console.print(
        f"{sizes['train']} training and {sizes['test']} test dialogues, {result['turns']['test']} scored system turns,"
        f" observing {result['observe']}"
    )
    rows = dict(result["selectors"])
    if "ceiling" in result:
        rows["supervised ceiling"] = result["ceiling"]
    table = Table("selector", "top 1", "95 %", "majority of 5", "95 %", "strict top 1", "strict of 5")
    for name, row in rows.items():
        spans = [f"{low:.3f}-{high:.3f}" for low, high in (row["intervals"]["top1"], row["intervals"]["vote5"])]
        table.add_row(
            name,
            f"{row['top1']:.3f}",
            spans[0],
            f"{row['vote5']:.3f}",
            spans[1],
            f"{row['strict_top1']:.3f}",
            f"{row['strict_vote5']:.3f}",
        )
    console.print(table)
    by_task = Table("task: top 1 / majority of 5", *rows)
    for task in next(iter(rows.values()))["tasks"]:
        by_task.add_row(
            task, *(f"{r['tasks'][task]['top1']:.2f} / {r['tasks'][task]['vote5']:.2f}" for r in rows.values())
        )
    console.print(by_task)
    if "automaton" in result:
        console.print(_described(result["automaton"]))


def _described(about: Mapping[str, Any]) -> str:
    covered = ", ".join(f"{share:.0%} in states of purity {purity}" for purity, share in about["covered"].items())
    return (
        f"automaton: {about['states']} states, {about['transitions']} transitions. Of {about['moves']} held-out rounds"
        f" {about['known']:.1%} have a transition and {about['right']:.1%} one to the state found there"
        f" ({about['right_with_default']:.1%} with defaults). From one system turn to the next:"
        f" {about['stretch_known']:.1%} known, {about['stretch_right']:.1%} right"
        f" ({about['stretch_right_with_default']:.1%} with defaults). System turns: {covered}."
    )
