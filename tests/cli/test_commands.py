from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dialoom.demo import conversations

from .conftest import Run

COMMANDS = ("init", "formats", "learn", "show", "chat", "route", "diff", "conform", "demo")


@pytest.mark.parametrize("command", COMMANDS)
def test_that_every_command_has_help_with_an_example(command: str, run: Run) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    assert f"Example: dialoom {command}" in done.stdout


def test_that_a_folder_can_be_started_learned_and_talked_to(run: Run, tmp_path: Path) -> None:
    assert run("init", "support", cwd=tmp_path).returncode == 0
    learned = run("learn", "--json", cwd=tmp_path / "support")
    assert learned.returncode == 0, learned.stderr
    assert json.loads(learned.stdout)["states"] > 1
    talked = run("chat", "agent.dialoom", "--trace", cwd=tmp_path / "support", stdin="where is my order?\n")
    assert talked.returncode == 0
    assert "agent> " in talked.stdout
    assert "state" in talked.stdout


def test_that_init_writes_into_no_folder_that_holds_something(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    done = run("init", str(tmp_path))
    assert done.returncode == 2
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_that_learning_with_words_that_are_no_setting_lists_the_settings(run: Run, corpus: Path) -> None:
    done = run("learn", str(corpus), "--set", "taw=3")
    assert done.returncode == 2
    assert "Did you mean 'tau'?" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("learn", "nowhere.jsonl"),
        ("learn",),
        ("learn", "nowhere.jsonl", "--on-error", "shrug"),
        ("show", "nowhere.dialoom"),
        ("show",),
        ("chat", "nowhere.dialoom", "--model", "magic"),
        ("diff", "nowhere.dialoom", "nowhere.dialoom"),
        ("conform", "nowhere.dialoom", "nowhere.jsonl"),
        ("eval", "next-action"),
        ("nothing",),
    ],
)
def test_that_a_users_mistake_is_one_clear_message_and_exit_code_2(
    arguments: tuple[str, ...], run: Run, tmp_path: Path
) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_that_bad_records_stop_learning_or_are_listed(run: Run, corpus: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(corpus.read_text("utf-8") + '{"id": "bad", "utterances": [{"role": "owl", "text": "hu"}]}\n')
    stopped = run("learn", str(broken), "-o", str(tmp_path / "m.dialoom"))
    assert stopped.returncode == 2
    assert "role" in stopped.stderr
    assert not (tmp_path / "m.dialoom").exists()
    rejects = tmp_path / "rejects.jsonl"
    done = run("learn", str(broken), "-o", str(tmp_path / "m.dialoom"), "--on-error", "skip", "--rejects", str(rejects))
    assert done.returncode == 0, done.stderr
    assert "1 bad records skipped" in done.stderr
    assert json.loads(rejects.read_text("utf-8"))["field"].endswith("role")


@pytest.mark.parametrize("name", ["json", "mermaid", "dot", "svg", "html", "graphml", "scxml"])
def test_that_an_automaton_is_shown_in_every_format(name: str, run: Run, model: Path, tmp_path: Path) -> None:
    depth = () if name == "json" else ("--max-depth", "4")
    done = run("show", str(model), "--format", name, "--out", str(tmp_path / "picture"), *depth)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "picture").stat().st_size > 100


def test_that_a_state_is_shown_in_full(run: Run, model: Path) -> None:
    done = run("show", str(model), "--state", "1")
    assert done.returncode == 0
    assert "dialogues pass through it" in done.stdout
    assert run("show", str(model), "--state", "no such").returncode == 2


def test_that_routing_answers_each_line_in_order(run: Run, model: Path) -> None:
    lines = [
        {"id": str(n), "utterances": [{"role": "user", "text": text}]} for n, text in enumerate(["hi", "my order?"])
    ]
    done = run("route", str(model), stdin="\n".join(map(json.dumps, lines)))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == ["0", "1"]
    assert all(answer["state"]["name"] and answer["examples"] for answer in answers)


def test_that_routing_names_the_line_that_is_wrong(run: Run, model: Path) -> None:
    done = run("route", str(model), stdin='{"id": "a", "utterances": []}\nnonsense\n')
    assert done.returncode == 2
    assert "line 2" in done.stderr


def test_that_a_model_conforms_to_its_own_transcripts_and_differs_from_nothing(
    run: Run, model: Path, corpus: Path
) -> None:
    found = json.loads(run("conform", str(model), str(corpus), "--json").stdout)
    assert 0.5 < found["turn_share"] <= 1.0
    assert "No difference." in run("diff", str(model), str(model)).stdout


def test_that_an_update_is_a_difference(run: Run, model: Path, corpus: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.jsonl"
    lines = corpus.read_text("utf-8").splitlines()[:8]
    more.write_text("\n".join(json.dumps({**json.loads(line), "id": f"new-{n}"}) for n, line in enumerate(lines)))
    updated = tmp_path / "updated.dialoom"
    done = run("learn", str(more), "--update", str(model), "--out", str(updated), "--json")
    assert done.returncode == 0, done.stderr
    before = json.loads(run("learn", str(corpus), "--out", str(tmp_path / "b.dialoom"), "--json").stdout)
    assert json.loads(done.stdout)["learned"]["dialogues"] == before["learned"]["dialogues"] + 8


def test_that_the_demo_plays_its_conversations_without_a_terminal(run: Run, tmp_path: Path) -> None:
    done = run("demo", "--out", str(tmp_path), "--model", "retrieve")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("agent> ") == sum(map(len, conversations().values()))
    assert (tmp_path / "demo.html").exists()
    assert (tmp_path / "demo.dialoom").exists()


@pytest.mark.embedded
def test_that_the_demo_runs_with_the_embedded_model(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    done = run("demo", "--out", str(tmp_path), "--model", "ranked")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("agent> ") == sum(map(len, conversations().values()))
    assert "rank " in done.stdout


def test_that_a_stop_leaves_no_half_written_file(corpus: Path, tmp_path: Path) -> None:
    program = [sys.executable, "-c", "from dialoom.cli import main; main()", "learn", str(corpus), "-o", "m.dialoom"]
    for seconds in (0.6, 1.2, 2.0):
        process = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        left = os.listdir(tmp_path)
        assert left in ([], ["m.dialoom"])
        if left:
            assert process.returncode in (0, 130, -signal.SIGINT)  # the last: stopped while the process was leaving
            break


@pytest.mark.parametrize(("option", "told"), [("--role=bot=owl", "system"), ("--column=speech=x", "conversation")])
def test_that_a_speaker_or_column_that_means_nothing_is_refused(
    option: str, told: str, run: Run, corpus: Path, tmp_path: Path
) -> None:
    done = run("learn", str(corpus), option, "--out", str(tmp_path / "m.dialoom"))
    assert done.returncode == 2
    assert told in done.stderr
    assert not list(tmp_path.iterdir())


def test_that_json_is_whole_or_refused(run: Run, model: Path) -> None:
    assert run("show", str(model), "--format", "json", "--max-depth", "2").returncode == 2
