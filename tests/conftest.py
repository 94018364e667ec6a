"""Tests run offline: real data only where DIALOOM_DATA points, no model server, no key."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded: its threads spin, and slow shared cores down

from pathlib import Path

import pytest

for _name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
    os.environ.pop(_name, None)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets; skips where it is absent."""
    folder = os.environ.get("DIALOOM_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("DIALOOM_DATA does not point to the real data sets")
    return Path(folder)


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a randomly initialised Llama of two layers and a byte-level tokenizer with a chat form."""
    torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")
    transformers = pytest.importorskip("transformers", reason="the extra 'train' is not installed")
    import tokenizers

    raw = tokenizers.Tokenizer(tokenizers.models.BPE())
    raw.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = tokenizers.decoders.ByteLevel()
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    special = ["<|im_end|>", "<|im_start|>"]
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    raw.train_from_iterator(["Computation: (Yield (Event.subject_? (?~= I found one event matching on"] * 4, trainer)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<|im_end|>")
    tokenizer.chat_template = "<|im_start|>{{ messages[0]['content'] }}<|im_end|>"
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=1024, initializer_range=0.3, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("tiny")
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
