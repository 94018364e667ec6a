"""Consistency by a classifier of text pairs, tiny and of random weights."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from dialoom.errors import UsageError
from dialoom.evaluation.entailment import Entailment
from dialoom.evaluation.experiments.gold import Gold
from dialoom.evaluation.experiments.measures import Answered, measure

from .conftest import WORDS, word_tokenizer

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def saved(folder: Path, labels: list[str]) -> Path:
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    names = ["input_ids", "token_type_ids", "attention_mask"]
    tokenizer = word_tokenizer(words, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", model_input_names=names)
    tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
        initializer_range=0.5,
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def logits(folder: Path, evidence: str, reply: str) -> list[float]:
    model = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    number = {word: place for place, word in enumerate(("[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS))}
    first, second = ["[CLS]", *evidence.split(), "[SEP]"], [*reply.split(), "[SEP]"]
    ids = torch.tensor([[number[word] for word in first + second]])
    kinds = torch.tensor([[0] * len(first) + [1] * len(second)])
    with torch.no_grad():
        found: list[float] = model(input_ids=ids, token_type_ids=kinds).logits[0].tolist()
    return found


@pytest.mark.parametrize(
    ("labels", "which"), [(["contradiction", "Entailment", "neutral"], 1), (["inconsistent", "consistent"], 1)]
)
def test_that_it_is_the_softmax_of_the_right_label(labels: list[str], which: int, tmp_path: Path) -> None:
    folder = saved(tmp_path, labels)
    found = [math.exp(logit) for logit in logits(folder, "the parcel is sent", "it is on its way")]
    score = Entailment(folder).probability("the parcel is sent", "it is on its way")
    assert score == pytest.approx(found[which] / sum(found), abs=1e-5)


def test_that_labels_without_entailment_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a, b, c"):
        Entailment(saved(tmp_path, ["a", "b", "c"]))


def test_that_the_best_agreeing_passage_counts(tmp_path: Path) -> None:
    folder = saved(tmp_path, ["no", "entailment"])
    item = measure(f"consistency:{folder}").item
    passages = ("the parcel is sent", "hello", "we sent it")
    scorer = Entailment(folder)
    assert item is not None
    assert item(Answered("it is on its way", "", gold=Gold(passages=passages))) == max(
        scorer.probability(passage, "it is on its way") for passage in passages
    )
