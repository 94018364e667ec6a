from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dialoom.corpora import write_jsonl
from dialoom.demo import transcripts
from dialoom.evaluation.experiments.definition import read_experiment
from dialoom.evaluation.experiments.experiment import run_experiment
from dialoom.evaluation.experiments.results import Results
from dialoom.models.base import Request
from dialoom.models.scripted import Answers, ScriptedModel

BASE: dict[str, Any] = {
    "name": "choosing examples",
    "datasets": [{"name": "shop", "train": ["train.jsonl"], "test": ["test.jsonl"]}],
    "systems": [
        {"name": "random", "strategy": "s-icl-search", "selector": "random"},
        {"name": "asked", "strategy": "s-icl-one-sample", "selector": "bm25", "model": "writer"},
    ],
    "metrics": ["rouge-l", "exact-match", "distinct-2"],
}


class Bench:
    """A folder with transcripts, scripted models by name, and a way to run an experiment there."""

    def __init__(self, folder: Path, models: dict[str, ScriptedModel]) -> None:
        self.folder = folder
        self.models = models

    def experiment(self, **changes: Any) -> Path:
        path = self.folder / "experiment.yaml"
        path.write_text(yaml.safe_dump({**BASE, **changes}), encoding="utf-8")
        return path

    def run(self, **changes: Any) -> Results:
        experiment = read_experiment(self.experiment(**changes))
        return asyncio.run(
            run_experiment(experiment, self.folder, self.folder / "out", models=lambda name: self.models[name])
        )

    def asked(self, name: str = "writer") -> int:
        return len(self.models[name].requests)

    def predictions(self, lines: list[dict[str, Any]], name: str = "predictions.jsonl") -> None:
        (self.folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


Make = Callable[..., Bench]


def blocks(request: Request) -> list[str]:
    """The quoted blocks of a judge's prompt: task, truth, first, second."""
    found: list[str] = re.findall(r'"""\n(.*?)\n"""', request.messages[-1].content, re.DOTALL)
    return found[-4:]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    corpus = transcripts()
    write_jsonl(tmp_path / "train.jsonl", corpus[::3])
    write_jsonl(tmp_path / "test.jsonl", corpus[1:40:13])

    def made(**answers: Answers) -> Bench:
        return Bench(tmp_path, {name: ScriptedModel(said, name=name) for name, said in answers.items()})

    return made
