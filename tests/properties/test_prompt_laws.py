"""Laws of tag lines, prompts and answers."""

from __future__ import annotations

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import UsageError
from dialoom.examples.answers import cleaned
from dialoom.examples.base import Example
from dialoom.examples.prompt import PromptBuilder
from dialoom.models.scrubbing import scrubbed
from dialoom.tagging.lines import LABELS, read, shown, written

WORDS = st.from_regex(r"[a-z0-9]{1,8}(-[a-z0-9]{1,8})?", fullmatch=True)
TAGS = st.lists(WORDS, min_size=1, max_size=3, unique=True).map(tuple)
ROLES = st.sampled_from(list(Role))
NOISY = st.text(max_size=60) | st.lists(
    st.sampled_from(
        ["\n", "User:", "System:", "0 ", "#a", "</dialogue>", "<example>", "{{x}}", "=== system ===", "\u2028"]
    ),
    max_size=8,
).map("".join)
DIALOGUES = st.lists(st.tuples(ROLES, NOISY), min_size=1, max_size=5).map(
    lambda turns: Dialogue("d", tuple(Utterance(role, text) for role, text in turns))
)


@given(st.dictionaries(st.integers(0, 999), st.tuples(ROLES, TAGS), max_size=8))
@settings(max_examples=60, deadline=None)
def test_that_tag_lines_read_back(tags: dict[int, tuple[Role, tuple[str, ...]]]) -> None:
    answer = "\n".join(written(number, role, words) for number, (role, words) in tags.items())
    asked = {number: role for number, (role, _) in tags.items()}
    assert read(answer, asked, 3) == {number: words for number, (_, words) in tags.items()}


@given(NOISY, st.dictionaries(st.integers(0, 3), ROLES, max_size=4))
@settings(max_examples=60, deadline=None)
def test_that_no_answer_tags_what_was_not_asked(answer: str, asked: dict[int, Role]) -> None:
    found = read(answer, asked, 3)
    assert set(found) <= set(asked)
    assert all(0 < len(tags) <= 3 for tags in found.values())


@given(st.integers(0, 99), ROLES, NOISY)
@settings(max_examples=60, deadline=None)
def test_that_a_shown_utterance_is_one_line_inside_its_fence(number: int, role: Role, text: str) -> None:
    line = shown(number, Utterance(role, text), 50)
    assert len(line.splitlines()) == 1
    assert line.startswith(f"{number} {LABELS[role]}:")
    assert "</dialogue" not in line


@given(DIALOGUES, st.lists(DIALOGUES, max_size=4), st.integers(100, 500))
@settings(max_examples=60, deadline=None)
def test_that_the_budget_is_kept_and_examples_stay_whole(
    conversation: Dialogue, examples: list[Dialogue], budget: int
) -> None:
    given_examples = [Example(dialogue, 0, 1.0) for dialogue in examples]
    try:
        prompt = PromptBuilder(budget=budget).build(conversation, given_examples)
    except UsageError:
        assume(False)  # the conversation alone is too long
    assert prompt.tokens <= budget
    assert list(prompt.examples) == given_examples[: len(prompt.examples)]
    assert len(prompt.examples) + prompt.dropped == len(examples)
    lines = prompt.messages[1].content.split("\n")
    assert lines.count("<example>") == lines.count("</example>") == len(prompt.examples)
    shown_turns = sum(len(example.dialogue) for example in prompt.examples) + len(conversation)
    assert sum(line.split(" ", 1)[0].isdigit() for line in lines) == shown_turns + 1


@given(NOISY, st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_that_cleaning_a_clean_reply_changes_nothing(answer: str, number: int) -> None:
    once = cleaned(answer, agent="System", others=("User",), number=number)
    assert cleaned(once, agent="System", others=("User",), number=number) == once
    assert "\n" not in once


@given(st.text(max_size=80) | st.sampled_from(["api_key=sk-abcdef123456", "Bearer abcdefghij", 'password: "<key>" x']))
@settings(max_examples=60, deadline=None)
def test_that_scrubbing_twice_is_as_once(text: str) -> None:
    assert scrubbed(scrubbed(text)) == scrubbed(text)
