"""The bundled transcripts are many, varied and plausible."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations, pairwise

from dialoom.demo import conversations, transcripts
from dialoom.dialogue import Dialogue, Role

DIALOGUES = transcripts()


def words(dialogue: Dialogue) -> list[str]:
    return re.findall(r"\w+", " ".join(u.text.lower() for u in dialogue.utterances if u.role is not Role.TOOL))


def test_that_there_are_enough_of_every_workflow() -> None:
    workflows = Counter(str(dialogue.metadata["workflow"]) for dialogue in DIALOGUES)
    assert len(DIALOGUES) >= 210
    assert len({dialogue.id for dialogue in DIALOGUES}) == len(DIALOGUES)
    assert len(workflows) >= 11
    assert min(workflows.values()) >= 6


def test_that_lengths_vary_as_in_life() -> None:
    lengths = Counter(len(dialogue) for dialogue in DIALOGUES)
    assert min(lengths) >= 6
    assert max(lengths) <= 14
    assert len(lengths) >= 8
    assert max(lengths.values()) < len(DIALOGUES) / 3


def test_that_speakers_take_turns() -> None:
    for dialogue in DIALOGUES:
        roles = [utterance.role for utterance in dialogue.utterances]
        assert roles[0] is Role.USER, dialogue.id
        assert roles[-1] is not Role.TOOL, dialogue.id
        assert all(before is not after or after is Role.TOOL for before, after in pairwise(roles)), dialogue.id
        assert all(utterance.text.strip() == utterance.text != "" for utterance in dialogue.utterances), dialogue.id


def test_that_tool_rounds_say_what_was_called_and_what_came_of_it() -> None:
    tools = [u for dialogue in DIALOGUES for u in dialogue.utterances if u.role is Role.TOOL]
    assert sum(any(u.role is Role.TOOL for u in d.utterances) for d in DIALOGUES) >= len(DIALOGUES) / 2
    for utterance in tools:
        said = utterance.annotations
        assert utterance.text == f"{said['tool']}: {said['outcome']}"
        assert isinstance(said["count"], int)
    assert len({u.annotations["outcome"] for u in tools}) >= 10


def test_that_system_turns_are_labelled_and_said_in_many_ways() -> None:
    turns = [u for dialogue in DIALOGUES for u in dialogue.utterances if u.role is Role.SYSTEM]
    assert all(turn.action and re.fullmatch("[a-z_]+", turn.action) for turn in turns)
    assert all(u.action is None for d in DIALOGUES for u in d.utterances if u.role is not Role.SYSTEM)
    assert len({turn.text for turn in turns}) > 0.9 * len(turns)
    labels = Counter(turn.action for turn in turns)
    assert min(labels.values()) >= 3


def test_that_no_two_dialogues_are_alike() -> None:
    assert len({dialogue.utterances[0].text.lower() for dialogue in DIALOGUES}) == len(DIALOGUES)
    shingles = []
    for dialogue in DIALOGUES:
        said = words(dialogue)
        shingles.append(set(zip(said, said[1:], said[2:], strict=False)))
    assert max(len(a & b) / len(a | b) for a, b in combinations(shingles, 2)) < 0.3


def test_that_agents_share_phrases_so_that_there_is_something_to_learn() -> None:
    asked = [u.text for d in DIALOGUES for u in d.utterances if u.action == "ask_order_number"]
    assert sum("order number" in text.lower() for text in asked) > len(asked) / 2


def test_that_personal_data_is_there_and_is_all_made_up() -> None:
    text = "\n".join(u.text for dialogue in DIALOGUES for u in dialogue.utterances)
    emails = re.findall(r"[\w.+-]+@[\w.-]+\w", text)
    assert len(set(emails)) >= 20
    assert all(re.search(r"(@|\.)example(\.(com|org|net))?$", email) for email in emails)
    phones = re.findall(r"\b\d{3}-\d{4}\b", text)
    assert len(phones) >= 8
    assert all(re.fullmatch(r"555-01\d\d", phone) for phone in phones)
    assert len(set(re.findall(r"\bQF-\d{5}\b", text))) >= 80


def test_that_the_scripted_conversations_are_new_to_the_transcripts() -> None:
    played = conversations()
    said = {u.text.lower() for dialogue in DIALOGUES for u in dialogue.utterances}
    assert len(played) == 2
    for lines in played.values():
        assert len(lines) >= 4
        assert lines[0].lower() not in said
