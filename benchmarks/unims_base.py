"""Make a small, randomly initialised base for the unified model, with a tokenizer of single Chinese characters.

    python benchmarks/unims_base.py --out base train.json

It knows nothing before it is trained; `dialoom train unims` then shows what the unified model learns on a CPU from
KBP alone. Words of letters are one token; white space is none.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter

from dialoom.evaluation.kbp import read_turns

_TOKEN = r"[A-Za-z]+|\S"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--seq2seq", action="store_true", help="a T5 instead of a Llama")
    options = parser.parse_args()
    vocabulary = ["<unk>", "</s>", "<pad>", *_frequent(options.train)]
    _tokenizer(vocabulary).save_pretrained(options.out)
    network = _network(len(vocabulary), options.width, options.layers, seq2seq=options.seq2seq)
    network.save_pretrained(options.out)
    print(f"{network.num_parameters() / 1e6:.2f} million weights, {len(vocabulary)} tokens, in {options.out}")


def _frequent(paths: list[str]) -> list[str]:
    counts: Counter[str] = Counter({"User": 2, "Agent": 2, ":": 2})
    seen: set[str] = set()
    for turn in read_turns(paths, split="train"):
        texts = [turn.reply, turn.context.utterances[-1].text, *(p.text for pool in turn.pools.values() for p in pool)]
        for text in texts:
            if text not in seen:
                seen.add(text)
                counts.update(re.findall(_TOKEN, text))
    return [token for token, number in counts.most_common() if number > 1]


def _tokenizer(vocabulary: list[str]):
    from tokenizers import Regex, Tokenizer
    from tokenizers.decoders import Fuse
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Split
    from transformers import PreTrainedTokenizerFast

    tokens = Tokenizer(WordLevel({token: i for i, token in enumerate(vocabulary)}, unk_token="<unk>"))
    tokens.pre_tokenizer = Split(Regex(_TOKEN), "removed", invert=True)
    tokens.decoder = Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokens, unk_token="<unk>", eos_token="</s>", pad_token="<pad>")


def _network(vocabulary: int, width: int, layers: int, *, seq2seq: bool):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, T5Config, T5ForConditionalGeneration

    torch.manual_seed(0)
    special = {"vocab_size": vocabulary, "eos_token_id": 1, "pad_token_id": 2}
    if seq2seq:
        return T5ForConditionalGeneration(
            T5Config(
                **special, d_model=width, d_kv=32, d_ff=3 * width, num_layers=layers, num_heads=width // 32,
                dropout_rate=0.0, decoder_start_token_id=2,
            )
        )  # fmt: skip
    return LlamaForCausalLM(
        LlamaConfig(
            **special, hidden_size=width, intermediate_size=3 * width, num_hidden_layers=layers,
            num_attention_heads=width // 32, max_position_embeddings=1024, bos_token_id=1, tie_word_embeddings=True,
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
