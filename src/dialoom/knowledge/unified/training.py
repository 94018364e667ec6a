"""Training the unified model: L = source + similarity + response (eq. 7), validated by lowest loss, resumable."""

from __future__ import annotations

import copy
import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dialoom.errors import MissingExtra
from dialoom.knowledge.unified.examples import UnifiedExample
from dialoom.knowledge.unified.model import UnifiedModel
from dialoom.knowledge.unified.sequences import PLAN_LOSS, REPLY_LOSS, SCORE_LOSS, TokenSequence
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

    logits = model.predictions(batch).float()
    predicted = [(token, loss) for sequence in batch for token, loss in zip(sequence.ids, sequence.losses, strict=True)]
    targets = torch.tensor([token for token, loss in predicted if loss], device=logits.device)
    kinds = torch.tensor([loss for _, loss in predicted if loss], device=logits.device)
    found = {}
    for name, kind in LOSSES.items():
        mine = kinds == kind
        loss = torch.nn.functional.cross_entropy(logits[mine], targets[mine]) if bool(mine.any()) else logits.sum() * 0
        found[name] = loss
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
        replace(self.model, network=kept).save(folder)


def with_lora(model: UnifiedModel, settings: UnifiedSettings) -> UnifiedModel:
    """The model with low-rank adapters on its linear layers, embeddings and output layer fully trained."""
    if settings.lora is None:
        return model
    try:
        import torch
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise MissingExtra("LoRA", "train") from None
    config = LoraConfig(
        r=settings.lora.rank,
        lora_alpha=settings.lora.alpha,
        lora_dropout=settings.lora.dropout,
        target_modules="all-linear",
        task_type="SEQ_2_SEQ_LM" if model.network.config.is_encoder_decoder else "CAUSAL_LM",
    )
    torch.manual_seed(settings.seed)
    with warnings.catch_warnings(action="ignore", category=FutureWarning):  # of transformers, about what peft reads
        network = get_peft_model(model.network, config)
    for part in (network.get_input_embeddings(), network.get_output_embeddings()):
        part.weight.requires_grad_(True)
    return replace(model, network=network)
