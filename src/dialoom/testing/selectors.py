"""What every example selector must do. Inherit `SelectorConformance`, define `make`, and let pytest collect it."""

from __future__ import annotations

from collections.abc import Sequence

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.examples.base import Example, Selector

_SCRIPTS = (
    ("track-1", "where is my parcel", "What is the order number?", "it is 4411", "It arrives on Friday."),
    ("track-2", "my parcel has not come", "May I have your order number?", "8812", "The van brings it tomorrow."),
    ("refund-1", "I want my money back", "Which item is it about?", "the green kettle", "The refund is on its way."),
    ("refund-2", "refund please", "What do you want to return?", "a lamp", "Done, the money is back in three days."),
    ("login-1", "I cannot log in", "Do you see a message?", "it says locked", "I have unlocked the account."),
    ("login-2", "my password does not work", "Shall I send a reset link?", "yes", "The link is in your inbox."),
    ("hours-1", "when do you open", "At nine on weekdays.", "and on sunday", "We are closed on Sundays."),
    ("greeted-1", "", "Hello, what can I do for you?", "nothing, thanks", "Have a good day."),
)


def conversation(id_: str, *texts: str) -> Dialogue:
    """A dialogue of alternating user and system texts, the user first; empty texts are left out."""
    roles = (Role.USER, Role.SYSTEM)
    said = tuple(Utterance(roles[place % 2], text) for place, text in enumerate(texts) if text)
    return Dialogue(id_, said)


CORPUS: tuple[Dialogue, ...] = tuple(conversation(*script) for script in _SCRIPTS)
"""Eight small dialogues to select from, one of them opened by the system."""

CONTEXTS: tuple[Dialogue, ...] = (
    conversation("now-1", "hello, where is my parcel?"),
    conversation("now-2", "I want a refund", "Which item is it about?", "a kettle"),
    conversation("now-3", "xyzzy plugh"),
    conversation("now-4", "when do you open", "At nine on weekdays.", ""),
    Dialogue("now-5", ()),
    Dialogue("now-6", (Utterance(Role.USER, "where is it"), Utterance(Role.TOOL, "order look-up: found"))),
)
"""Conversations to continue: similar, unlike anything, ended by the system, not begun, ended by a tool."""


class SelectorConformance:
    """The laws of `dialoom.examples.Selector`. `make` gives a new selector over `CORPUS`, the same each time."""

    def make(self) -> Selector:
        """A new selector over `CORPUS`."""
        raise NotImplementedError("define make() in the class that inherits SelectorConformance")

    def test_that_it_is_a_selector(self) -> None:
        """It has the port's methods."""
        assert isinstance(self.make(), Selector)

    def test_that_at_most_n_examples_come(self) -> None:
        """Never more than asked for, and none for 0."""
        selector = self.make()
        for context in CONTEXTS:
            for n in (0, 1, 3, 100):
                assert len(selector.select(context, n)) <= n

    def test_that_every_reply_is_a_system_turn_of_the_corpus(self) -> None:
        """`reply` points at a system turn of a dialogue that is in the corpus as it was."""
        corpus = {dialogue.id: dialogue for dialogue in CORPUS}
        for example in self._all():
            assert example.dialogue == corpus[example.dialogue.id]
            assert example.dialogue.utterances[example.reply].role is Role.SYSTEM

    def test_that_the_best_come_first(self) -> None:
        """Scores never rise along the list."""
        selector = self.make()
        for context in CONTEXTS:
            scores = [example.score for example in selector.select(context, 100)]
            assert scores == sorted(scores, reverse=True)

    def test_that_no_dialogue_comes_twice(self) -> None:
        """Examples of one call are different dialogues."""
        selector = self.make()
        for context in CONTEXTS:
            ids = [example.dialogue.id for example in selector.select(context, 100)]
            assert len(ids) == len(set(ids))

    def test_that_every_choice_has_a_reason(self) -> None:
        """A trace can say why an example was chosen."""
        assert all(example.reason for example in self._all())

    def test_that_selection_is_deterministic(self) -> None:
        """Asked again, in another order, or built again, it selects the same."""
        first, second = self.make(), self.make()
        forward = [_chosen(first.select(context, 3)) for context in CONTEXTS]
        backward = [_chosen(second.select(context, 3)) for context in reversed(CONTEXTS)]
        assert forward == backward[::-1]
        assert forward == [_chosen(first.select(context, 3)) for context in CONTEXTS]

    def _all(self) -> list[Example]:
        selector = self.make()
        return [example for context in CONTEXTS for example in selector.select(context, 100)]


def _chosen(examples: Sequence[Example]) -> list[tuple[str, int, float]]:
    return [(example.dialogue.id, example.reply, example.score) for example in examples]
