"""Laws of redaction and refilling: planted values never survive, redaction is idempotent, clean text is unchanged."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.corpora.redaction import PLACEHOLDER, personal_values, redact, refill
from dialoom.corpora.redaction.patterns import luhn
from dialoom.corpora.redaction.words import AMBIGUOUS_NAMES, GIVEN_NAMES, ORDINARY_WORDS
from dialoom.dialogue import Dialogue, Role, Utterance

U, S, T = Role.USER, Role.SYSTEM, Role.TOOL
KNOWN = ORDINARY_WORDS | AMBIGUOUS_NAMES
LETTERS = st.text(string.ascii_lowercase, min_size=4, max_size=9).filter(lambda word: word not in KNOWN)
NAMES = LETTERS.map(str.capitalize) | st.sampled_from(sorted(GIVEN_NAMES - KNOWN)).map(str.capitalize)
DIGITS = st.text(string.digits, min_size=7, max_size=7)
EMAILS = st.builds("{}.{}@{}.example".format, LETTERS, LETTERS, LETTERS)
PHONES = st.builds("+49 30 {}".format, DIGITS) | st.builds("555-{0:.3}-{0:.4}".format, DIGITS)
CARDS = st.text(string.digits, min_size=15, max_size=15).map(
    lambda body: next(f"{body}{last}" for last in range(10) if luhn(f"{body}{last}"))
)
ORDERS = st.builds("{}-{}".format, LETTERS.map(lambda word: word[:2].upper()), DIGITS)
SETTINGS = settings(max_examples=60, deadline=None)


@st.composite
def planted(draw: st.DrawFn) -> tuple[Dialogue, list[str]]:
    """A conversation that names a customer in several of the ways people do, and the values that must not survive."""
    name, surname, agent = draw(st.tuples(NAMES, NAMES, NAMES).filter(lambda names: len(set(names)) == 3))
    email, phone, card, order = draw(EMAILS), draw(PHONES), draw(CARDS), draw(ORDERS)
    opening = draw(
        st.sampled_from(
            [
                (U, f"My name is {name} {surname} and it broke."),
                (S, f"Hi {name} {surname}, how can I help?"),
                (U, f"this is an emergency, my name is {name.lower()} {surname.lower()}"),
            ]
        )
    )
    rest = draw(
        st.permutations(
            [
                (U, f"Write to {email} or ring {phone}."),
                (U, f"Order number {order}, card {card}."),
                (S, f"Thank you, {name}. We will mail {email}. ^{agent[:2].upper()}"),
                (S, f"My name is {agent}. I see {order} for {surname}, {name.upper()}."),
            ]
        )
    )
    turns = (opening, *rest)
    dialogue = Dialogue("d", tuple(Utterance(role, text) for role, text in turns))
    return dialogue, [name, surname, agent, email, phone, card, order]


@SETTINGS
@given(planted())
def test_that_planted_values_never_survive_redaction_and_refilling(case: tuple[Dialogue, list[str]]) -> None:
    dialogue, values = case
    clean = redact(dialogue)
    replies = [refill(utterance.text) for utterance in clean.utterances]
    said = " ".join((*(utterance.text for utterance in clean.utterances), *replies))
    said = PLACEHOLDER.sub(" ", said).lower()
    assert [
        value for value in values if value.lower() in said.split() or value.lower() in said.replace("'s", "").split()
    ] == []
    assert [value for value in values[3:] if value.lower() in said] == []
    assert not any(PLACEHOLDER.search(reply) for reply in replies)


@SETTINGS
@given(planted(), planted())
def test_that_a_refilled_reply_holds_only_the_present_conversations_values(
    past: tuple[Dialogue, list[str]], present: tuple[Dialogue, list[str]]
) -> None:
    values = personal_values(present[0])
    own = {value.lower() for held in values.values() for value in held}
    for utterance in redact(past[0]).utterances:
        reply = refill(utterance.text, values).lower()
        foreign = [value.lower() for value in past[1] if not any(value.lower() in mine for mine in own)]
        words = {word.strip(".,!?'^") for word in reply.replace("'s", "").split()}
        assert not words & set(foreign)


@SETTINGS
@given(planted())
def test_that_redaction_is_idempotent(case: tuple[Dialogue, list[str]]) -> None:
    once = redact(case[0])
    assert redact(once) is once


@SETTINGS
@given(st.lists(st.tuples(st.sampled_from([U, S]), st.text(max_size=60)), max_size=6))
def test_that_redaction_is_idempotent_on_any_text(turns: list[tuple[Role, str]]) -> None:
    once = redact(Dialogue("d", tuple(Utterance(role, text) for role, text in turns)))
    assert redact(once) == once


@SETTINGS
@given(
    st.lists(st.lists(st.sampled_from(sorted(ORDINARY_WORDS - AMBIGUOUS_NAMES - GIVEN_NAMES)), min_size=1), max_size=6)
)
def test_that_ordinary_words_are_unchanged(sentences: list[list[str]]) -> None:
    turns = tuple(Utterance((U, S)[n % 2], " ".join(words).capitalize() + ".") for n, words in enumerate(sentences))
    dialogue = Dialogue("d", turns)
    assert redact(dialogue) is dialogue


@SETTINGS
@given(st.text(max_size=80))
def test_that_refilling_leaves_text_without_placeholders_alone(text: str) -> None:
    assert PLACEHOLDER.search(text) or refill(text) == text
