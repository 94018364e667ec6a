"""The report of an experiment: one HTML file with everything in it, nothing to load, nothing sent anywhere."""

from __future__ import annotations

import html
import json
import re
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from dialoom.evaluation.experiments.judging import panel
from dialoom.evaluation.experiments.measures import measure
from dialoom.evaluation.experiments.results import Results
from dialoom.evaluation.experiments.summary import Summary
from dialoom.files import write_text
from dialoom.models.scrubbing import scrubbed_json

SHOWN = 2000  # dialogues that can be read side by side; the numbers are of all


def write_report(results: Results, summary: Summary, path: Path) -> None:
    """Write the report, whole or not at all."""
    write_text(path, report_page(results, summary))


def report_page(results: Results, summary: Summary) -> str:
    """The page. Text of transcripts and models is data in it: it is never read as HTML."""
    folder = files("dialoom.evaluation.experiments") / "page"
    page, style, script = (
        (folder / name).read_text(encoding="utf-8") for name in ("report.html", "report.css", "report.js")
    )
    data = json.dumps(scrubbed_json(_data(results, summary)), ensure_ascii=False, separators=(",", ":"))
    # Inside a script element only "<" can end it, and two line separators are no JavaScript.
    quoted = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    title = html.escape(results.experiment.name)
    parts = {"TITLE": title, "STYLE": style, "SCRIPT": script, "DATA": quoted}
    return re.sub("%(TITLE|STYLE|SCRIPT|DATA)%", lambda found: parts[found[1]], page)


def _data(results: Results, summary: Summary) -> dict[str, Any]:
    experiment = results.experiment
    outcomes = [
        [pair.dataset, pair.dialogue.id, pair.seed, pair.system, outcome] for pair, outcome in panel(results.judged)
    ]
    shown = list(results.dialogues.items())[:SHOWN]
    places = {place for place, _ in shown}
    return {
        "name": experiment.name,
        "systems": list(results.systems),
        "metrics": [
            {"name": name, "told": measure(name).told, "better": measure(name).better} for name in experiment.metrics
        ],
        "against": experiment.judge.against if experiment.judge else None,
        "lines": [asdict(line) for line in summary.lines],
        "wins": [asdict(rate) for rate in summary.wins],
        "winsByDomain": [asdict(rate) for rate in summary.wins_by_domain],
        "run": dict(results.run),
        "outcomes": outcomes,
        "dialogues": [
            {
                "dataset": dataset,
                "id": id_,
                "said": [[said.role.value, said.text] for said in dialogue.utterances],
            }
            for (dataset, id_), dialogue in shown
        ],
        "left": len(results.dialogues) - len(shown),
        "rows": [
            [
                results.systems.index(row.system),
                row.dataset,
                row.dialogue,
                row.turn,
                row.seed,
                row.domain,
                row.reply if (row.dataset, row.dialogue) in places else None,
                row.error or row.note,
                {name: round(value, 4) for name, value in row.metrics.items()},
                round(row.milliseconds, 1),
                row.reply is not None,
            ]
            for row in results.rows
        ],
    }
