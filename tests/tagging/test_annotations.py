"""Tags that transcripts carry already."""

from __future__ import annotations

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
        "find restaurants",
        "3 results",
    )
    assert tags(Role.TOOL, tool="search") == ("search",)


def test_that_nothing_known_is_other_and_gold_actions_are_never_read() -> None:
    assert tags(Role.SYSTEM) == ("other",)
    assert tags(Role.USER, acts=[], intents=None) == ("other",)
    assert tags(Role.TOOL) == ("other",)


def test_that_it_is_a_tagger_that_streams_in_order() -> None:
    tagger = AnnotationTagger(keys=("moves",))
    assert isinstance(tagger, Tagger)
    dialogues = [Dialogue(str(i), (Utterance(Role.USER, "x", annotations={"moves": [f"m{i}"]}),)) for i in range(3)]
    assert [dialogue.utterances[0].tags for dialogue in tagger.tag_all(dialogues)] == [(f"m{i}",) for i in range(3)]
