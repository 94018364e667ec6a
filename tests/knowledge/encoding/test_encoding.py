from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
pytest.importorskip("transformers", reason="the extra 'train' is not installed")

from dialoom.errors import NothingToLearn, UsageError  # noqa: E402
from dialoom.knowledge.base import Evidence, Passage  # noqa: E402
from dialoom.knowledge.encoding.biencoder import BiEncoder  # noqa: E402
from dialoom.knowledge.encoding.crossencoder import CrossEncoder  # noqa: E402
from dialoom.knowledge.encoding.pairs import FitSettings, Pair, consistency_pairs, retrieval_pairs  # noqa: E402

from ..doubles import asking, toy_turns  # noqa: E402

THINGS = ["chess", "tea", "boats", "cats", "bread", "snow"]
ASKED = ["do you like {}", "tell me of {}", "what about {}"]


def pairs() -> list[Pair]:
    return [
        Pair(how.format(thing), f"facts on {thing}", f"facts on {THINGS[(i + k + 1) % 6]}")
        for i, thing in enumerate(THINGS)
        for k, how in enumerate(ASKED)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny randomly initialised BERT and a tokenizer of whole words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "do",
        "you",
        "like",
        "tell",
        "me",
        "of",
        "what",
        "about",
        "facts",
        "on",
    ]
    vocabulary = {word: i for i, word in enumerate([*words, *THINGS])}
    model = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    model.pre_tokenizer = Whitespace()
    model.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=model, unk_token="[UNK]", pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]"
    )
    config = BertConfig(
        vocab_size=len(vocabulary), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=64, hidden_dropout_prob=0.0,
        initializer_range=0.3, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("bert")
    BertModel(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


async def test_that_a_bi_encoder_learns_which_evidence_belongs(folder: Path, tmp_path: Path) -> None:
    encoder = BiEncoder.load(folder)
    losses = encoder.fit(pairs(), FitSettings(epochs=15, batch=6, rate=1e-3))
    assert np.mean(losses[-3:]) < 0.5 * np.mean(losses[:3])
    encoder.save(tmp_path)
    again = BiEncoder.load(tmp_path)
    evidence = [Evidence("A", Passage(thing, f"facts on {thing}"), 1.0) for thing in THINGS]
    for thing in THINGS:
        scores = await again.relevance(asking(f"do you like {thing}"), evidence)
        assert scores.index(max(scores)) == THINGS.index(thing)


def test_that_a_bi_encoder_is_an_encoder(folder: Path) -> None:
    encoder = BiEncoder.load(folder)
    vectors = encoder.encode(["facts on tea", "", "do you like chess"])
    assert vectors.shape == (3, encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 0, 1], abs=1e-5)
    assert np.allclose(encoder.encode(["facts on tea"])[0], vectors[0], atol=1e-5)


async def test_that_a_cross_encoder_learns_to_tell_consistent_from_not(folder: Path, tmp_path: Path) -> None:
    scorer = CrossEncoder.load(folder)
    scorer.fit(pairs(), FitSettings(epochs=150, batch=18, rate=1e-3))
    scorer.save(tmp_path)
    again = CrossEncoder.load(tmp_path)
    right = []
    for pair in pairs():
        yes, no = await again.consistency(pair.anchor, [pair.positive, pair.negative])
        right.append(yes > 0.5 > no)
    assert np.mean(right) > 0.9
    evidence = [Evidence("A", Passage("x", "facts on tea"), 1.0)]
    (score,) = await again.relevance(asking("do you like tea"), evidence)
    assert score in [i / 10 for i in range(11)]


def test_that_pairs_hold_used_and_unused_evidence() -> None:
    turns = toy_turns(5)
    texts = {p.text for turn in turns for pool in turn.pools.values() for p in pool}
    for found in (retrieval_pairs(turns), consistency_pairs(turns)):
        assert found
        assert all(pair.positive != pair.negative and {pair.positive, pair.negative} <= texts for pair in found)
    replies = {turn.reply for turn in turns}
    assert all(pair.anchor in replies for pair in consistency_pairs(turns))
    with pytest.raises(NothingToLearn):
        retrieval_pairs([turn for turn in turns if not turn.plan])


def test_that_a_missing_folder_is_the_callers_mistake(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        BiEncoder.load(tmp_path / "none")
