"""Tags that transcripts carry already."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from dialoom.corpora import open_corpus
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.tagging.annotations import AnnotationTagger
from dialoom.tagging.base import Tagger


def tags(role: Role, **annotations: object) -> tuple[str, ...]:
    utterance = Utterance(role, "text", action="gold_label", annotations=annotations)
    return AnnotationTagger().tag(Dialogue("d", (utterance,))).utterances[0].tags


def test_that_acts_and_intents_become_words() -> None:
    assert tags(Role.USER, acts=["Restaurant-Inform", "bookRoom"], intents=["find_hotel", "bookRoom"]) == (
        "restaurant inform",
        "book room",
        "find hotel",
    )


def test_that_tools_are_tagged_by_name_and_outcome() -> None:
    assert tags(Role.TOOL, tool="FindRestaurants", outcome="3 results", acts=["ignored"]) == (
        "findrestaurants: <number> results",
    )
    assert tags(Role.TOOL, tool="search", kind="call") == ("call search",)


def test_that_acts_of_readers_become_domain_act_and_slot_without_values() -> None:
    acts = [{"act": "inform", "domain": "hotel", "slot": "area", "value": "east"}, {"act": "thank", "domain": ""}]
    assert tags(Role.USER, acts=acts) == ("hotel inform area", "thank")


@pytest.mark.data
@pytest.mark.parametrize("name", ["sgd/sgd-dev.zip", "multiwoz/val.json.zip"])
def test_that_annotated_corpora_give_few_and_readable_tags(data: Path, name: str) -> None:
    dialogues = list(islice(open_corpus(data / name), 50))
    said = [tag for dialogue in AnnotationTagger().tag_all(dialogues) for u in dialogue.utterances for tag in u.tags]
    assert said.count("other") < 0.1 * len(said)
    assert len(set(said)) < 0.25 * len(said)
    assert not [tag for tag in said if "{" in tag or len(tag) > 60]


def test_that_nothing_known_is_other_and_gold_actions_are_never_read() -> None:
    assert tags(Role.SYSTEM) == ("other",)
    assert tags(Role.USER, acts=[], intents=None) == ("other",)
    assert tags(Role.TOOL) == ("text",)


def test_that_it_is_a_tagger_that_streams_in_order() -> None:
    tagger = AnnotationTagger(keys=("moves",))
    assert isinstance(tagger, Tagger)
    dialogues = [Dialogue(str(i), (Utterance(Role.USER, "x", annotations={"moves": [f"m{i}"]}),)) for i in range(3)]
    assert [dialogue.utterances[0].tags for dialogue in tagger.tag_all(dialogues)] == [(f"m{i}",) for i in range(3)]
