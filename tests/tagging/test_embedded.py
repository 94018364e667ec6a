from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import pytest

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidFile, NothingToLearn, UsageError
from dialoom.tagging import EmbeddedTagger, Tagger, TaggerSettings
from dialoom.testing.workflows import dialogues

CORPUS = dialogues(80)


@pytest.fixture(scope="module")
def tagger() -> EmbeddedTagger:
    return EmbeddedTagger.fit(CORPUS)


def test_that_system_tags_follow_what_is_done_without_being_told(tagger: EmbeddedTagger) -> None:
    actions: dict[str, Counter[str | None]] = defaultdict(Counter)
    for dialogue in tagger.tag_all(CORPUS):
        for utterance in dialogue.utterances:
            if utterance.role is Role.SYSTEM:
                actions[utterance.tags[0]][utterance.action] += 1
    total = sum(count.total() for count in actions.values())
    pure = sum(max(count.values()) for count in actions.values())
    assert pure / total > 0.95
    assert len(actions) <= 16


def test_that_every_utterance_gets_readable_tags_and_nothing_else_changes(tagger: EmbeddedTagger) -> None:
    assert isinstance(tagger, Tagger)
    for before, after in zip(CORPUS, tagger.tag_all(CORPUS), strict=True):
        assert replace(after, utterances=tuple(u.tagged(()) for u in after.utterances)) == before
        for utterance in after.utterances:
            assert utterance.tags
            assert all(tag == tag.lower().strip() and tag for tag in utterance.tags)
            if utterance.role is not Role.TOOL:
                assert all(len(tag.split()) <= 4 for tag in utterance.tags)


def test_that_tag_names_are_unique(tagger: EmbeddedTagger) -> None:
    for role in tagger.roles:
        names = tagger.vocabulary(role)
        assert len(set(names)) == len(names)


def test_that_values_do_not_change_a_tag(tagger: EmbeddedTagger) -> None:
    def offer(text: str) -> tuple[str, ...]:
        return tagger.tags_of(Utterance(Role.SYSTEM, text))

    assert offer("There is a room free, Zoltan, for 1,234 dollars. Shall I book it?") == offer(
        "There is a room free, Ada, for 10 dollars. Shall I book it?"
    )


def test_that_tools_are_tagged_by_name_and_outcome(tagger: EmbeddedTagger) -> None:
    call = Utterance(Role.TOOL, "", annotations={"tool": "Rooms", "kind": "call"})
    result = Utterance(Role.TOOL, "", annotations={"tool": "Rooms", "kind": "result", "outcome": "Found 3 rooms"})
    assert tagger.tags_of(call) == ("call rooms",)
    assert tagger.tags_of(result) == ("rooms: found <number> rooms",)
    assert tagger.tags_of(Utterance(Role.TOOL, "")) == ("tool",)


@pytest.mark.parametrize("text", ["", "...!", "qwertzuiop asdfgh", "\ud800", "🙂"])
def test_that_strange_text_is_other(tagger: EmbeddedTagger, text: str) -> None:
    assert tagger.tags_of(Utterance(Role.USER, text)) == ("other",)


def test_that_labels_order_and_hash_seed_do_not_matter(tagger: EmbeddedTagger) -> None:
    shuffled = [
        Dialogue(d.id, tuple(replace(u, action=None, tags=("x",)) for u in d.utterances)) for d in dialogues(80)
    ]
    random.Random(1).shuffle(shuffled)
    assert EmbeddedTagger.fit(shuffled).to_parts() == tagger.to_parts()
    program = (
        "import hashlib; from dialoom.tagging import EmbeddedTagger; from dialoom.testing.workflows import dialogues;"
        "parts = EmbeddedTagger.fit(dialogues(80)).to_parts();"
        "print(hashlib.sha256(b''.join(parts[k] for k in sorted(parts))).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


def test_that_a_loaded_tagger_gives_the_same_tags(tagger: EmbeddedTagger) -> None:
    parts = tagger.to_parts()
    loaded = EmbeddedTagger.from_parts(parts)
    assert list(loaded.tag_all(CORPUS)) == list(tagger.tag_all(CORPUS))
    assert loaded.to_parts() == parts


def test_that_broken_parts_are_said(tagger: EmbeddedTagger) -> None:
    parts = tagger.to_parts()
    for broken in ({"tagger.json": b'{"roles": ["ghost"]}'}, {"system_tags.json": b"{}"}, {"user_terms.json": b"[1]"}):
        with pytest.raises(InvalidFile):
            EmbeddedTagger.from_parts({**parts, **broken})


def test_that_several_tags_are_given_when_asked_for() -> None:
    several = EmbeddedTagger.fit(CORPUS, TaggerSettings(per_utterance=3))
    found = [u.tags for d in several.tag_all(CORPUS) for u in d.utterances]
    assert any(len(tags) > 1 for tags in found)
    assert all(len(tags) <= 3 == len(set(tags)) + (3 - len(tags)) for tags in found)


def test_that_a_distilled_tagger_gives_the_tags_it_was_taught() -> None:
    taught = [
        replace(d, utterances=tuple(u.tagged((u.action,) if u.action else ()) for u in d.utterances)) for d in CORPUS
    ]
    student = EmbeddedTagger.distil(taught)
    unseen = [u for d in dialogues(40, seed=9) for u in d.utterances if u.action]
    right = sum(student.tags_of(u) == (u.action,) for u in unseen)
    assert right / len(unseen) > 0.98


def test_that_there_must_be_words_and_sensible_settings() -> None:
    with pytest.raises(NothingToLearn):
        EmbeddedTagger.fit([Dialogue("a", (Utterance(Role.USER, "..."),))])
    with pytest.raises(NothingToLearn):
        EmbeddedTagger.distil(CORPUS)
    with pytest.raises(UsageError):
        TaggerSettings(system_tags=0)
    with pytest.raises(UsageError):
        TaggerSettings(floor=1.0)


def test_that_a_single_dialogue_is_enough() -> None:
    tagged = EmbeddedTagger.fit(CORPUS[:1]).tag(CORPUS[0])
    assert all(utterance.tags for utterance in tagged.utterances)


@pytest.mark.data
def test_that_star_replies_of_one_kind_share_a_tag(data: Path) -> None:
    from dialoom.corpora import open_corpus

    corpus = [d for _, d in zip(range(400), open_corpus([str(data / "star" / "star-dev.zip")]), strict=False)]
    tagged = list(EmbeddedTagger.fit(corpus).tag_all(corpus))
    actions: dict[str, Counter[str]] = defaultdict(Counter)
    for utterance in (u for d in tagged for u in d.utterances):
        if utterance.role is Role.SYSTEM and utterance.action:
            actions[utterance.tags[0]][utterance.action] += 1
    assert sum(max(c.values()) for c in actions.values()) / sum(c.total() for c in actions.values()) > 0.85
