"""An authored flow as a system of an experiment."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from dialoom.corpora import write_jsonl
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidFile
from dialoom.evaluation.experiments.definition import read_experiment
from dialoom.evaluation.experiments.experiment import run_experiment
from dialoom.models.base import Completion, Usage
from dialoom.models.scripted import ScriptedModel

from .conftest import Bench, Make

FLOW = """
flow: returns
start: ask
slots:
  number: {type: text, recognise: {by: pattern, pattern: '[A-Z]{2}-[0-9]{3}'}}
nodes:
  ask:
    ask: {number: "What is your order number?"}
    rules: [{filled: [number], go: told}]
  told: {say: "Order {{ number }} is on its way.", go: end}
"""


@pytest.fixture
def bench(make: Make) -> Bench:
    made = make(writer=[])
    said = [
        Utterance(Role.USER, "Where is my parcel?"),
        Utterance(Role.SYSTEM, "Tell me the number."),
        Utterance(Role.USER, "QF-481"),
        Utterance(Role.SYSTEM, "It is on its way."),
    ]
    write_jsonl(made.folder / "test.jsonl", [Dialogue("d", tuple(said))])
    (made.folder / "flow.yaml").write_text(FLOW, encoding="utf-8")
    return made


SYSTEMS = [{"name": "flow", "flow": "flow.yaml"}]


def test_that_a_flow_hears_the_user_and_its_reply_is_measured(bench: Bench) -> None:
    results = bench.run(systems=SYSTEMS)
    assert "order number" in str(results.rows[0].reply)
    assert str(results.rows[1].reply).startswith("Order QF-481 is on its way.")
    assert results.rows[1].metrics["rouge-l"] > 0.5


def test_that_a_changed_flow_or_application_is_asked_anew(bench: Bench, tmp_path: Path) -> None:
    bench.run(systems=SYSTEMS)
    (bench.folder / "flow.yaml").write_text(FLOW.replace("on its way", "under way"), encoding="utf-8")
    assert "under way" in str(bench.run(systems=SYSTEMS).rows[1].reply)
    app = tmp_path / "app.py"
    app.write_text("from dialoom.flows import Application\n\napp = Application()\n", encoding="utf-8")
    experiment = read_experiment(bench.experiment(systems=SYSTEMS))
    results = asyncio.run(run_experiment(experiment, bench.folder, bench.folder / "out", app=app))
    assert results.run["stale"] == 2 * len(results.rows)


def test_that_the_calls_of_a_flows_model_are_counted_and_priced(bench: Bench) -> None:
    prompt = '    prompt: "Say what to do next. {{ ADDITIONAL_ERROR_MESSAGES }}"\n    rules'
    (bench.folder / "flow.yaml").write_text(FLOW.replace("    rules", prompt, 1), encoding="utf-8")
    text = '{"ASSISTANT_UTTERANCE": "Which number?", "NEXT_NODE": "ask"}'
    bench.models["writer"] = ScriptedModel(lambda _: Completion(text, usage=Usage(1000, 100)), name="writer")
    system = {"name": "flow", "flow": "flow.yaml", "model": "writer"}
    results = bench.run(systems=[system], prices={"writer": {"prompt": 1.0, "completion": 10.0}}, concurrency=1)
    first = results.rows[0]
    assert first.calls >= 1
    assert first.dollars == pytest.approx(first.calls * 0.002)
    with pytest.raises(InvalidFile, match="nobody asks"):
        bench.run(systems=SYSTEMS, prices={"writer": {"prompt": 1.0, "completion": 10.0}})
