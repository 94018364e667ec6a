"""Tiny models with random weights, made here: what is checked is the arithmetic, not what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

WORDS = ("the", "parcel", "is", "on", "its", "way", "to", "you", "now", "we", "sent", "it", "where", "hello")
Save = Callable[..., Path]


def word_tokenizer(words: Sequence[str], **special: Any) -> Any:
    """A tokenizer of whole words."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]")
    )
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]", **special)


@pytest.fixture(scope="session")
def save_gpt2() -> Save:
    """Saves a GPT-2 classifier of random weights into a folder."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    def save(folder: Path, seed: int, *, labels: int = 1, positions: int = 24) -> Path:
        words = ["<|endoftext|>", "[UNK]", *WORDS]
        word_tokenizer(words, eos_token="<|endoftext|>").save_pretrained(folder)
        torch.manual_seed(seed)
        config = transformers.GPT2Config(
            vocab_size=len(words),
            n_positions=positions,
            n_embd=16,
            n_layer=2,
            n_head=2,
            num_labels=labels,
            bos_token_id=0,
            eos_token_id=0,
            pad_token_id=0,
            initializer_range=0.4,
        )
        transformers.GPT2ForSequenceClassification(config).save_pretrained(folder)
        return folder

    return save
