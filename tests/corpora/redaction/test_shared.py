from collections.abc import Iterator

import pytest

from dialoom.corpora.redaction import redact, shared_values
from dialoom.dialogue import Dialogue, Role, Utterance

U, S = Role.USER, Role.SYSTEM


def talk(name: str, *turns: tuple[Role, str]) -> Dialogue:
    return Dialogue(name, tuple(Utterance(role, text) for role, text in turns))


def corpus(size: int, hotline_in: int) -> Iterator[Dialogue]:
    """Dialogues in which each customer has a number of their own, and the first ones hear the hotline twice."""
    for number in range(size):
        own = f"555-222-{1000 + number}"
        last = "Ring us on 555-0199. I repeat: 555 0199-1." if number < hotline_in else "Bye."
        yield talk(str(number), (U, f"I am on {own}"), (S, f"We ring {own}. Ring 555-0199."[: 24 if number >= hotline_in
                   else None]), (S, last))  # fmt: skip


@pytest.mark.parametrize(
    ("size", "said_in", "shared"), [(40, 5, True), (40, 4, False), (800, 8, True), (800, 7, False)]
)
def test_that_a_value_is_shared_from_five_dialogues_and_one_percent_on(size: int, said_in: int, shared: bool) -> None:
    assert ("555-0199" in shared_values(corpus(size, said_in))) is shared


def test_that_what_a_user_said_first_is_never_shared() -> None:
    dialogues = [talk(str(n), (U, "it is 555-0142"), (S, "We ring 555-0142.")) for n in range(20)]
    assert shared_values(dialogues) == ()


def test_that_cards_and_secrets_are_never_shared() -> None:
    dialogues = [talk(str(n), (S, "The pin is 4431, the card 4111 1111 1111 1111.")) for n in range(20)]
    assert shared_values(dialogues) == ()


def test_that_the_shops_own_values_stay_when_kept() -> None:
    reply = "We are at 12 Harbour Row, Wexbury, on 555-0199, or write to shop@mail.example."
    dialogues = [talk(str(n), (U, f"I'm on 555-01{n:02}"), (S, reply)) for n in range(20)]
    keep = shared_values(iter(dialogues))
    assert set(keep) == {"12 Harbour Row, Wexbury", "555-0199", "shop@mail.example"}
    clean = redact(dialogues[3], keep=keep)
    assert [u.text for u in clean.utterances] == ["I'm on <phone>", reply]


def test_that_no_dialogue_has_nothing_to_share() -> None:
    assert shared_values([]) == ()


def test_that_frequent_values_outlast_the_forgetting_of_rare_ones() -> None:
    def many() -> Iterator[Dialogue]:
        for number in range(10_001):
            yield talk(
                str(number), (S, "Ring 555-0199." if number % 50 == 0 else f"Ring 555-33{number % 10_000:04}-1.")
            )

    assert shared_values(many()) == ("555-0199",)
