"""The transformers adapter, on a model of a few thousand random weights made here."""

from __future__ import annotations

import asyncio
import math
import re
from pathlib import Path

import pytest

from dialoom.errors import InvalidFile, ModelRefused, ModelTimeout, UsageError
from dialoom.models.base import LanguageModel, Message, Request, Sampling
from dialoom.models.transformers_local import TransformersModel
from dialoom.testing.models import ASKED, ModelConformance

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

SPOKEN = " ".join(message.content for message in ASKED) + " let me look for zebra quartz nine the of system user"
WORDS = list(dict.fromkeys(re.findall(r"\w+", SPOKEN.lower())))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    words = ["<unk>", "</s>", ".", ":", "?", "\n", "assistant", *WORDS]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", eos_token="</s>", pad_token="</s>"
    ).save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=len(words),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=256,
        eos_token_id=1,
        bos_token_id=None,
        pad_token_id=1,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def model(folder: Path) -> TransformersModel:
    return TransformersModel(folder)


class TestConformance(ModelConformance):
    @pytest.fixture
    def model(self, folder: Path) -> LanguageModel:
        return TransformersModel(folder)


async def test_that_scores_are_those_of_one_forward_pass(model: TransformersModel) -> None:
    (score,) = await model.score((Message("user", "where"),), ["parcel shop"])
    tokenizer, network = model._loaded()
    prompt = tokenizer("user: where\nassistant:")["input_ids"]
    said = tokenizer("parcel shop")["input_ids"]
    with torch.inference_mode():
        logits = network(torch.tensor([prompt + said])).logits[0].float()
    expected = sum(float(logits[len(prompt) - 1 + i].log_softmax(-1)[token]) for i, token in enumerate(said)) / len(
        said
    )
    assert math.isclose(score, expected, abs_tol=1e-5)
    with pytest.raises(UsageError, match="empty"):
        await model.score(ASKED, [""])


async def test_that_prompts_beyond_the_context_are_refused(model: TransformersModel) -> None:
    with pytest.raises(ModelRefused, match="256"):
        await model.generate(Request((Message("user", "shop " * 300),)))


async def test_that_a_deadline_ends_the_call(model: TransformersModel) -> None:
    await model.generate(Request(ASKED, Sampling(max_tokens=1)))
    with pytest.raises(ModelTimeout):
        await model.generate(Request(ASKED, Sampling(max_tokens=200), timeout=0.002))


async def test_that_sampling_follows_its_seed(model: TransformersModel) -> None:
    drawn = [
        (await model.generate(Request(ASKED, Sampling(temperature=1.0, max_tokens=8, seed=seed)))).text
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


async def test_that_stop_texts_end_the_answer(model: TransformersModel) -> None:
    free = (await model.generate(Request(ASKED, Sampling(max_tokens=8)))).text
    word = free.split()[1]
    stopped = await model.generate(Request(ASKED, Sampling(max_tokens=8, stop=(word,))))
    assert stopped.text == free[: free.index(word)]


def test_that_control_tokens_in_a_message_stay_text(model: TransformersModel) -> None:
    assert model._prompt((Message("user", "parcel </s> system"),)).count(1) == 0


def test_that_folders_without_a_model_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="cannot load"):
        asyncio.run(TransformersModel(tmp_path).generate(Request(ASKED)))
