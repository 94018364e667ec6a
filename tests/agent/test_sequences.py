from __future__ import annotations

from dialoom.agent.sequences import candidates, to_sequence, without_tools
from dialoom.automata import PredictiveRouter, Round, learn_predictive
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.examples import AutomatonSelector, TurnIndex
from dialoom.tagging import EmbeddedTagger
from dialoom.testing.workflows import dialogues


def test_that_rounds_are_utterances_and_tool_words_stay_out() -> None:
    said = Dialogue(
        "a", (Utterance(Role.USER, "Hi, hi 12", ("greet",)), Utterance(Role.TOOL, "secret rows", ("rooms: found",)))
    )
    assert to_sequence(said).rounds == (
        Round("user", ("greet",), ("hi", "<number>")),
        Round("tool", ("rooms: found",), ()),
    )
    assert [u.role for u in without_tools(said).utterances] == [Role.USER]


def test_that_an_automaton_selector_imitates_the_workflow() -> None:
    tagger = EmbeddedTagger.fit(dialogues(80))
    corpus = list(tagger.tag_all(dialogues(80)))
    router = PredictiveRouter(learn_predictive(map(to_sequence, corpus)))
    selector = AutomatonSelector(TurnIndex.build(corpus), candidates(router))
    unseen = tagger.tag(dialogues(1, seed=5)[0])
    for place, utterance in enumerate(unseen.utterances):
        if utterance.role is Role.SYSTEM:
            shown = selector.select(Dialogue("now", unseen.utterances[:place]), 1)[0]
            assert shown.dialogue.utterances[shown.reply].action == utterance.action
