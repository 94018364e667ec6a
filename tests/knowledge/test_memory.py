import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from dialoom.errors import UsageError
from dialoom.knowledge.memory import FactRule, Memory, read_turn
from dialoom.knowledge.sources import MemorySource

from .doubles import asking


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def memory() -> Memory:
    return Memory(clock=Clock())


def test_that_a_plain_statement_is_kept_and_dated(memory: Memory) -> None:
    read_turn(memory, "ann", "Hi, my shoe size is 42, do you have boots?", dialogue="d1")
    (fact,) = memory.facts("ann")
    assert (fact.subject, fact.value, fact.text, fact.dialogue) == (
        "shoe size", "42", "The customer's shoe size is 42.", "d1",
    )  # fmt: skip
    assert fact.said_at.year == 2030


def test_that_a_full_stop_is_not_part_of_a_value(memory: Memory) -> None:
    read_turn(memory, "ann", "My shoe size is 41.5.")
    assert [fact.value for fact in memory.facts("ann")] == ["41.5"]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("My name is Ann Lee and I prefer blue.", "Ann Lee"),
        ("my name is bob", "bob"),
        ("My name is Zoë O'Neil-Smith, hello", "Zoë O'Neil-Smith"),
        ("My name is Élodie.", "Élodie"),
        ("My name is spelled wrong on the parcel.", ""),
    ],
)
def test_that_a_name_ends_where_the_name_does(memory: Memory, said: str, name: str) -> None:
    read_turn(memory, "ann", said)
    assert "".join(fact.value for fact in memory.facts("ann") if fact.subject == "name") == name


@pytest.mark.parametrize(
    "said",
    ["Don't forget my shoe size!", "please do not forget my shoe size", "I always forget my shoe size",
     "I forget my shoe size", "Never forget me"],
)  # fmt: skip
def test_that_only_a_request_to_forget_forgets(memory: Memory, said: str) -> None:
    read_turn(memory, "ann", "my shoe size is 42")
    assert read_turn(memory, "ann", said) == []
    assert len(memory.facts("ann")) == 1
    (remark,) = read_turn(memory, "ann", f"{said} Oh, and forget my shoe size.")
    assert remark.kind == "forgotten"
    assert memory.history("ann") == []


def test_that_a_new_value_corrects_the_old_and_history_keeps_both(memory: Memory) -> None:
    read_turn(memory, "ann", "my shoe size is 42")
    read_turn(memory, "ann", "sorry, my shoe size is 43")
    assert [fact.value for fact in memory.facts("ann")] == ["43"]
    assert [(fact.value, fact.replaced_at is None) for fact in memory.history("ann")] == [("43", True), ("42", False)]


def test_that_a_delicate_fact_waits_for_a_yes(memory: Memory) -> None:
    (remark,) = read_turn(memory, "ann", "I'm allergic to wool.")
    assert (remark.kind, remark.question) == ("ask", "Shall I remember that your allergy is wool?")
    assert memory.facts("ann") == []
    (confirmed,) = read_turn(memory, "ann", "Yes please")
    assert confirmed.kind == "confirmed"
    assert [fact.text for fact in memory.facts("ann")] == ["The customer is allergic to wool."]


def test_that_anything_but_a_yes_drops_it(memory: Memory) -> None:
    read_turn(memory, "ann", "I'm allergic to wool.")
    (dropped,) = read_turn(memory, "ann", "How much are the boots?")
    assert dropped.kind == "dropped"
    assert memory.history("ann") == []


def test_that_rules_of_ones_own_may_ask_about_any_subject(memory: Memory) -> None:
    rule = FactRule(re.compile(r"my (?P<subject>\w+) is called (?P<value>\w+)"), confirm="ask")
    (remark,) = read_turn(memory, "ann", "my dog is called Rex", rules=[rule])
    assert remark.question == "Shall I remember that your dog is Rex?"
    read_turn(memory, "ann", "yes", rules=[rule])
    assert [fact.text for fact in memory.facts("ann")] == ["The customer's dog is Rex."]


def test_that_a_preference_is_kept_once_it_is_repeated(memory: Memory) -> None:
    read_turn(memory, "ann", "I prefer black leather")
    assert memory.facts("ann") == []
    read_turn(memory, "ann", "As I said, I prefer black leather")
    assert [fact.value for fact in memory.facts("ann")] == ["black leather"]


def test_that_an_unconfirmed_value_does_not_replace_a_confirmed_one(memory: Memory) -> None:
    memory.remember("ann", "allergy", "wool", "wool")
    waiting = memory.remember("ann", "allergy", "silk", "silk", confirmed=False)
    assert [fact.value for fact in memory.facts("ann")] == ["wool"]
    memory.confirm("ann", waiting.number)
    assert [fact.value for fact in memory.facts("ann")] == ["silk"]


def test_that_users_forget_on_request(memory: Memory) -> None:
    read_turn(memory, "ann", "my shoe size is 42. My name is Ann.")
    assert [remark.subject for remark in read_turn(memory, "ann", "please forget my shoe size")] == ["shoe size"]
    assert [fact.subject for fact in memory.history("ann")] == ["name"]
    read_turn(memory, "ann", "forget everything")
    assert memory.history("ann") == []


def test_that_old_facts_are_forgotten_and_facts_said_again_stay() -> None:
    clock = Clock()
    memory = Memory(clock=clock)
    memory.remember("ann", "home", "Bern", "home Bern")
    memory.remember("ann", "name", "Ann", "name Ann")
    clock.now += timedelta(days=400)
    memory.remember("ann", "name", "Ann", "name Ann")
    assert memory.forget_older_than(timedelta(days=365)) == 1
    assert [fact.subject for fact in memory.facts("ann")] == ["name"]


def test_that_one_users_memory_is_never_anothers(memory: Memory) -> None:
    read_turn(memory, "ann", "my shoe size is 42")
    read_turn(memory, "bob", "my shoe size is 45")
    source = MemorySource("MEMORY", "", memory)
    assert [e.text for e in source.search(asking("which size?", user="ann"), 5)] == ["The customer's shoe size is 42."]
    assert source.search(asking("which size?"), 5) == []
    assert memory.forget("bob") == 1
    assert len(memory.facts("ann")) == 1
    with pytest.raises(UsageError):
        memory.confirm("bob", memory.facts("ann")[0].number)


def test_that_memory_lasts_across_sessions(tmp_path: Path) -> None:
    first = Memory(tmp_path / "memory.sqlite")
    read_turn(first, "ann", "I live in Bern.")
    first.close()
    second = Memory(tmp_path / "memory.sqlite")
    assert [fact.value for fact in second.facts("ann")] == ["Bern"]
    second.close()


def test_that_the_best_matching_fact_comes_first(memory: Memory) -> None:
    read_turn(memory, "ann", "my shoe size is 42. My favourite colour is green.")
    source = MemorySource("MEMORY", "", memory)
    assert source.search(asking("something in my colour", user="ann"), 1)[0].passage.metadata["value"] == "green"


def test_that_nobody_is_remembered_without_a_name(memory: Memory) -> None:
    with pytest.raises(UsageError, match="user"):
        read_turn(memory, "", "my shoe size is 42")


def test_that_what_is_too_old_is_never_read_and_goes_by_itself(tmp_path: Path) -> None:
    clock = Clock()
    path = tmp_path / "memory.sqlite"
    memory = Memory(path, keep=timedelta(days=30), clock=clock)
    memory.remember("ann", "home", "Bern", "The customer lives in Bern.")
    clock.now += timedelta(days=20)
    memory.remember("ann", "name", "Ann", "name Ann")
    clock.now += timedelta(days=20)
    assert [fact.subject for fact in memory.history("ann")] == ["name"]
    memory.remember("ann", "size", "41", "size 41")
    memory.close()
    assert b"Bern" not in path.read_bytes()


def test_that_what_is_forgotten_is_no_longer_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    memory = Memory(path)
    read_turn(memory, "ann", "I live in Bern.")
    assert b"Bern" in path.read_bytes()
    read_turn(memory, "ann", "forget everything")
    memory.close()
    assert b"Bern" not in path.read_bytes()
