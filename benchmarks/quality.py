"""The papers' questions on real data: python -m benchmarks.quality [--dialogues N] [--model SPEC] [--judge SPEC].

STAR and SGD are read from the folder DIALOOM_DATA. Printed are, first, ways of choosing examples answered with the best
example's own words, overall and by domain: the shape of DFA-RAG's table 1 without a model. Then, with a language model
and on a handful of turns, the same ways in one prompt against the bare model (table 1), and the five approaches of
S-ICL (its table 2), with a judge's win rates over the bare model. Nothing is tuned here. Every reply and verdict is
kept in out/quality, so that a second run of the same code asks nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from dialoom.corpora import open_corpus, write_jsonl
from dialoom.dialogue import Dialogue
from dialoom.evaluation.experiments.definition import Experiment
from dialoom.evaluation.experiments.experiment import run_experiment
from dialoom.evaluation.experiments.report import write_report
from dialoom.evaluation.experiments.results import Results
from dialoom.evaluation.experiments.running import Spent
from dialoom.evaluation.experiments.summary import Summary, Value, compared, headline, summarised
from dialoom.evaluation.next_action import usable

SETS = {"star": "star/star-dev.zip", "sgd": "sgd/sgd-dev.zip"}
ROWS = {"random": "random", "bm25": "bm25", "RAG": "dense", "DFA-RAG": "automaton"}
APPROACHES = {
    "1 search": "s-icl-search",
    "2 no sample": "s-icl-zero-shot",
    "3 fixed": "s-icl-fixed-sample",
    "4 top 3": "s-icl-three-samples",
    "5 top 1": "s-icl-one-sample",
}
BARE = "2 no sample"
METRICS = ("bleu", "bleu-1", "rouge-l", "exact-match", "exact-match-5", "distinct-2", "length", "next-action")
FOLDER = Path("out/quality")
console = Console(width=140)


def domain(name: str, dialogue: Dialogue) -> str:
    """STAR's domain or, where it has none, its task; SGD's service without its number, or 'several services'."""
    about = dialogue.metadata
    if name == "star":
        return str(about["domains"][0] or about["tasks"][0])
    services = sorted({re.sub(r"_\d+$", "", service) for service in about["services"]})
    return services[0] if len(services) == 1 else "several services"


def sample(name: str, data: Path, most: int) -> None:
    """`most` dialogues of a set, drawn by a fixed seed, as transcripts of ours."""
    path = FOLDER / f"{name}-{most}.jsonl"
    every = [dialogue for dialogue in open_corpus(data / SETS[name], format=name) if usable(dialogue)]
    drawn = sorted(random.Random(0).sample(every, min(most, len(every))), key=lambda dialogue: dialogue.id)
    write_jsonl(path, [replace(d, metadata={**d.metadata, "domain": domain(name, d)}) for d in drawn])


def dataset(name: str, most: int, dialogues: int, turns: str = "all", *, tools: bool = True) -> dict[str, Any]:
    return {
        "name": name,
        "data": [f"{name}-{most}.jsonl"],
        "format": "dialoom",
        "dialogues": dialogues,
        "turns": turns,
        "tools": tools,
        "domain": "domain",
    }


def retrieval(most: int) -> Experiment:
    """DFA-RAG's table 1, without a model: which past turn is answered with."""
    rows = {**ROWS, "S-ICL search": "concatenation"}
    systems = [
        {"name": row, "strategy": "s-icl-search", "selector": selector, "samples": 5} for row, selector in rows.items()
    ]
    return Experiment.model_validate(
        {
            "name": "Choosing examples, no model",
            "datasets": [dataset(name, most, max(1, most // 10)) for name in SETS],
            "systems": systems,
            "metrics": [*METRICS, "action@5"],
        }
    )


def prompting(most: int, model: str, items: int, judge: str | None, judged: int, extra: Sequence[str]) -> Experiment:
    """Both tables with a model, on the last turn of a few dialogues; tool results would fill its 2,048 tokens."""
    systems = [
        {"name": name, "strategy": strategy, "model": None if strategy == "s-icl-search" else model}
        for name, strategy in APPROACHES.items()
    ]
    systems += [
        {"name": name, "strategy": "dfa-rag", "selector": selector, "model": model} for name, selector in ROWS.items()
    ]
    judging = (
        {"against": BARE, "models": [judge], "dialogues": judged, "lines": 6, "max_tokens": 120} if judge else None
    )
    return Experiment.model_validate(
        {
            "name": f"Ways of prompting, {model}",
            "datasets": [dataset(name, most, items, "last", tools=False) for name in SETS],
            "systems": [{**system, "prompt_tokens": 900, "max_tokens": 60} for system in systems],
            "metrics": [*METRICS, *extra],
            "concurrency": 1,
            "judge": judging,
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


def show(results: Results, summary: Summary, systems: Sequence[str], title: str) -> None:
    """A column a system, with the win rate where a judge was asked."""
    lines = [line for line in summary.lines if line.system in systems]
    wins = {rate.system: rate for rate in headline(summary.wins)}
    table = Table(title, *(line.system for line in lines))
    table.add_row("replies", *(str(line.replies) for line in lines))
    for name in results.experiment.metrics:
        table.add_row(name, *(told(line.metrics[name], name) for line in lines))
    if wins:
        rates = [wins.get(line.system) for line in lines]
        shown = ["-" if rate is None or rate.rate is None else f"{rate.rate:.0%}" for rate in rates]
        table.add_row(f"win rate over {BARE}", *shown)
        table.add_row("won, tied, lost", *("-" if r is None else f"{r.wins}, {r.ties}, {r.losses}" for r in rates))
    table.add_row("ms a reply", *(f"{line.p50:.1f}" for line in lines))
    table.add_row("tokens a reply", *(f"{line.tokens / max(1, line.replies):.0f}" for line in lines))
    console.print(table)


def by_domain(summary: Summary, metric: str) -> None:
    """Systems by domain, as table 1 has them, and how many turns a line is of."""
    domains = sorted({domain for line in summary.lines for domain in line.domains})
    table = Table(f"{metric} by domain", "turns", *(line.system for line in summary.lines))
    for name in domains:
        found = [line.domains[name][metric] if name in line.domains else Value(None) for line in summary.lines]
        if any(value.value is not None for value in found):
            shown = ("-" if value.value is None else f"{value.value:.3f}" for value in found)
            table.add_row(name, str(max(value.count for value in found)), *shown)
    console.print(table)


def wins_by_domain(summary: Summary, systems: Sequence[str]) -> None:
    """Win rates by domain, which is what table 1 holds."""
    rates = {(rate.domain, rate.system): rate for rate in headline(summary.wins_by_domain)}
    table = Table(f"win rate over {BARE}", *systems)
    for name in sorted({domain for domain, _ in rates}):
        found = [rates.get((name, system)) for system in systems]
        decided = [(rate, rate.wins + rate.ties + rate.losses) for rate in found if rate is not None]
        shown = ("-" if rate.rate is None else f"{rate.rate:.0%} of {count}" for rate, count in decided)
        table.add_row(name, *shown)
    console.print(table)


def differences(results: Results, pairs: Sequence[tuple[str, str]], metric: str) -> None:
    """Whether one system is better than another, dialogues permuted whole."""
    for one, other in pairs:
        found = compared((results, one), (results, other), metric)
        console.print(
            f"  {one} - {other}: {metric} {found.difference:+.3f} ({found.low:+.3f} to {found.high:+.3f}), "
            f"p = {found.p:.4f}, {found.dialogues} dialogues"
        )


def trust(summary: Summary, judge: str) -> None:
    """What the judge's verdicts are worth."""
    rates = headline(summary.wins)
    valid = sum(rate.wins + rate.losses + rate.ties for rate in rates)
    lost = {"malformed": sum(rate.malformed for rate in rates), "not judged": sum(rate.unjudged for rate in rates)}
    console.print(
        f"Judge {judge}: {valid} pairs decided, " + ", ".join(f"{n} {what}" for what, n in lost.items()) + "."
    )
    known = [rate for rate in rates if rate.agreement is not None and rate.first is not None]
    if known:
        agreement, first = (sum(getattr(rate, name) for rate in known) / len(known) for name in ("agreement", "first"))
        console.print(
            f"Its two orders agree on {agreement:.0%} of the pairs and {first:.0%} of its verdicts are for what stood "
            "first: near 50 % and far from 50 % is a judge that says nothing of the systems."
        )


def options() -> argparse.Namespace:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--dialogues", type=int, default=600, help="dialogues drawn of each set")
    reader.add_argument("--items", type=int, default=8, help="turns of each set asked of the model")
    reader.add_argument("--model", default="embedded", help="the language model; 'none' leaves it out")
    reader.add_argument("--judge", default="embedded", help="the model that judges; 'none' leaves win rates out")
    reader.add_argument("--judged", type=int, default=2, help="dialogues of each set that are judged")
    reader.add_argument("--metric", action="append", default=[], help="a further metric, such as dialogrpt-avg:FOLDER")
    return reader.parse_args()


def main() -> None:
    asked = options()
    data = os.environ.get("DIALOOM_DATA")
    if not data:
        print("DIALOOM_DATA does not name the folder of the data sets (star/star-dev.zip, sgd/sgd-dev.zip); skipped.")
        return
    for name in SETS:
        sample(name, Path(data), asked.dialogues)
    results, summary = run(retrieval(asked.dialogues), "retrieval")
    show(results, summary, results.systems, "choosing examples, no model")
    by_domain(summary, "rouge-l")
    by_domain(summary, "next-action")
    for metric in ("rouge-l", "next-action"):
        differences(results, [("DFA-RAG", "RAG"), ("DFA-RAG", "bm25"), ("RAG", "random")], metric)
    if asked.model == "embedded" and find_spec("xllamacpp") is None:
        print("The embedded model is not installed, so the tables with a model are left out.")
    elif asked.model != "none":
        judge = None if asked.judge == "none" else asked.judge
        experiment = prompting(asked.dialogues, asked.model, asked.items, judge, asked.judged, asked.metric)
        results, summary = run(experiment, "prompting")
        show(results, summary, [BARE, *ROWS], f"choosing examples, {asked.model}")
        if judge:
            wins_by_domain(summary, list(ROWS))
        show(results, summary, list(APPROACHES), f"S-ICL's approaches, {asked.model}")
        if judge:
            trust(summary, judge)
        console.print(
            f"{asked.items} turns of each set show that every approach runs and what it costs; the intervals say how "
            "little they show of which is better. The embedded model has 135M parameters; --model and --judge name "
            "others."
        )


if __name__ == "__main__":
    main()
