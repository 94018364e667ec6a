from pathlib import Path
from typing import Any

import pytest

from dialoom.corpora import FORMATS, ReadOptions, open_corpus
from dialoom.dialogue import Dialogue, Role
from dialoom.testing.corpora import check_reader

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.mark.parametrize("name", FORMATS)
def test_that_every_format_passes_the_conformance_suite(name: str, tmp_path: Path) -> None:
    check_reader(FORMATS[name], FIXTURES / name, tmp_path)


def read(name: str, **options: Any) -> dict[str, Dialogue]:
    return {dialogue.id: dialogue for dialogue in open_corpus(FIXTURES / name, name, ReadOptions(**options))}


def turns(dialogue: Dialogue) -> list[tuple[str, str]]:
    return [(utterance.role.value, utterance.text) for utterance in dialogue.utterances]


def test_that_dialoom_jsonl_keeps_tags_actions_and_annotations() -> None:
    dialogue = read("dialoom")["a1"]
    assert dialogue.utterances[0].tags == ("late parcel",)
    assert dialogue.utterances[2].action == "inform_status"
    assert dialogue.metadata == {"shop": "Nordlicht"}


def test_that_star_reads_speech_queries_and_returns() -> None:
    dialogue = read("star")["7"]
    assert [(u.role.value, u.action) for u in dialogue.utterances] == [
        ("user", None),
        ("system", "boat_ask_day"),
        ("user", None),
        ("tool", "query"),
        ("tool", None),
        ("tool", "query"),
        ("tool", None),
        ("system", None),
    ]
    call, found, _, nothing = dialogue.utterances[3:7]
    assert call.annotations["arguments"]["CustomerName"] == "Orsolya Vass"
    assert call.annotations["arguments"]["Paid"] == 'api.is_equal_to("Yes")'
    assert (found.annotations["tool"], found.annotations["outcome"]) == ("boat_book", "A boat is free.")
    assert found.annotations["count"] == 1
    assert (nothing.annotations["outcome"], nothing.annotations["count"]) == ("nothing found", 0)
    assert dialogue.metadata == {
        "domains": ["boat"],
        "tasks": ["boat_book"],
        "happy": True,
        "multi_task": False,
        "completion": "Complete",
    }


def test_that_sgd_ids_name_their_split_and_calls_come_before_the_reply() -> None:
    dialogues = read("sgd")
    assert set(dialogues) == {"dev/1_00000", "train/1_00000"}
    user, call, result, system, _ = dialogues["train/1_00000"].utterances
    assert user.annotations["acts"][0] == {"act": "inform", "domain": "trains_9", "slot": "to", "value": "Ulm"}
    assert user.annotations["intents"] == ["FindTrain"]
    assert user.annotations["slots"] == {"to": ["Ulm"]}
    assert (call.text, call.annotations["arguments"]) == ("call FindTrain (to: Ulm)", {"to": "Ulm"})
    assert result.annotations["count"] == 4
    assert len(result.annotations["results"]) == 3
    assert system.role is Role.SYSTEM


def test_that_multiwoz_reads_acts_inside_and_beside_and_bookings_as_results() -> None:
    dialogues = read("multiwoz")
    booking = dialogues["SNG9"].utterances[3]
    assert (booking.role, booking.annotations["tool"], booking.annotations["outcome"]) == (
        Role.TOOL,
        "book_hotel",
        "booked",
    )
    assert dialogues["SNG9"].utterances[4].annotations["acts"][-1] == {
        "act": "bye",
        "domain": "general",
        "slot": "",
        "value": "",
    }
    assert dialogues["SNG9"].metadata == {"domains": ["hotel"]}
    assert dialogues["MUL7"].utterances[1].annotations["acts"] == [
        {"act": "request", "domain": "train", "slot": "Day", "value": ""}
    ]
    assert dialogues["MUL7"].metadata == {"domains": ["train"], "fail": True}


def test_that_multiwoz_22_takes_acts_from_the_file_one_folder_up() -> None:
    user, system = read("multiwoz22")["PMUL1"].utterances
    assert user.annotations["acts"][0]["act"] == "inform"
    assert user.annotations["intents"] == ["find_restaurant"]
    assert user.annotations["slots"] == {"restaurant-food": ["Thai"]}
    assert system.annotations["acts"][0]["slot"] == "area"


def test_that_abcd_actions_are_tool_rounds_named_by_their_button() -> None:
    dialogue = read("abcd")["12"]
    action = dialogue.utterances[2]
    assert (action.role, action.action, action.annotations["tool"]) == (
        Role.TOOL,
        "pull-up-account",
        "pull-up-account",
    )
    assert action.annotations["arguments"] == {"values": ["zora quist"]}
    assert dialogue.metadata["flow"] == "shipping"
    assert dialogue.metadata["split"] == "train"


def test_that_kbp_ids_come_from_the_position_and_sources_stay() -> None:
    dialogue = read("kbp")["train#1"]
    assert turns(dialogue)[3] == ("system", "三十二个。")
    assert dialogue.utterances[3].annotations == {"P-K": [["B0"], ["B0-K0"]]}
    assert dialogue.metadata["persona_kg"] == {"B0": {"K0": "象棋有三十二个棋子。"}}


def test_that_dulemon_reads_both_parts() -> None:
    dialogues = read("dulemon")
    assert set(dialogues) == {"both_train#1", "both_train#2", "self_train#1"}
    assert turns(dialogues["both_train#1"])[1:] == [("system", "我爱喝茶。"), ("user", "我也是")]
    assert dialogues["both_train#1"].utterances[1].annotations == {"sources": ["B1"]}
    assert [role for role, _ in turns(dialogues["self_train#1"])] == ["user", "system"]
    assert dialogues["self_train#1"].metadata["p2_persona"] == ["我养鸟"]


def test_that_the_response_of_bea_is_the_last_utterance() -> None:
    dialogues = read("bea")
    assert turns(dialogues["train_0900"])[-1] == ("system", "Can you use it in a sentence?")
    assert turns(dialogues["train_0900"])[0][0] == "user"
    assert dialogues["train_0901"].metadata == {"response": False}
    assert "dev_0001" in dialogues


def test_that_smcalflow_keeps_programs() -> None:
    user, agent = read("smcalflow")["s-1"].utterances
    assert user.annotations["lispress"] == "(Yield (Noon))"
    assert user.annotations["skip"] is False
    assert agent.annotations == {"described_entities": ["entity@1"]}


def test_that_chat_json_is_read_in_each_of_its_shapes() -> None:
    dialogues = read("chat")
    assert set(dialogues) == {"one", "c-77", "many#2", "bare", "5", "list#2"}
    assert turns(dialogues["one"]) == [
        ("user", "Weather in Bern?"),
        ("tool", "call weather (city: Bern)"),
        ("tool", "weather returned ok (status: ok, sky: clear)"),
        ("system", "Clear."),
    ]
    assert dialogues["one"].metadata == {"prompt": "Be brief."}
    assert turns(dialogues["c-77"])[0] == ("user", "Hi")
    assert dialogues["many#2"].utterances[-1].annotations["outcome"] == "from nine to five"


def test_that_twcs_threads_follow_reply_links_whatever_the_order_of_rows() -> None:
    dialogues = read("twcs")
    assert turns(dialogues["tweet-30"]) == [
        ("user", "Late again! cc <handle>"),
        ("system", "Sorry to hear it, Ilse. Which train? ^KT <url>"),
        ("user", "the 7:45 to Ulm & back"),
        ("system", "We will refund you. 1/2"),
        ("system", "and a voucher. 2/2"),
    ]
    assert dialogues["tweet-30"].metadata == {"company": "NordRail", "customers": 1}
    assert turns(dialogues["tweet-40"]) == [("user", "thanks, all good")]


def test_that_multidogo_survives_tabs_and_newlines_and_orders_turns() -> None:
    dialogues = read("multidogo")
    assert turns(dialogues["m-1"]) == [
        ("user", "hello"),
        ("user", "book a seat\tplease"),
        ("user", "from ulm\nto bern"),
    ]
    assert dialogues["m-1"].utterances[1].annotations["intents"] == ["bookflight", "politeness"]
    assert dialogues["m-1"].utterances[2].annotations["slots"] == {"departure_city": ["ulm"], "arrival_city": ["bern"]}
    assert dialogues["m-2"].utterances[0].annotations["personal"] == {"name": ["ottilie brandt"]}
    assert dialogues["m-2"].utterances[1].annotations["slot_labels"] == ["O"]
    assert [role for role, _ in turns(dialogues["m-9"])] == ["user", "system"]
    assert dialogues["m-1"].metadata == {"split": "train", "domain": "airline"}


def test_that_csv_rows_are_gathered_and_put_in_order_of_time() -> None:
    dialogue = read("csv")["t1"]
    assert turns(dialogue) == [("user", "My mug, it broke"), ("user", "Thanks"), ("system", "So sorry!")]
    assert dialogue.utterances[0].tags == ("broken", "mug")
    assert dialogue.utterances[2].tags == ("apology",)


def test_that_kore_exports_are_told_apart_by_the_user() -> None:
    dialogues = read("csv")
    assert turns(dialogues["u-1"]) == [("user", "Where is my order?"), ("system", "Which number?")]
    assert turns(dialogues["u-2"]) == [("user", "Hi")]


def test_that_parquet_reads_like_csv() -> None:
    dialogues = read("parquet")
    assert turns(dialogues["1"]) == [("user", "Is it open?"), ("system", "Yes.")]
    assert dialogues["1"].utterances[0].tags == ("hours",)


def test_that_joining_makes_one_round_of_consecutive_turns() -> None:
    dialogue = read("csv", joined=True)["t1"]
    assert turns(dialogue) == [("user", "My mug, it broke Thanks"), ("system", "So sorry!")]
