"""The real tokenizer and cache, with random weights: small, offline, exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dialoom.dataflow import Constant
from dialoom.generation.decoding import PROMPT, beam, chain, score_trie
from dialoom.generation.grammar import Grammar, Pair, Production
from dialoom.generation.recogniser import Recogniser
from dialoom.generation.speaking import Decoding, speak
from dialoom.generation.transformers_model import TransformersTokenModel

pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

CORPUS = [
    "I found an event with Tara Smith today .",
    "You meet Tara tomorrow and Bob .",
    "The first is lunch at noon .",
]


@pytest.fixture(scope="module")
def model() -> TransformersTokenModel:
    import torch

    torch.manual_seed(0)
    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    special = ["<|im_end|>", "<|im_start|>"]
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    raw.train_from_iterator(CORPUS * 4, trainer)
    tokenizer: Any = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>")
    tokenizer.chat_template = "<|im_start|>{{ messages[0]['content'] }}<|im_end|>"
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=512,
        eos_token_id=tokenizer.eos_token_id,
    )
    return TransformersTokenModel(transformers.LlamaForCausalLM(config), tokenizer)


@pytest.fixture
def grammar() -> Grammar:
    pairs = tuple(Pair(f"N{i}", Constant(i), i) for i in range(2))
    names = ["Tara", "Tara Smith", "x<|im_end|>y", 'a "b" \\', "שלום 🎉"]
    sides = [("I found an event with ", 1, "."), ("You meet ", 1, " and ", 1, ".")]
    return Grammar(0, pairs, (*(Production(0, side) for side in sides), *(Production(1, (name,)) for name in names)))


def test_that_a_tree_scores_as_separate_texts_do(model: TransformersTokenModel) -> None:
    texts = ["Tara Smith today", "Tara Smith tomorrow", "Bob", "Tara"]
    candidates = [model.encode(text) for text in texts]
    together = score_trie(model.session("Who?"), model.ends, candidates)
    apart = [score_trie(model.session("Who?"), model.ends, [candidate])[0] for candidate in candidates]
    assert [item.total for item in together] == pytest.approx([item.total for item in apart], abs=1e-4)


def test_that_branches_added_step_by_step_do_not_see_each_other(model: TransformersTokenModel) -> None:
    one, two = model.session("Who?"), model.session("Who?")
    a, b, c = model.encode("abc")[:3] if len(model.encode("abc")) >= 3 else (5, 6, 7)
    one.extend([a, b], [PROMPT, PROMPT])
    branched = one.extend([c], [0])
    straight = two.extend([a, c], [PROMPT, 0])
    assert np.allclose(branched[0], straight[1], atol=1e-4)


@pytest.mark.parametrize("mode", ["greedy", "sample", "beam", "ranked"])
def test_that_every_mode_is_true_with_real_tokens(model: TransformersTokenModel, grammar: Grammar, mode: Any) -> None:
    recogniser = Recogniser(grammar)
    for seed in range(5):
        reply = speak(grammar, model, "Who?<|im_end|>", Decoding(mode, seed=seed, temperature=2.0))
        assert recogniser.accepts(reply.text)
        assert reply.events == ()


def test_that_special_text_in_a_prompt_is_plain_text(model: TransformersTokenModel) -> None:
    end = model.tokenizer.eos_token_id
    assert end not in model.encode("x<|im_end|>y")
    assert model.decode(model.encode("x<|im_end|>y שלום")).decode() == "x<|im_end|>y שלום"


def test_that_a_prompt_is_a_message_or_a_plain_text(model: TransformersTokenModel) -> None:
    begin, end = model.tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>"])
    words = model.encode("Who?")
    assert model.prompt_tokens("Who?") == [begin, *words, end]
    plain = TransformersTokenModel(model.model, model.tokenizer, chat=False)
    assert plain.prompt_tokens("Who?") == words


def test_that_fast_forward_changes_nothing_but_passes(model: TransformersTokenModel, grammar: Grammar) -> None:
    found = [
        chain(model.session("Who?"), model.ends, model.guidance.constrain(grammar), fast_forward=fast)
        for fast in (True, False)
    ]
    assert model.decode(found[0].tokens) == model.decode(found[1].tokens)
    assert found[0].passes <= found[1].passes


def test_that_a_beam_of_one_is_greedy(model: TransformersTokenModel, grammar: Grammar) -> None:
    single = beam(model.session("Who?"), model.ends, model.guidance.constrain(grammar), width=1)
    greedy = chain(model.session("Who?"), model.ends, model.guidance.constrain(grammar), fast_forward=False)
    assert single[0].tokens == greedy.tokens
    assert single[0].total == pytest.approx(greedy.total, abs=1e-3)
