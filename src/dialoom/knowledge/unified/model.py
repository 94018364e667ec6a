"""Loading a causal language model with the added tokens, and running it under the evidence attention mask."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, MissingExtra, UsageError
from dialoom.files import read_text, write_text
from dialoom.knowledge.unified.sequences import REPLY, SHARED, Sequences, TokenSequence
from dialoom.knowledge.unified.tokens import special_tokens

SETTINGS = "dialoom-unims.json"


@dataclass
class UnifiedModel:
    """A causal model, its tokenizer and the sources it knows. `masked` False takes the evidence mask away."""

    network: Any
    tokenizer: Any
    sources: tuple[str, ...]
    device: str = "cpu"
    masked: bool = True

    @classmethod
    def start(
        cls, folder: Path | str, sources: Sequence[str], *, device: str = "cpu", masked: bool = True
    ) -> UnifiedModel:
        """A local Hugging Face folder (nothing is downloaded) with the special tokens added, ready to be trained."""
        network, tokenizer = _load(folder)
        tokenizer.add_special_tokens({"additional_special_tokens": special_tokens(sources)})
        network.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        return cls(network.to(device), tokenizer, tuple(sources), device, masked)

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "cpu") -> UnifiedModel:
        """What `save` wrote."""
        path = Path(folder) / SETTINGS
        settings = json.loads(read_text(path))
        if not {"sources", "masked"} <= set(settings):
            raise InvalidFile(path, "not the settings of a unified model.")
        network, tokenizer = _load(folder)
        return cls(network.to(device), tokenizer, tuple(settings["sources"]), device, bool(settings["masked"]))

    def save(self, folder: Path | str) -> None:
        """Write weights (safetensors), tokenizer and settings; LoRA weights are merged first."""
        merged = self.network.merge_and_unload() if hasattr(self.network, "merge_and_unload") else self.network
        merged.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        write_text(Path(folder) / SETTINGS, json.dumps({"sources": self.sources, "masked": self.masked}))

    @property
    def sequences(self) -> Sequences:
        """Builds this model's sequences."""
        return Sequences(self.tokenizer)

    def logits(self, batch: Sequence[TokenSequence]) -> Any:
        """Next-token logits, shape (len(batch), longest, vocabulary); rows are padded on the right."""
        import torch

        longest = max(len(sequence) for sequence in batch)
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        positions = torch.zeros((len(batch), longest), dtype=torch.long)
        pieces = torch.full((len(batch), longest), _PADDING, dtype=torch.long)
        for row, sequence in enumerate(batch):
            ids[row, : len(sequence)] = torch.tensor(sequence.ids)
            positions[row, : len(sequence)] = torch.tensor(sequence.positions)
            pieces[row, : len(sequence)] = torch.tensor(sequence.pieces)
        mask = attention_mask(pieces, masked=self.masked)
        bias = torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)[:, None]
        return self.network(
            input_ids=ids.to(self.device),
            position_ids=positions.to(self.device),
            attention_mask=bias.to(self.device, next(self.network.parameters()).dtype),
            use_cache=False,
        ).logits


_PADDING = -2


def attention_mask(pieces: Any, *, masked: bool = True) -> Any:
    """Who may look at whom: (batch, query, key) booleans from (batch, length) pieces; every token sees itself.

    Causal, and with `masked` no piece of evidence sees another.
    """
    import torch

    length = pieces.shape[1]
    causal = torch.ones((length, length), dtype=torch.bool).tril()[None]
    query, key = pieces[:, :, None], pieces[:, None, :]
    allowed = causal & (key != _PADDING)
    if masked:
        allowed = allowed & ((key == SHARED) | (key == query) | (query == REPLY))
    return allowed | torch.eye(length, dtype=torch.bool)[None]


def _load(folder: Path | str) -> tuple[Any, Any]:
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError:
        raise MissingExtra("The unified model", "train") from None
    if not Path(folder).is_dir():
        raise UsageError(f"There is no folder {folder}.", hint="Give a local folder with a Hugging Face model.")
    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        network = AutoModelForCausalLM.from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, attn_implementation="eager"
        )
    except (OSError, ValueError) as error:
        raise InvalidFile(folder, f"not a causal language model ({error}).") from error
    return network, tokenizer
