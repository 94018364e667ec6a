"""Training the unified model: L = source + similarity + response (eq. 7), validated by lowest loss, resumable."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from dialoom.errors import MissingExtra, UsageError
from dialoom.files import read_text, write_text
from dialoom.knowledge.unified.examples import UnifiedExample
from dialoom.knowledge.unified.model import UnifiedModel
from dialoom.knowledge.unified.sequences import PLAN_LOSS, REPLY_LOSS, SCORE_LOSS, TokenSequence
from dialoom.knowledge.unified.settings import UnifiedSettings

LOSSES = {"source": PLAN_LOSS, "similarity": SCORE_LOSS, "response": REPLY_LOSS}
BEST, LAST, STATE = "best", "last", "state.json"


@dataclass
class Progress:
    """Where a run stands: steps done, the latest training and validation loss, speed and memory."""

    step: int = 0
    of: int = 0
    loss: float = 0.0
    validation: float | None = None
    best: float | None = None
    samples_per_second: float = 0.0
    memory_mib: float = 0.0
    history: list[tuple[int, float]] = field(default_factory=list)


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
    try:
        import torch
    except ImportError:
        raise MissingExtra("Training the unified model", "train") from None
    if not train or not dev:
        raise UsageError("Training needs labelled turns to learn from and others to validate on.")
    torch.manual_seed(settings.seed)
    run = _Run(model, settings, torch)
    steps_in_epoch = max(1, -(-len(train) // (settings.batch * settings.accumulate)))
    progress = run.resumed()
    progress.of = settings.steps or settings.epochs * steps_in_epoch
    started, seen = time.perf_counter(), 0
    while progress.step < progress.of:
        batch = _batch(train, progress.step, steps_in_epoch, settings)
        progress.loss = run.step(batch, progress)
        progress.step += 1
        seen += len(batch)
        progress.samples_per_second = seen / (time.perf_counter() - started)
        progress.memory_mib = run.memory()
        if progress.step % settings.validate_every == 0 or progress.step == progress.of:
            run.validate(dev[: settings.validate_turns], progress)
        if watch is not None:
            watch(progress)
    return progress


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


class _Run:
    """The optimiser and what it needs to go on after a stop."""

    def __init__(self, model: UnifiedModel, settings: UnifiedSettings, torch: Any) -> None:
        self.model = model
        self.settings = settings
        self.torch = torch
        self.out = Path(settings.out)
        self.half = settings.bf16 and model.device != "cpu"
        parameters = [p for p in model.network.parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW(parameters, lr=settings.rate, eps=1e-6)
        self.sequences = model.sequences

    def step(self, batch: Sequence[UnifiedExample], progress: Progress) -> float:
        """One optimiser step over `accumulate` parts; the mean loss."""
        self.model.network.train()
        order = random.Random(self.settings.seed * 1_000_003 + progress.step)  # noqa: S311 - shuffling
        built = sorted((example.sequence(self.sequences, order) for example in batch), key=len)  # little padding
        parts = [built[i : i + self.settings.batch] for i in range(0, len(built), self.settings.batch)]
        total = 0.0
        for part in parts:
            with self.torch.autocast("cuda", self.torch.bfloat16, enabled=self.half):
                loss = sum(losses(self.model, part).values()) / len(parts)
            loss.backward()
            total += float(loss.detach())
        self.torch.nn.utils.clip_grad_norm_(self.model.network.parameters(), 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.rate * _schedule(progress.step, progress.of, self.settings.warmup)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return total

    def validate(self, dev: Sequence[UnifiedExample], progress: Progress) -> None:
        """The mean loss on `dev`; keeps the best model, and the state to go on from."""
        self.model.network.eval()
        order = random.Random(self.settings.seed)  # noqa: S311 - shuffling
        total = 0.0
        with self.torch.no_grad():
            for i in range(0, len(dev), self.settings.batch):
                part = [example.sequence(self.sequences, order) for example in dev[i : i + self.settings.batch]]
                total += float(sum(losses(self.model, part).values())) * len(part)
        progress.validation = total / len(dev)
        progress.history.append((progress.step, progress.validation))
        if progress.best is None or progress.validation < progress.best:
            progress.best = progress.validation
            self._save(BEST)
        self._save(LAST)
        self._save_state(progress)

    def memory(self) -> float:
        """Peak memory in MiB: of the GPU where one is used, else of the process."""
        if self.model.device != "cpu":
            return float(self.torch.cuda.max_memory_allocated()) / 2**20
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def _save(self, name: str) -> None:
        import copy

        lora = hasattr(self.model.network, "merge_and_unload")
        kept = copy.deepcopy(self.model.network) if lora else self.model.network
        replace(self.model, network=kept).save(self.out / name)

    def _save_state(self, progress: Progress) -> None:
        from safetensors.torch import save_file

        tensors = {f"weight.{n}": p.detach().cpu().contiguous().clone() for n, p in self._trained()}
        for n, p in self._trained():
            for key, value in self.optimizer.state.get(p, {}).items():
                tensors[f"{key}.{n}"] = value.detach().cpu().contiguous().clone()
        save_file(tensors, str(self.out / LAST / "state.safetensors"))
        write_text(self.out / LAST / STATE, json.dumps(asdict(progress)))

    def resumed(self) -> Progress:
        """What an earlier run under `out` left, or a fresh start."""
        path = self.out / LAST / STATE
        if not path.exists():
            return Progress()
        from safetensors.torch import load_file

        tensors = load_file(str(self.out / LAST / "state.safetensors"))
        for n, p in self._trained():
            p.data.copy_(tensors[f"weight.{n}"])
            state = {key: tensors[f"{key}.{n}"] for key in ("step", "exp_avg", "exp_avg_sq") if f"{key}.{n}" in tensors}
            if state:
                self.optimizer.state[p] = {k: v if k == "step" else v.to(p.device) for k, v in state.items()}
        kept = json.loads(read_text(path))
        kept["history"] = [tuple(pair) for pair in kept["history"]]
        return Progress(**kept)

    def _trained(self) -> list[tuple[str, Any]]:
        return [(n, p) for n, p in self.model.network.named_parameters() if p.requires_grad]


def _batch(
    train: Sequence[UnifiedExample], step: int, steps_in_epoch: int, settings: UnifiedSettings
) -> list[UnifiedExample]:
    """The examples of a step: the same for the same seed, whether or not the run was interrupted before."""
    epoch, place = divmod(step, steps_in_epoch)
    order = list(range(len(train)))
    random.Random(settings.seed + epoch).shuffle(order)  # noqa: S311 - shuffling
    size = settings.batch * settings.accumulate
    return [train[i] for i in order[place * size : (place + 1) * size]]


def _schedule(step: int, of: int, warmup: float) -> float:
    """Linear warm-up, then linear decay to a tenth."""
    rising = max(1, int(of * warmup))
    return min((step + 1) / rising, 1.0) * (1.0 - 0.9 * step / max(of, 1))


def with_lora(model: UnifiedModel, settings: UnifiedSettings) -> UnifiedModel:
    """The model with low-rank adapters on its linear layers, embeddings and output layer fully trained."""
    if settings.lora is None:
        return model
    try:
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
    network = get_peft_model(model.network, config)
    for part in (network.get_input_embeddings(), network.get_output_embeddings()):
        part.weight.requires_grad_(True)
    return replace(model, network=network)
