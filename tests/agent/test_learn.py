from __future__ import annotations

from pathlib import Path

import pytest

from dialoom import Dialogue, LearnSettings, Model, Role, Utterance, learn, update
from dialoom.agent.settings import parse_settings
from dialoom.errors import InvalidFile, NothingToLearn, UnknownName, UsageError
from dialoom.models.base import Request
from dialoom.models.scripted import ScriptedModel

from .conftest import said


def test_that_learning_does_not_depend_on_the_order_of_dialogues(
    corpus: tuple[Dialogue, ...], model: Model, tmp_path: Path
) -> None:
    model.save(tmp_path / "a")
    learn(reversed(corpus)).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("strategy", ["predictive", "paper"])
def test_that_an_update_equals_learning_from_all_at_once(
    corpus: tuple[Dialogue, ...], strategy: str, tmp_path: Path
) -> None:
    settings = parse_settings({"strategy": strategy})
    update(learn(corpus[:15], settings), corpus[15:]).save(tmp_path / "updated")
    learn(corpus, settings).save(tmp_path / "at_once")
    assert (tmp_path / "updated").read_bytes() == (tmp_path / "at_once").read_bytes()


@pytest.mark.parametrize("which", ["model", "paper_model"])
def test_that_a_loaded_model_answers_like_the_saved_one(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    model: Model = request.getfixturevalue(which)
    model.save(tmp_path / "m.dialoom")
    loaded = Model.load(tmp_path / "m.dialoom")
    assert loaded.automaton == model.automaton
    loaded.save(tmp_path / "again.dialoom")
    assert (tmp_path / "again.dialoom").read_bytes() == (tmp_path / "m.dialoom").read_bytes()


def test_that_every_training_dialogue_passes_through_the_automaton(model: Model, corpus: tuple[Dialogue, ...]) -> None:
    through = {id_ for state in model.automaton.states for id_ in model.automaton.dialogue_ids(state.id)}
    assert through == {dialogue.id for dialogue in corpus}


def test_that_one_sided_dialogues_are_counted_and_left_out(corpus: tuple[Dialogue, ...]) -> None:
    lonely = Dialogue("lonely", (Utterance(Role.USER, "anybody there?"),))
    model = learn([*corpus[:15], lonely], LearnSettings(strategy="paper"))
    assert model.learned["one_sided"] == 1
    assert model.learned["dialogues"] == 15


def test_that_nothing_to_learn_says_what_to_check() -> None:
    with pytest.raises(NothingToLearn, match="--role"):
        learn([Dialogue("lonely", (Utterance(Role.USER, "anybody there?"),))])


def test_that_gold_actions_and_workflow_names_are_never_read(corpus: tuple[Dialogue, ...], tmp_path: Path) -> None:
    def unlabelled(dialogue: Dialogue) -> Dialogue:
        turns = tuple(Utterance(u.role, u.text, annotations=u.annotations) for u in dialogue.utterances)
        return Dialogue(dialogue.id, turns)

    settings = LearnSettings(strategy="paper")
    with_labels, without = learn(corpus, settings), learn(map(unlabelled, corpus), settings)
    assert with_labels.automaton == without.automaton


def test_that_tool_rounds_can_be_left_out(corpus: tuple[Dialogue, ...]) -> None:
    model = learn(corpus, LearnSettings(strategy="paper", tools=False))
    assert model.learned["utterances"]["tool"] == 0


def test_that_a_very_small_corpus_can_be_learned_from() -> None:
    model = learn([said("hello", "hi, how can I help?")])
    assert model.learned["dialogues"] == 1


@pytest.mark.parametrize(
    ("values", "error", "told"),
    [
        ({"taw": "3"}, UnknownName, "tau"),
        ({"tau": "many"}, UsageError, "tau"),
        ({"max_states": "100000"}, UsageError, "400"),
        ({"strategy": "magic"}, UsageError, "predictive"),
    ],
)
def test_that_a_wrong_setting_is_named_with_what_is_valid(
    values: dict[str, str], error: type[UsageError], told: str
) -> None:
    with pytest.raises(error, match=told):
        parse_settings(values)


def test_that_an_unknown_tagger_lists_the_valid_ones(corpus: tuple[Dialogue, ...]) -> None:
    with pytest.raises(UnknownName, match="embedded"):
        learn(corpus, LearnSettings(tagger="magic"))


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 broken"])
def test_that_a_file_that_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "no.dialoom"
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match="not a Dialoom model"):
        Model.load(path)


def test_that_a_model_with_damaged_bytes_is_refused(model: Model, tmp_path: Path) -> None:
    path = tmp_path / "damaged.dialoom"
    model.save(path)
    whole = path.read_bytes()
    for place in range(100, len(whole), len(whole) // 12):
        path.write_bytes(whole[:place] + b"\xff" * 40 + whole[place + 40 :])
        with pytest.raises(InvalidFile, match=r"damaged\.dialoom"):
            Model.load(path)


def test_that_a_missing_model_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="dialoom learn"):
        Model.load(tmp_path / "none.dialoom")


def test_that_tags_of_a_language_model_are_asked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return "\n".join(["0 User: #order", "1 System: #number", "2 User: #thanks", "3 System: #bye"])

    monkeypatch.setattr("dialoom.agent.taggers.open_model", lambda spec: ScriptedModel(answer))
    dialogues = [said("my order?", f"its number, please ({n})", "thanks", "bye", name=f"d{n}") for n in range(4)]
    settings = LearnSettings(tagger="llm:openai:some", strategy="paper", tau=1)
    first = learn(dialogues, settings, tag_cache=tmp_path / "tags.sqlite")
    assert len(asked) == first.learned["asked"]["calls"] == 4
    learn(dialogues, settings, tag_cache=tmp_path / "tags.sqlite")
    assert len(asked) == 4
    assert first.automaton.step(0, "user:order") is not None


def test_that_a_distilled_tagger_needs_no_model_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = "\n".join(["0 User: #order", "1 System: #number", "2 User: #thanks", "3 System: #bye"])
    monkeypatch.setattr("dialoom.agent.taggers.open_model", lambda spec: ScriptedModel([answer] * 8))
    dialogues = [said(f"my order {n}?", "its number, please", "thanks a lot", "bye", name=f"d{n}") for n in range(8)]
    model = learn(dialogues, LearnSettings(tagger="distil:openai:some", strategy="paper", tau=1))
    model.save(tmp_path / "m.dialoom")
    monkeypatch.setattr("dialoom.agent.taggers.open_model", None)
    tagged = Model.load(tmp_path / "m.dialoom").tagger.tag(said("my order?", "its number, please", "thanks"))
    assert [utterance.tags for utterance in tagged.utterances] == [("order",), ("number",), ("thanks",)]
