"""Training the unified model: L = source + similarity + response (eq. 7), validated by lowest loss, resumable."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.errors import MissingExtra
from dialoom.knowledge.unified.examples import UnifiedExample
from dialoom.knowledge.unified.model import UnifiedModel
from dialoom.knowledge.unified.sequences import IGNORED, PLAN_LOSS, REPLY_LOSS, SCORE_LOSS, TokenSequence
from dialoom.knowledge.unified.settings import UnifiedSettings
from dialoom.training.loop import Progress, fit

LOSSES = {"source": PLAN_LOSS, "similarity": SCORE_LOSS, "response": REPLY_LOSS}


def train_unified(
    model: UnifiedModel,
    train: Sequence[UnifiedExample],
    dev: Sequence[UnifiedExample],
    settings: UnifiedSettings,
    watch: Callable[[Progress], None] | None = None,
) -> Progress:
    """Train and write `best` (lowest validation loss) and `last` under `settings.out`.

    A run whose `last` holds a state goes on where it stopped. Raises `UsageError` without examples.
    """
    return fit(_Trainee(model), train, dev[: settings.validate_turns], settings, watch)


def losses(model: UnifiedModel, batch: Sequence[TokenSequence]) -> dict[str, Any]:
    """The three parts of the loss as tensors; 0 where a part has nothing to predict."""
    import torch

    logits = model.logits(batch).float()
    found = {}
    for name, kind in LOSSES.items():
        targets = torch.full(logits.shape[:2], IGNORED, dtype=torch.long)
        for row, sequence in enumerate(batch):
            for i, wanted in enumerate(sequence.losses):
                if wanted == kind:
                    targets[row, i - 1] = sequence.ids[i]
        flat = targets.view(-1).to(logits.device)
        any_ = bool((flat != IGNORED).any())
        loss = torch.nn.functional.cross_entropy(logits.view(-1, logits.shape[-1]), flat, ignore_index=IGNORED)
        found[name] = loss if any_ else logits.sum() * 0.0
    return found


@dataclass
class _Trainee:
    """The unified model as the training loop sees it."""

    model: UnifiedModel

    @property
    def network(self) -> Any:
        return self.model.network

    @property
    def device(self) -> str:
        return self.model.device

    def loss(self, batch: Sequence[UnifiedExample], order: random.Random) -> Any:
        sequences = self.model.sequences
        return sum(losses(self.model, [example.sequence(sequences, order) for example in batch]).values())

    def save(self, folder: Path) -> None:
        lora = hasattr(self.network, "merge_and_unload")
        kept = copy.deepcopy(self.network) if lora else self.network
        UnifiedModel(kept, self.model.tokenizer, self.model.sources, "cpu", self.model.masked).save(folder)


def with_lora(model: UnifiedModel, settings: UnifiedSettings) -> UnifiedModel:
    """The model with low-rank adapters on its linear layers, embeddings and output layer fully trained."""
    if settings.lora is None:
        return model
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise MissingExtra("LoRA", "train") from None
    network = model.network
    whole = (network.get_input_embeddings(), network.get_output_embeddings())
    names = [name for name, module in network.named_modules() if any(module is part for part in whole)]
    config = LoraConfig(
        r=settings.lora.rank,
        lora_alpha=settings.lora.alpha,
        lora_dropout=settings.lora.dropout,
        target_modules="all-linear",
        modules_to_save=[name.rpartition(".")[2] for name in names],
        task_type="CAUSAL_LM",
    )
    return UnifiedModel(get_peft_model(network, config), model.tokenizer, model.sources, model.device, model.masked)
