"""The papers' questions on real data: python -m benchmarks.quality [--dialogues N] [--model SPEC] [--judge SPEC].

Prints two tables for STAR and SGD, read from the folder DIALOOM_DATA. The shape of DFA-RAG's table 1: ways of choosing
examples by domain, answered with the best example's own words, no model. The shape of S-ICL's table 2: the five
approaches and DFA-RAG with a language model, on a handful of turns. Nothing is tuned here, and every reply is kept in
out/quality, so that a second run asks nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from dialoom.corpora import open_corpus, write_jsonl
from dialoom.evaluation.experiments.definition import Experiment
from dialoom.evaluation.experiments.experiment import run_experiment
from dialoom.evaluation.experiments.report import write_report
from dialoom.evaluation.experiments.results import Results
from dialoom.evaluation.experiments.running import Spent
from dialoom.evaluation.experiments.summary import Summary, Value, compared, headline, summarised
from dialoom.evaluation.next_action import usable

SETS = {"star": "star/star-dev.zip", "sgd": "sgd/sgd-dev.zip"}
ROWS = {"random": "random", "bm25": "bm25", "RAG": "dense", "S-ICL search": "concatenation", "DFA-RAG": "automaton"}
APPROACHES = (
    "s-icl-search",
    "s-icl-zero-shot",
    "s-icl-fixed-sample",
    "s-icl-three-samples",
    "s-icl-one-sample",
    "dfa-rag",
)
METRICS = ("bleu", "rouge-l", "exact-match", "exact-match-5", "distinct-2", "length")
FOLDER = Path("out/quality")
console = Console()


def sample(name: str, data: Path, most: int) -> None:
    """`most` dialogues of a set, drawn by a fixed seed, as transcripts of ours."""
    path = FOLDER / f"{name}-{most}.jsonl"
    if not path.exists():
        every = [dialogue for dialogue in open_corpus(data / SETS[name], format=name) if usable(dialogue)]
        drawn = random.Random(0).sample(every, min(most, len(every)))
        write_jsonl(path, sorted(drawn, key=lambda dialogue: dialogue.id))


def dataset(name: str, most: int, dialogues: int, turns: str = "all") -> dict[str, Any]:
    return {
        "name": name,
        "data": [f"{name}-{most}.jsonl"],
        "format": "dialoom",
        "dialogues": dialogues,
        "turns": turns,
        "domain": "domains" if name == "star" else None,
    }


def retrieval(most: int, judge: str | None) -> Experiment:
    """DFA-RAG's table 1, without its model: which past turn is answered with."""
    systems = [
        {"name": row, "strategy": "s-icl-search", "selector": selector, "samples": 5} for row, selector in ROWS.items()
    ]
    return Experiment.model_validate(
        {
            "name": "Choosing examples, no model",
            "datasets": [dataset(name, most, max(1, most // 10)) for name in SETS],
            "systems": systems,
            "metrics": METRICS,
            "judge": {"against": "random", "models": [judge], "dialogues": 20} if judge else None,
        }
    )


def prompting(most: int, model: str, items: int, judge: str | None) -> Experiment:
    """S-ICL's table 2: five approaches with a model, on the last turn of a few dialogues."""
    systems = [
        {"name": name, "strategy": name, "model": None if name == "s-icl-search" else model, "max_tokens": 60}
        for name in APPROACHES
    ]
    return Experiment.model_validate(
        {
            "name": f"Ways of prompting, {model}",
            "datasets": [dataset(name, most, items, "last") for name in SETS],
            "systems": [{**system, "prompt_tokens": 900} for system in systems],
            "metrics": METRICS,
            "concurrency": 1,
            "judge": {"against": "s-icl-zero-shot", "models": [judge]} if judge else None,
        }
    )


def run(experiment: Experiment, name: str) -> tuple[Results, Summary]:
    """The results of an experiment, with its report beside them."""

    def advance(spent: Spent) -> None:
        if sys.stderr.isatty():
            print(f"\r  {spent.what}: {spent.done} of {spent.total}   ", end="", file=sys.stderr)

    results = asyncio.run(run_experiment(experiment, FOLDER, FOLDER / name, advance=advance))
    summary = summarised(results)
    write_report(results, summary, FOLDER / name / "report.html")
    return results, summary


def told(value: Value, name: str) -> str:
    digits = 1 if name.startswith(("bleu", "length")) else 3
    shown = "-" if value.value is None else f"{value.value:.{digits}f}"
    return shown if value.low is None else f"{shown} ({value.low:.{digits}f}-{value.high:.{digits}f})"


def show(results: Results, summary: Summary) -> None:
    """One line a system, with the win rate where a judge was asked."""
    wins = {rate.system: rate for rate in headline(summary.wins)}
    table = Table("", "replies", *METRICS, *(["win rate"] if wins else []), "ms", title=results.experiment.name)
    for line in summary.lines:
        rate = wins.get(line.system)
        extra = ["-" if rate is None or rate.rate is None else f"{rate.rate:.1%}"] if wins else []
        shown = [told(line.metrics[name], name) for name in METRICS]
        table.add_row(line.system, str(line.replies), *shown, *extra, f"{line.p50:.1f}")
    console.print(table)


def by_domain(summary: Summary, metric: str) -> None:
    """Systems by domain, as table 1 has them."""
    domains = sorted({domain for line in summary.lines for domain in line.domains})
    table = Table(f"{metric} by domain", *(line.system for line in summary.lines))
    for domain in domains:
        values = [line.domains[domain][metric].value if domain in line.domains else None for line in summary.lines]
        table.add_row(domain, *("-" if value is None else f"{value:.3f}" for value in values))
    console.print(table)


def differences(results: Results, pairs: Sequence[tuple[str, str]], metric: str) -> None:
    """Whether one system is better than another, dialogues permuted whole."""
    for one, other in pairs:
        found = compared((results, one), (results, other), metric)
        console.print(
            f"  {one} - {other}: {metric} {found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f}), "
            f"p = {found.p:.4f}, {found.dialogues} dialogues"
        )


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--dialogues", type=int, default=600, help="dialogues drawn of each set")
    reader.add_argument("--items", type=int, default=6, help="turns of each set asked of the model")
    reader.add_argument("--model", default="embedded", help="the language model; 'none' leaves it out")
    reader.add_argument("--judge", help="the model that judges; without it there are no win rates")
    asked = reader.parse_args()
    data = os.environ.get("DIALOOM_DATA")
    if not data:
        print("DIALOOM_DATA does not name the folder of the data sets (star/star-dev.zip, sgd/sgd-dev.zip); skipped.")
        return
    for name in SETS:
        sample(name, Path(data), asked.dialogues)
    results, summary = run(retrieval(asked.dialogues, asked.judge), "retrieval")
    show(results, summary)
    by_domain(summary, "rouge-l")
    differences(results, [("DFA-RAG", "RAG"), ("DFA-RAG", "bm25"), ("RAG", "random")], "rouge-l")
    if asked.model == "embedded" and find_spec("xllamacpp") is None:
        print("The embedded model is not installed, so the second table is left out.")
    elif asked.model != "none":
        results, summary = run(prompting(asked.dialogues, asked.model, asked.items, asked.judge), "prompting")
        show(results, summary)
        console.print(
            f"{asked.items} turns of each set show that every approach runs and what it costs; the intervals say how "
            "little they show of which is better. The embedded model has 135M parameters; --model names another."
        )


if __name__ == "__main__":
    main()
