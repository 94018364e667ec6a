"""The commands of flows, as a person types them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import typer
from jsonschema import Draft202012Validator
from typer.testing import CliRunner

from dialoom.cli.flow import flow_app
from dialoom.cli.replay import replay_command
from dialoom.cli.test import run_tests
from dialoom.errors import UnknownName, UsageError
from dialoom.flows import Ports, Runner, load_application
from dialoom.flows.load import flow_schema
from dialoom.flows.source import parse_yaml

SHOP = Path(__file__).parents[2] / "examples" / "shop"
FLOW = """
flow: f
start: ask
nodes:
  ask: {ask: Well?, rules: [{go: done}]}
  done: {say: Done., go: close}
"""
app = typer.Typer()
app.add_typer(flow_app, name="flow")
app.command("test")(run_tests)
app.command("replay")(replay_command)


def dialoom(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(item) for item in arguments], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def test_that_check_says_what_is_wrong_and_fails(tmp_path: Path) -> None:
    assert dialoom("flow", "check", SHOP / "shop.yaml", "--app", SHOP / "app.py") == (0, "0 errors, 0 warnings\n")
    broken = tmp_path / "f.yaml"
    broken.write_text(FLOW.replace("go: done}]", "go: doen}]"))
    code, text = dialoom("flow", "check", broken)
    assert code == 1
    assert "Unknown node 'doen'. Did you mean 'done'?" in text
    assert "function names were not checked" in text
    code, text = dialoom("flow", "check", broken, "--json")
    assert {item["code"] for item in json.loads(text)} == {"unknown node", "unreachable"}


def test_that_warnings_fail_only_when_strict(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_text(FLOW + "  lost: {say: x, go: end}\n")
    assert dialoom("flow", "check", path)[0] == 0
    assert dialoom("flow", "check", path, "--strict")[0] == 1


def test_that_show_draws_and_knows_its_formats(tmp_path: Path) -> None:
    assert dialoom("flow", "show", SHOP / "shop.yaml")[1].startswith("flowchart TD")
    for form, head in (("svg", "<svg"), ("html", "<!doctype html>")):
        dialoom("flow", "show", SHOP / "shop.yaml", "--format", form, "-o", tmp_path / form)
        assert (tmp_path / form).read_text().startswith(head)
    with pytest.raises(UnknownName, match="Valid: html, mermaid, svg"):
        dialoom("flow", "show", SHOP / "shop.yaml", "--format", "png")


def test_that_diff_tells_changes(tmp_path: Path) -> None:
    old, new = tmp_path / "a.yaml", tmp_path / "b.yaml"
    old.write_text(FLOW)
    new.write_text(FLOW.replace("Done.", "Finished."))
    code, text = dialoom("flow", "diff", old, new)
    assert code == 1
    assert "+ Finished." in text
    assert dialoom("flow", "diff", old, old) == (0, "0 changes\n")


def test_that_the_schema_is_printed() -> None:
    assert json.loads(dialoom("flow", "schema")[1]) == flow_schema()
    schema = json.loads(dialoom("flow", "schema", "--tests")[1])
    for path in SHOP.glob("test_*.yaml"):
        data, _ = parse_yaml(path.read_text(), path.name)
        plain = {**data, "now": str(data["now"])}
        assert [error.message for error in Draft202012Validator(schema).iter_errors(plain)] == []


def test_that_tests_are_run_and_reported(tmp_path: Path) -> None:
    code, text = dialoom("test", SHOP, "--only", "correction -", "--junit", tmp_path / "out.xml")
    assert code == 0
    assert "20 passed, 0 failed" in text
    assert 'tests="20"' in (tmp_path / "out.xml").read_text()
    assert dialoom("test", SHOP, "--only", "correction -", "--least", "90")[0] == 1
    (tmp_path / "f.yaml").write_text(FLOW)
    (tmp_path / "test_f.yaml").write_text(
        "flow: f.yaml\ntests:\n- {name: t, turns: [{user: x, expect: {contains: Dome}}]}\n"
    )
    code, text = dialoom("test", tmp_path, "--coverage")
    assert code == 1
    assert "FAILED test_f.yaml: t" in text
    assert "the reply lacks 'Dome'" in text
    with pytest.raises(UsageError, match="Recording needs a model"):
        dialoom("test", SHOP, "--record")


def test_that_replay_shows_the_first_turn_that_differs(tmp_path: Path) -> None:
    path, record = tmp_path / "f.yaml", tmp_path / "s.jsonl"
    path.write_text(FLOW)
    run = Runner(path, record=record)
    asyncio.run(run.open())
    asyncio.run(run.say("go"))
    assert dialoom("replay", record, "--flow", path) == (0, "2 turns, all the same\n")
    path.write_text(FLOW.replace("Done.", "Finished."))
    code, text = dialoom("replay", record, "--flow", path)
    assert code == 1
    assert "Turn 1 differs: the user says 'go'" in text
    assert "said: ['Done.'] then, ['Finished.'] now" in text


def test_that_replay_tells_again_what_was_told_and_computes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("semantic_text_splitter", reason="the extra 'documents' is not installed")
    store, record = SHOP.parent / "store", tmp_path / "s.jsonl"
    run = Runner(store / "store.yaml", Ports(load_application(store / "app.py")), record=record)
    for text in (None, "what is in stock", "anything under 100", "can I return shoes", "my shoe size is 41"):
        asyncio.run(run.say(text) if text else run.open())
    assert dialoom("replay", record, "--flow", store / "store.yaml") == (0, "5 turns, all the same\n")


def test_that_chat_runs_a_flow_and_records_it(tmp_path: Path) -> None:
    from dialoom.cli.application import app as whole

    record, script = tmp_path / "s.jsonl", tmp_path / "lines.txt"
    script.write_text("a large veggie pizza\nyes\n")
    arguments = ["chat", str(SHOP / "shop.yaml"), "--app", str(SHOP / "app.py"), "--script", str(script)]
    result = CliRunner().invoke(whole, [*arguments, "--log", str(record), "--trace"])
    assert result.exit_code == 0
    assert "I have added a large Veggie to your basket." in result.output
    assert "node_entered" in result.output
    assert (
        dialoom("replay", record, "--flow", SHOP / "shop.yaml", "--app", SHOP / "app.py")[1]
        == "3 turns, all the same\n"
    )


def test_that_a_learned_agent_answers_outside_the_flow(tmp_path: Path) -> None:
    from dialoom.agent.learn import learn
    from dialoom.cli.application import app as whole
    from dialoom.demo import transcripts

    learn(transcripts()[::6]).save(tmp_path / "agent.dialoom")
    (tmp_path / "lines.txt").write_text("a pizza\nI forgot my password and cannot log in\n")
    agent = ["--agent", str(tmp_path / "agent.dialoom")]
    script = ["--script", str(tmp_path / "lines.txt")]
    record = tmp_path / "s.jsonl"
    shop = [str(SHOP / "shop.yaml"), "--app", str(SHOP / "app.py")]
    result = CliRunner().invoke(whole, ["chat", *shop, *agent, *script, "--trace", "--log", str(record)])
    assert result.exit_code == 0, result.output
    assert "flow> What type of pizza" in result.output
    assert "automaton> " in result.output
    assert "answered_outside" in result.output
    assert "  state     " in result.output
    flow: list[str | Path] = ["--flow", SHOP / "shop.yaml", "--app", SHOP / "app.py"]
    assert dialoom("replay", record, *flow, *agent)[1] == "3 turns, all the same\n"
    plain = CliRunner().invoke(whole, ["chat", *shop, *agent, *script, "--model", "ranked"])
    assert "model_failed" not in plain.output
    assert plain.exit_code == 0, plain.output
    no_way = CliRunner().invoke(whole, ["chat", *shop, *script, "--model", "ranked"])
    assert isinstance(no_way.exception, UsageError)
    mistaken = CliRunner().invoke(whole, ["chat", str(tmp_path / "agent.dialoom"), *agent, *script])
    assert isinstance(mistaken.exception, UsageError)
