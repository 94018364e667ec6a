from __future__ import annotations

from pathlib import Path

import pytest

from dialoom.agent.strategies import STRATEGIES, Library, Prompting, Strategy, open_strategy
from dialoom.agent.trace import Recorder
from dialoom.dialogue import Dialogue
from dialoom.errors import NothingToLearn, UnknownName, UsageError
from dialoom.examples.prompt import Speakers
from dialoom.models.scripted import ScriptedModel

from .conftest import said


@pytest.fixture(scope="module")
def library(corpus: tuple[Dialogue, ...]) -> Library:
    return Library(corpus)


def prompt_of(model: ScriptedModel) -> str:
    return "\n".join(message.content for message in model.requests[-1].messages)


async def asked(name: str, library: Library) -> tuple[str, ScriptedModel]:
    model = ScriptedModel(["Agent: Your parcel is on its way."])
    agent = open_strategy(STRATEGIES[name], library, model, Prompting(Speakers("Customer", "Agent"), budget=9000))
    return (await agent.answer(said("where is my parcel?"), Recorder())).text, model


async def test_that_retrieval_alone_answers_with_the_samples_last_utterance(library: Library) -> None:
    agent = open_strategy(STRATEGIES["s-icl-search"], library)
    (example,) = agent.examples(said("where is my parcel?"))
    assert example.reply == len(example.dialogue) - 1
    assert (await agent.answer(said("where is my parcel?"), Recorder())).text == example.reply_text


@pytest.mark.parametrize(
    ("name", "samples"),
    [("s-icl-zero-shot", 0), ("s-icl-fixed-sample", 1), ("s-icl-three-samples", 3), ("s-icl-one-sample", 1)],
)
async def test_that_each_approach_shows_its_number_of_samples(name: str, samples: int, library: Library) -> None:
    text, model = await asked(name, library)
    assert text == "Your parcel is on its way."
    assert prompt_of(model).count("</sample") == samples
    assert model.requests[-1].sampling.temperature == 0


async def test_that_dfa_rag_shows_whole_dialogues_of_the_state(library: Library) -> None:
    _, model = await asked("dfa-rag", library)
    assert 1 <= prompt_of(model).count("</example>") <= 5


async def test_that_the_fixed_sample_is_the_named_one_for_every_inquiry(library: Library) -> None:
    model = ScriptedModel(["ok"])
    name = library.dialogues[3].id
    agent = open_strategy(STRATEGIES["s-icl-fixed-sample"], library, model, sample=name)
    shown = {agent.examples(said(text))[0].dialogue.id for text in ("where is it?", "I want a refund")}
    assert shown == {name}


def test_that_without_a_name_the_fixed_sample_is_the_most_typical_one(library: Library) -> None:
    assert library.sample() == library.sample()
    assert library.sample().dialogue.id in {dialogue.id for dialogue in library.dialogues}


def test_that_a_turn_of_the_fixed_sample_can_be_named(library: Library) -> None:
    id_ = library.dialogues[0].id
    assert library.sample(f"{id_}#1").reply == 1
    with pytest.raises(UsageError, match=f"{id_}#1"):
        library.sample(f"{id_}#0")
    with pytest.raises(UnknownName, match="training dialogue"):
        library.sample("nowhere")


async def test_that_a_strategy_of_ones_own_is_a_template_and_a_few_lines(library: Library, tmp_path: Path) -> None:
    (tmp_path / "brief.j2").write_text("One sentence. {{ samples | length }} samples. {{ conversation[-1].text }}")
    model = ScriptedModel(["Sure."])
    agent = open_strategy(Strategy("brief", 2, "bm25"), library, model, Prompting(folder=tmp_path))
    assert (await agent.answer(said("where is my parcel?"), Recorder())).text == "Sure."
    assert prompt_of(model) == "One sentence. 2 samples. where is my parcel?"


def test_that_mistakes_are_told(library: Library) -> None:
    with pytest.raises(UsageError, match="needs a model"):
        open_strategy(STRATEGIES["s-icl-one-sample"], library)
    with pytest.raises(UsageError, match="fixed sample"):
        open_strategy(STRATEGIES["s-icl-search"], library, sample="x")
    with pytest.raises(UnknownName, match="bm25"):
        open_strategy(Strategy(None, 1, "bm52"), library)
    with pytest.raises(NothingToLearn):
        open_strategy(STRATEGIES["s-icl-search"], Library([Dialogue("empty", ())]))
