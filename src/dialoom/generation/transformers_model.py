"""Token scores from transformers, with one key-value cache per prompt however many branches grow from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dialoom.errors import MissingExtra
from dialoom.generation.constraint import Guidance
from dialoom.generation.decoding import PROMPT, Scores
from dialoom.generation.emission import guidance_module

_HERE = "\x00here\x00"


class TransformersTokenModel:
    """A causal model in memory. Read it with `load`, or give a loaded model and its fast tokenizer."""

    def __init__(self, model: Any, tokenizer: Any, *, chat: bool = True) -> None:
        """`chat`: whether a prompt is a user's message in the model's chat form, or a plain text to go on with."""
        self.model = model.eval()
        self.chat = chat
        self.tokenizer = tokenizer
        ends = model.generation_config.eos_token_id
        listed = [] if ends is None else ends if isinstance(ends, list) else [ends]
        named = tokenizer.convert_tokens_to_ids(["<|im_end|>", "<|endoftext|>", "</s>"])
        unknown = tokenizer.unk_token_id
        self._ends = frozenset([*listed, *(t for t in named if t is not None and t != unknown), tokenizer.eos_token_id])

    @classmethod
    def load(cls, path: Path | str, *, chat: bool = True) -> TransformersTokenModel:
        """A folder in transformers' form, or one `.gguf` file, which is dequantised to 32 bits.

        Raises `MissingExtra` without transformers.
        """
        try:
            import transformers
        except ImportError:
            raise MissingExtra("Decoding with transformers", "train") from None
        source = Path(path)
        where: dict[str, Any] = {"pretrained_model_name_or_path": str(source)}
        if source.suffix == ".gguf":
            where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
        tokenizer = transformers.AutoTokenizer.from_pretrained(**where, local_files_only=True)
        model = transformers.AutoModelForCausalLM.from_pretrained(**where, local_files_only=True)
        return cls(model, tokenizer, chat=chat)

    @property
    def ends(self) -> frozenset[int]:
        """See `TokenModel.ends`."""
        return self._ends

    @cached_property
    def guidance(self) -> Guidance:
        """The constraint engine for this model's tokenizer: made at first use, about half a second."""
        guidance_module()
        from llguidance.hf import from_tokenizer

        size = int(self.model.config.vocab_size)
        tokenizer = from_tokenizer(self.tokenizer, n_vocab=size, eos_token=sorted(self._ends))
        return Guidance(tokenizer, special=frozenset(self.tokenizer.all_special_ids))

    def encode(self, text: str) -> list[int]:
        """See `TokenModel.encode`."""
        tokens: list[int] = self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
        return tokens

    def decode(self, tokens: Sequence[int]) -> bytes:
        """See `TokenModel.decode`."""
        data: bytes = self.guidance.tokenizer.decode_bytes(list(tokens))
        return data

    def session(self, prompt: str) -> TransformersSession:
        """See `TokenModel.session`."""
        return TransformersSession(self.model, self.prompt_tokens(prompt))

    def prompt_tokens(self, prompt: str) -> list[int]:
        """The prompt as one user message in the model's chat form, if it has one and `chat` is set, up to the reply."""
        tokens = self.encode(prompt)
        if self.chat and self.tokenizer.chat_template:
            messages = [{"role": "user", "content": _HERE}]
            text = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            # Only the template's own marks are special: the same marks inside the prompt are plain text.
            before, after = (self.tokenizer(part, add_special_tokens=False)["input_ids"] for part in text.split(_HERE))
            tokens = [*before, *tokens, *after]
        return tokens


class TransformersSession:
    """One prompt and its tree: a cache row per token, and a mask by which each sees the prompt and its ancestors."""

    def __init__(self, model: Any, prompt: Sequence[int]) -> None:
        import torch
        from transformers import DynamicCache

        self._torch = torch
        self._model = model
        self._cache = DynamicCache(config=model.config)
        self._prompt = len(prompt)
        self._ancestors: list[list[int]] = []
        with torch.inference_mode():
            ids = torch.tensor([list(prompt)], device=model.device)
            output = model(input_ids=ids, past_key_values=self._cache, use_cache=True, logits_to_keep=1)
        self._logits: Scores = output.logits[0, -1].float().cpu().numpy()

    @property
    def logits(self) -> Scores:
        """See `Session.logits`."""
        return self._logits

    @property
    def prompt_tokens(self) -> int:
        """How many tokens the prompt has."""
        return self._prompt

    @property
    def cached_tokens(self) -> int:
        """How many tokens the cache holds: the prompt once, and the tree."""
        return int(self._cache.get_seq_length())

    def extend(self, tokens: Sequence[int], parents: Sequence[int]) -> Scores:
        """See `Session.extend`."""
        torch, first = self._torch, len(self._ancestors)
        for number, parent in enumerate(parents, first):
            self._ancestors.append([number] if parent == PROMPT else [*self._ancestors[parent], number])
        total = self._prompt + len(self._ancestors)
        seen = np.zeros((len(tokens), total), dtype=np.bool_)
        seen[:, : self._prompt] = True
        for row, path in enumerate(self._ancestors[first:]):
            seen[row, self._prompt + np.asarray(path)] = True
        depths = [self._prompt + len(path) - 1 for path in self._ancestors[first:]]
        device, kind = self._model.device, self._model.dtype
        lowest = torch.finfo(kind).min
        allowed = torch.from_numpy(seen).to(device)
        mask = torch.zeros((1, 1, *seen.shape), dtype=kind, device=device).masked_fill(~allowed, lowest)
        with torch.inference_mode():
            output = self._model(
                input_ids=torch.tensor([list(tokens)], device=device),
                attention_mask=mask,
                position_ids=torch.tensor([depths], device=device),
                past_key_values=self._cache,
                use_cache=True,
            )
        rows: Scores = output.logits[0].float().cpu().numpy()
        return rows
