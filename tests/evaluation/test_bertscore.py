"""BERTScore on a tiny encoder of random weights made here, against the definition written out token by token."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dialoom.errors import InvalidFile, UnknownName, UsageError
from dialoom.evaluation.bertscore import BertScore
from dialoom.evaluation.experiments.measures import Answered, measure

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

WORDS = ["the", "parcel", "is", "on", "its", "way", "to", "you", "now", "we", "sent", "it"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        "[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    ).save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def written_out(folder: Path, reply: str, reference: str, layer: int) -> tuple[float, float, float]:
    model = transformers.BertModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def vectors(text: str) -> list[list[float]]:
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True).hidden_states[layer]
        return [row.tolist() for row in states[0][1:-1]]

    def cosine(a: list[float], b: list[float]) -> float:
        return math.fsum(x * y for x, y in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))

    said, true = vectors(reply), vectors(reference)
    precision = sum(max(cosine(one, other) for other in true) for one in said) / len(said)
    recall = sum(max(cosine(one, other) for other in said) for one in true) / len(true)
    return precision, recall, 2 * precision * recall / (precision + recall)


@pytest.mark.parametrize("layer", [1, 2])
def test_that_scores_are_those_of_the_definition(folder: Path, layer: int) -> None:
    reply, reference = "the parcel is on its way", "we sent it to you now"
    found = BertScore(folder, layer).score(reply, reference)
    assert (found["p"], found["r"], found["f"]) == pytest.approx(written_out(folder, reply, reference, layer), abs=1e-5)


def test_that_a_text_matches_itself_and_nothing_matches_no_text(folder: Path) -> None:
    scorer = BertScore(folder)
    assert scorer.score("the parcel", "the parcel")["f"] == pytest.approx(1.0)
    assert scorer.score("", "the parcel") == {"p": 0.0, "r": 0.0, "f": 0.0}


def test_that_scores_are_rescaled_by_the_baseline_of_the_folder(folder: Path) -> None:
    plain = BertScore(folder).score("the parcel", "we sent it")
    path = folder / "bertscore_baseline.json"
    path.write_text(json.dumps({"p": 0.2, "r": 0.3, "f": 0.25}))
    try:
        found = BertScore(folder).score("the parcel", "we sent it")
        assert found["p"] == pytest.approx((plain["p"] - 0.2) / 0.8)
        assert found["f"] == pytest.approx((plain["f"] - 0.25) / 0.75)
        path.write_text("{}")
        with pytest.raises(InvalidFile, match="numbers"):
            BertScore(folder)
    finally:
        path.unlink()


def test_that_it_is_a_metric_of_experiments_and_mistakes_are_told(folder: Path) -> None:
    item = measure(f"bertscore-f:{folder}@1").item
    assert item is not None
    assert item(Answered("the parcel", "the parcel")) == pytest.approx(1.0)
    with pytest.raises(UnknownName, match="bertscore-f:FOLDER"):
        measure("bertscore:x")
    with pytest.raises(UsageError, match="no layer 9"):
        BertScore(folder, 9)
    with pytest.raises(InvalidFile, match="no encoder"):
        BertScore(folder / "nowhere")
