from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialoom.errors import InvalidFile, UsageError
from dialoom.evaluation.multiwoz.benchmark import Benchmark, open_benchmark
from dialoom.evaluation.multiwoz.predictions import Turn, read_predictions
from dialoom.evaluation.multiwoz.scores import Scores, scores
from dialoom.evaluation.multiwoz.success import estimated_domains

SYSTEMS = ("ubar", "mintl", "augpt", "damd", "labes", "sfn")


def inn(town: Benchmark, *responses: str) -> Scores:
    return scores({"inn1": [Turn(response) for response in responses]}, town)


def test_that_a_right_offer_and_all_that_was_asked_for_succeed(town: Benchmark) -> None:
    found = inn(town, "[hotel_name] is in the [area].", "Its phone is [phone].", "Booked: [reference].")
    assert (found.inform, found.success) == (100.0, 100.0)
    assert found.domains == {"hotel": (100.0, 100.0)}
    assert (found.states, found.active_domains) == ("gold", "estimated")


def test_that_a_slot_never_told_fails_success_only(town: Benchmark) -> None:
    found = inn(town, "[hotel_name]?", "How long?", "Booked: [reference].")
    assert (found.inform, found.success) == (100.0, 0.0)


def test_that_a_reference_before_the_gold_booking_does_not_count_and_is_a_violation(town: Benchmark) -> None:
    found = inn(town, "[hotel_name], [phone].", "Booked: [reference].", "Bye.")
    assert found.success == 0.0
    assert (found.violations.early_references, found.violations.references) == (1, 1)


def test_that_no_offer_fails_inform(town: Benchmark) -> None:
    assert inn(town, "[area]?", "[phone]", "[reference]").inform == 0.0


def test_that_the_last_differing_offer_counts(town: Benchmark) -> None:
    def ask(*areas: str) -> float:
        turns = [Turn("Try [name].", {"hotel": {"area": area}}, ("hotel",)) for area in areas]
        return scores({"inn1": turns}, town).inform

    assert ask("dontcare", "dontcare", "dontcare") == 0.0
    assert ask("dontcare", "dontcare", "north") == 100.0
    assert ask("north", "north", "dontcare") == 100.0  # what was offered is still among the matches: it stays
    assert ask("south", "south", "north") == 100.0
    assert ask("north", "north", "south") == 0.0
    assert ask("north", "north", "west") == 0.0  # an offer where nothing matches takes the good one away


def test_that_an_offer_where_nothing_matches_is_a_violation(town: Benchmark) -> None:
    found = scores({"inn1": [Turn("[name]!", {"hotel": {"area": "west"}}, ("hotel",))] * 3}, town)
    assert (found.violations.empty_offers, found.violations.empty_results) == (3, 3)


def test_that_trains_match_by_time_and_silence_about_them_is_no_fault(town: Benchmark) -> None:
    def rail(response: str, leave: str) -> Scores:
        state = {"train": {"leave at": leave, "destination": "bath"}}
        return scores({"rail1": [Turn(response, state, ("train",)), Turn("Call [phone].", state, ("taxi",))]}, town)

    assert rail("Take [trainid].", "5 pm").success == 100.0
    assert rail("Take [trainid].", "nine o'clock sharp").inform == 0.0
    assert rail("A train?", "noon").inform == 100.0


def test_that_states_of_the_file_are_used(town: Benchmark, tmp_path: Path) -> None:
    said = ["[name] [phone]", "?", "[reference]"]
    for area, success in (("north", 100.0), ("south", 0.0)):
        path = tmp_path / f"{area}.json"
        path.write_text(json.dumps({"INN1": [{"response": each, "state": {"hotel": {"area": area}}} for each in said]}))
        found = scores(read_predictions(path, town), town)
        assert (found.states, found.success) == ("predicted", success)


def test_that_one_turn_without_state_sets_all_states_aside(town: Benchmark) -> None:
    wrong = {"hotel": {"area": "south"}}
    turns = [Turn("[name] [phone]", wrong), Turn("?", wrong), Turn("[reference]")]
    found = scores({"inn1": turns}, town)
    assert (found.states, found.success) == ("gold", 100.0)


def test_that_bleu_covers_the_dialogues_with_references(town: Benchmark) -> None:
    same = inn(town, "I recommend [name].", "For how long ?", "Booked , your code is [ref] .")
    assert (same.bleu, same.bleu_turns) == (100.0, 3)
    assert scores({"rail1": [Turn("a"), Turn("b")]}, town).bleu is None


def test_that_unknown_placeholders_are_counted_and_mention_nothing(town: Benchmark) -> None:
    found = inn(town, "[name]", "[fone] or [fone]", "[reference]")
    assert found.unknown_placeholders == {"fone": 2}
    assert found.success == 0.0


def test_that_richness_counts_as_worked_by_hand(town: Benchmark) -> None:
    rich = inn(town, "yes it is.", "yes, it was", "yes, it was").richness
    assert (rich.average_length, rich.unigrams, rich.bigrams, rich.trigrams, rich.responses) == (3.0, 4, 3, 2, 2)
    assert rich.entropy == pytest.approx(1.8911, abs=1e-4)  # shares 3/9, 3/9, 1/9, 2/9
    assert rich.conditional_bigram_entropy == pytest.approx(0.3061, abs=1e-4)  # (1 log 3 + 2 log 3/2) / 9


def test_that_the_active_domain_is_the_one_whose_slots_changed() -> None:
    hotel, train = {"area": "north"}, {"day": "monday", "destination": "bath"}
    states = [{}, {"hotel": hotel}, {"hotel": hotel}, {"hotel": hotel, "train": train}, {"train": train}]
    assert list(estimated_domains(states)) == [(), ("hotel",), ("hotel",), ("train",), ("train",)]
    both = [{"hotel": hotel, "train": train}] * 3
    assert list(estimated_domains(both)) == [("train",), ("hotel",), ("hotel",)]


def test_that_ids_may_be_upper_case_and_end_in_json(town: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({"INN1.json": [{"response": "a"}] * 3}), encoding="utf-8")
    assert list(read_predictions(path, town)) == ["inn1"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[", "not JSON"),
        ("[]", "an object of dialogues"),
        ("{}", "an object of dialogues"),
        ('{"inn2": []}', "1 of 1 dialogues have no goal: inn2"),
        ('{"inn1": [{"response": "a"}]}', "inn1: 1 turns where the dialogue has 3"),
        ('{"rail1": [{"response": "a"}, {}]}', "rail1, turn 2: no text 'response'"),
        ('{"rail1": [{"response": "a", "state": {"taxi": 1}}, {}]}', "rail1, turn 1: 'state' is not"),
        ('{"rail1": [{"response": "a", "active_domains": "taxi"}, {}]}', "'active_domains' is not"),
    ],
)
def test_that_a_broken_prediction_file_is_told_by_place(
    content: str, said: str, town: Benchmark, tmp_path: Path
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidFile, match=said):
        read_predictions(path, town)


def test_that_a_folder_without_the_data_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"goals\.json is missing"):
        open_benchmark(tmp_path)


@pytest.mark.data
@pytest.mark.parametrize("system", SYSTEMS)
def test_that_published_systems_score_as_in_the_official_table(system: str, data: Path) -> None:
    folder = data / "multiwoz" / "predictions"
    benchmark = open_benchmark(data / "multiwoz")
    found = scores(read_predictions(folder / f"{system}.json", benchmark), benchmark)
    official: dict[str, Any] = json.loads((folder / "scores.json").read_text())["systems"][system]
    assert (found.inform, found.success) == (official["inform"], official["success"])
    run: dict[str, Any] = json.loads((folder / "scores_reproduced.json").read_text())["systems"][system]
    for domain, (inform, success) in found.domains.items():
        assert (inform, success) == (run["inform"][domain], run["success"][domain]), domain
    rich, names = found.richness, run["richness"]
    assert round(rich.average_length, 3) == names["avg_lengths"]
    assert round(rich.entropy, 3) == names["entropy"]
    assert round(rich.conditional_bigram_entropy, 3) == names["cond_entropy"]
    assert round(rich.msttr, 3) == names["msttr"]
    assert (rich.unigrams, rich.bigrams, rich.trigrams) == tuple(names[f"num_{n}grams"] for n in ("uni", "bi", "tri"))
