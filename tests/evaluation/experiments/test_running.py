from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from dialoom.corpora import write_jsonl
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidFile, ModelError, NothingToLearn, StoreError, UnknownName, UsageError
from dialoom.evaluation.experiments.ledger import Ledger
from dialoom.evaluation.experiments.results import Results
from dialoom.evaluation.experiments.summary import summarised
from dialoom.models.base import Completion, Request, Usage
from dialoom.models.scripted import Fault, ScriptedModel

from .conftest import Bench, Make


def turns(bench: Bench) -> int:
    lines = (bench.folder / "test.jsonl").read_text(encoding="utf-8").splitlines()
    return sum(said["role"] == "system" for line in lines for said in json.loads(line)["utterances"])


def test_that_every_system_answers_every_turn_and_is_measured(make: Make) -> None:
    bench = make(writer=["Your parcel is on its way."])
    results = bench.run()
    assert len(results.rows) == 2 * turns(bench)
    assert bench.asked() == turns(bench)
    assert {row.reply for row in results.of("asked")} == {"Your parcel is on its way."}
    assert all(set(row.metrics) == {"rouge-l", "exact-match"} for row in results.rows)
    line = summarised(results).lines[0]
    assert line.replies == turns(bench)
    value = line.metrics["rouge-l"]
    assert value.low is not None
    assert value.value is not None
    assert value.high is not None
    assert value.low <= value.value <= value.high


def test_that_a_second_run_asks_nothing_and_finds_the_same(make: Make) -> None:
    bench = make(writer=["On its way."])
    first = bench.run()
    asked = bench.asked()
    second = bench.run()
    assert bench.asked() == asked
    assert second.rows == first.rows


def test_that_a_changed_prompt_is_asked_anew_and_a_renamed_system_is_not(make: Make) -> None:
    bench = make(writer=["On its way."])
    bench.run()
    asked = bench.asked()
    system = {"name": "other name", "strategy": "s-icl-one-sample", "selector": "bm25", "model": "writer"}
    bench.run(systems=[system])
    assert bench.asked() == asked
    bench.run(systems=[{**system, "strategy": "s-icl-zero-shot"}])
    assert bench.asked() == 2 * asked


def test_that_failures_are_counted_kept_out_and_asked_again(make: Make) -> None:
    bench = make(writer=["fine", Fault("refused"), "fine"])
    results = bench.run(concurrency=1)
    failed = [row for row in results.of("asked") if row.error]
    assert len(failed) == 1
    assert results.run["reasons"] == {"asked": failed[0].error}
    assert summarised(results).lines[1].failed == 1
    asked = bench.asked()
    again = bench.run(concurrency=1)
    assert bench.asked() == asked + 1
    assert summarised(again).lines[1].failed == 0


def test_that_a_system_that_always_fails_is_given_up_and_the_others_go_on(make: Make) -> None:
    bench = make(writer=[Fault("refused")])
    results = bench.run(concurrency=1)
    assert bench.asked() == 10
    assert "asked" in results.run["given_up"]
    assert summarised(results).lines[0].replies == turns(bench)


def test_that_the_budget_stops_asking_keeps_what_there_is_and_a_larger_one_goes_on(make: Make) -> None:
    bench = make(writer=["fine"])
    results = bench.run(budget={"calls": 3}, concurrency=1)
    assert results.run["stopped"] == "the budget of 3 calls is spent"
    assert bench.asked() == 3
    bench.run(budget={"calls": 1000}, concurrency=1)
    assert bench.asked() == turns(bench)


def test_that_calls_under_way_are_waited_for_and_count_and_what_is_free_goes_on(make: Make) -> None:
    bench = make(writer=lambda _: Fault("slow", 0.02, "fine"))
    paid = {"name": "asked", "strategy": "s-icl-zero-shot", "model": "writer"}
    free = {"name": "free", "strategy": "s-icl-search", "selector": "bm25"}
    results = bench.run(systems=[paid, free], budget={"calls": 6}, concurrency=4)
    assert bench.asked() == 6
    assert sum(row.reply == "fine" for row in results.of("asked")) == 6
    assert all(row.reply is not None for row in results.of("free"))
    assert "6 calls" in results.run["stopped"]


def test_that_time_stops_everything_and_keeps_what_there_is(make: Make) -> None:
    bench = make(writer=["fine"])
    results = bench.run(budget={"minutes": 1e-9})
    assert results.run["stopped"] == "the budget of 1e-09 minutes is spent"
    assert [row for row in results.rows if row.reply is not None] == []


def test_that_money_is_counted_by_the_price_of_a_token_and_bounded(make: Make) -> None:
    bench = make(writer=lambda _: Completion("fine", usage=Usage(1000, 100)))
    price = {"prompt": 2.0, "completion": 10.0}
    system = {"name": "asked", "strategy": "s-icl-zero-shot", "model": "writer", "price": price}
    results = bench.run(systems=[system], budget={"dollars": 0.007}, concurrency=1)
    assert bench.asked() == 3  # 0.003 dollars a call: the third passes the limit, the fourth is not made
    assert results.run["dollars"] == pytest.approx(0.009)


def test_that_several_replies_are_asked_for_at_a_time(make: Make) -> None:
    bench = make(writer=lambda _: Fault("slow", 0.02, "fine"))
    results = bench.run(concurrency=8)
    assert all(row.reply == "fine" for row in results.of("asked"))


def test_that_seeds_are_asked_apart_only_where_they_matter(make: Make) -> None:
    bench = make(writer=["fine"])
    results = bench.run(seeds=[0, 1])
    assert bench.asked() == turns(bench)  # bm25 does not depend on the seed
    assert len(results.of("random")) == 2 * turns(bench)
    by_seed = [[row.reply for row in results.of("random") if row.seed == seed] for seed in (0, 1)]
    assert by_seed[0] != by_seed[1]


def test_that_one_sided_and_empty_dialogues_are_left_out_and_counted(make: Make) -> None:
    bench = make(writer=["fine"])
    spoken = Dialogue("two", (Utterance(Role.USER, "hi there"), Utterance(Role.SYSTEM, "hello")))
    alone = Dialogue("one", (Utterance(Role.USER, "is anybody there?"),))
    write_jsonl(bench.folder / "test.jsonl", [spoken, alone, Dialogue("none", ())])
    results = bench.run()
    assert results.run["skipped"]["shop"] == {"dialogues in which one side never speaks": 1, "empty dialogues": 1}
    write_jsonl(bench.folder / "test.jsonl", [alone])
    with pytest.raises(NothingToLearn, match="one side never speaks"):
        bench.run()


def test_that_the_true_reply_and_what_follows_are_never_shown(make: Make) -> None:
    def never(request: Request) -> str:
        shown.append("\n".join(message.content for message in request.messages))
        return "fine"

    shown: list[str] = []
    bench = make(writer=never)
    results = bench.run(systems=[{"name": "asked", "strategy": "s-icl-zero-shot", "model": "writer"}], concurrency=1)
    for prompt, row in zip(shown, results.rows, strict=True):
        said = Counter(re.findall(r"^(?:User|System|Tool): (.*)$", prompt, re.MULTILINE))
        spoken = results.dialogues[row.dataset, row.dialogue].utterances[: row.turn]
        assert said == Counter(" ".join(utterance.text.split()) for utterance in spoken[-20:])


def test_that_predictions_are_read_and_missing_ones_counted(make: Make) -> None:
    bench = make()
    lines = [json.loads(line) for line in (bench.folder / "test.jsonl").read_text(encoding="utf-8").splitlines()]
    places = [(d["id"], n) for d in lines for n, said in enumerate(d["utterances"]) if said["role"] == "system"]
    truth = {d["id"]: d["utterances"] for d in lines}
    right = [{"dialogue": name, "turn": turn, "text": truth[name][turn]["text"]} for name, turn in places[1:]]
    bench.predictions(right)
    results = bench.run(systems=[{"name": "theirs", "predictions": "predictions.jsonl"}])
    line = summarised(results).lines[0]
    assert line.missing == 1
    assert line.metrics["exact-match"].value == 1.0


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"dialogue": "D", "turn": 0, "text": "x"}, "is not asked for"),
        ({"turn": 0, "text": "x"}, "line 1"),
        ({"dialogue": "nobody", "turn": 1, "text": "x"}, "none of the turns"),
        ({"dialogue": "D", "turn": 1, "text": None}, "no string"),
    ],
)
def test_that_a_prediction_file_that_does_not_fit_is_refused(line: dict[str, object], told: str, make: Make) -> None:
    bench = make()
    first = json.loads((bench.folder / "test.jsonl").read_text(encoding="utf-8").splitlines()[0])["id"]
    bench.predictions([{k: first if v == "D" else v for k, v in line.items()}])
    with pytest.raises(InvalidFile, match=told):
        bench.run(systems=[{"name": "theirs", "predictions": "predictions.jsonl"}])


def test_that_a_line_cut_short_is_dropped_and_the_next_record_is_whole(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.add("a", {"text": "first"})
    with ledger.path.open("ab") as file:
        file.write(b'{"key": "b", "text": "cut sh')
    again = Ledger(ledger.path)
    assert (again.torn, set(again.records)) == (1, {"a"})
    again.add("c", {"text": "third"})
    assert set(Ledger(ledger.path).records) == {"a", "c"}


def test_that_a_full_disk_is_told_and_nothing_before_it_is_lost(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    bench = make(writer=["fine"])
    real, left = os.write, [4]

    def full(handle: int, data: bytes) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return real(handle, data)

    with monkeypatch.context() as patched:
        patched.setattr("dialoom.evaluation.experiments.ledger.os.write", full)
        with pytest.raises(StoreError, match="No space left"):
            bench.run(concurrency=1)
    assert len(Ledger(bench.folder / "out" / "replies.jsonl").records) == 4
    assert all(row.reply is not None for row in bench.run().rows)


def test_that_keys_and_passwords_reach_no_file(make: Make) -> None:
    secret = "sk-verysecret12345"
    spec = f"http://me:{secret}@host/v1#m"
    bench = make()
    bench.models[spec] = ScriptedModel([ModelError(f"the server said: wrong key {secret}")], name=spec)
    bench.run(systems=[{"name": "asked", "strategy": "s-icl-zero-shot", "model": spec}])
    written = "".join(path.read_text(encoding="utf-8") for path in (bench.folder / "out").iterdir())
    assert "verysecret" not in written
    assert "me:" not in written


def test_that_results_are_read_back_as_they_were_written(make: Make) -> None:
    bench = make(writer=["fine"])
    results = bench.run()
    read = Results.load(bench.folder / "out")
    assert read.rows == results.rows
    assert summarised(read) == summarised(results)
    (bench.folder / "out" / "results.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(InvalidFile, match="damaged"):
        Results.load(bench.folder / "out")
    with pytest.raises(InvalidFile, match="no results"):
        Results.load(bench.folder)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"systems": [{"name": "x"}]}, "exactly one of"),
        ({"systems": [{"name": "x", "agent": "a", "strategy": "b"}]}, "exactly one of"),
        ({"systems": [{"name": "x", "agent": "a"}] * 2}, "one name"),
        ({"datasets": [{"name": "d"}]}, "either data"),
        ({"judge": {"against": "nobody", "models": ["m"]}}, "names no system"),
        ({"sedes": [1]}, "sedes"),
    ],
)
def test_that_a_wrong_experiment_file_names_the_place(changes: dict[str, object], told: str, make: Make) -> None:
    with pytest.raises(InvalidFile, match=told):
        make().run(**changes)


def test_that_unknown_names_list_the_valid_ones(make: Make) -> None:
    with pytest.raises(UnknownName, match="rouge-l"):
        make().run(metrics=["rogue-l"])
    with pytest.raises(UnknownName, match="s-icl-search"):
        make().run(systems=[{"name": "x", "strategy": "s-icl-serach"}])
    with pytest.raises(UsageError, match="no training dialogues"):
        make().run(
            datasets=[{"name": "d", "test": ["test.jsonl"]}], systems=[{"name": "x", "strategy": "s-icl-search"}]
        )
