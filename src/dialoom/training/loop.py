"""The training loop: accumulation, validation by lowest loss, and a stopped run that goes on to the same weights."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from dialoom.errors import MissingExtra, UsageError
from dialoom.files import replacing
from dialoom.training.settings import RunSettings

BEST, LAST, STATE = "best", "last", "state.safetensors"

Example = TypeVar("Example")
Example_contra = TypeVar("Example_contra", contravariant=True)


class Trainee(Protocol[Example_contra]):
    """What is trained: a torch network, the loss of some examples, and how the network is saved."""

    @property
    def network(self) -> Any:
        """The torch module, on its device."""
        ...

    @property
    def device(self) -> str:
        """Where it computes: "cpu" or "cuda"."""
        ...

    def loss(self, batch: Sequence[Example_contra], order: random.Random) -> Any:
        """The mean loss of a batch, a scalar tensor; `order` shuffles what an example shows."""
        ...

    def save(self, folder: Path) -> None:
        """Write the network for use; training goes on with it."""
        ...


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


def fit(
    trainee: Trainee[Example],
    train: Sequence[Example],
    dev: Sequence[Example],
    settings: RunSettings,
    watch: Callable[[Progress], None] | None = None,
) -> Progress:
    """Train and write `best` (lowest validation loss) and `last` under `settings.out`.

    A run whose `last` holds a state goes on where it stopped. Raises `UsageError` without examples, or where `out`
    holds the run of another network.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtra("Training", "train") from None
    if not train or not dev:
        raise UsageError("Training needs examples to learn from and others to validate on.")
    run = _Run(trainee, settings, torch)
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
            run.validate(dev, progress)
        if watch is not None:
            watch(progress)
    return progress


class _Run(Generic[Example]):
    """The optimiser and what it needs to go on after a stop."""

    def __init__(self, trainee: Trainee[Example], settings: RunSettings, torch: Any) -> None:
        self.trainee = trainee
        self.settings = settings
        self.torch = torch
        self.out = Path(settings.out)
        self.half = settings.bf16 and trainee.device != "cpu"
        self.trained = [(name, p) for name, p in trainee.network.named_parameters() if p.requires_grad]
        self.optimizer = torch.optim.AdamW([p for _, p in self.trained], lr=settings.rate, eps=1e-6)

    def step(self, batch: Sequence[Example], progress: Progress) -> float:
        """One optimiser step over `accumulate` parts; the mean loss."""
        self.trainee.network.train()
        # Chance depends on the step alone, so that a run that was stopped draws what it would have drawn.
        seed = self.settings.seed * 1_000_003 + progress.step
        order = random.Random(seed)  # noqa: S311 - shuffling
        self.torch.manual_seed(seed)
        parts = [batch[i : i + self.settings.batch] for i in range(0, len(batch), self.settings.batch)]
        total = 0.0
        for part in parts:
            with self.torch.autocast("cuda", self.torch.bfloat16, enabled=self.half):
                loss = self.trainee.loss(part, order) / len(parts)
            loss.backward()
            total += float(loss.detach())
        self.torch.nn.utils.clip_grad_norm_([p for _, p in self.trained], 1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.rate * _schedule(progress.step, progress.of, self.settings.warmup)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return total

    def validate(self, dev: Sequence[Example], progress: Progress) -> None:
        """The mean loss on `dev`; keeps the best model, and the state to go on from."""
        self.trainee.network.eval()
        order = random.Random(self.settings.seed)  # noqa: S311 - shuffling
        total = 0.0
        with self.torch.no_grad():
            for i in range(0, len(dev), self.settings.batch):
                part = dev[i : i + self.settings.batch]
                total += float(self.trainee.loss(part, order)) * len(part)
        progress.validation = total / len(dev)
        progress.history.append((progress.step, progress.validation))
        if progress.best is None or progress.validation < progress.best:
            progress.best = progress.validation
            self.trainee.save(self.out / BEST)
        self.trainee.save(self.out / LAST)
        self._save_state(progress)

    def memory(self) -> float:
        """Peak memory in MiB: of the GPU where one is used, else of the process."""
        if self.trainee.device != "cpu":
            return float(self.torch.cuda.max_memory_allocated()) / 2**20
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    def _save_state(self, progress: Progress) -> None:
        from safetensors.torch import save

        tensors = {}
        for name, p in self.trained:
            for key, value in {"weight": p, **self.optimizer.state.get(p, {})}.items():
                tensors[f"{key}.{name}"] = value.detach().cpu().contiguous().clone()
        with replacing(
            self.out / LAST / STATE
        ) as file:  # weights and progress in one file: never one without the other
            file.write(save(tensors, {"progress": json.dumps(asdict(progress))}))

    def resumed(self) -> Progress:
        """What an earlier run under `out` left, or a fresh start."""
        path = self.out / LAST / STATE
        if not path.exists():
            return Progress()
        from safetensors import safe_open

        with safe_open(str(path), framework="pt") as kept:
            tensors = {key: kept.get_tensor(key) for key in kept.keys()}  # noqa: SIM118 - no mapping
            progress = json.loads(kept.metadata()["progress"])
        weights = {key.removeprefix("weight."): t.shape for key, t in tensors.items() if key.startswith("weight.")}
        if weights != {name: p.shape for name, p in self.trained}:
            raise UsageError(f"{self.out} holds the run of another network.", hint="Delete it, or name another `out`.")
        for name, p in self.trained:
            p.data.copy_(tensors[f"weight.{name}"])
            state = {key: tensors[f"{key}.{name}"] for key in ("step", "exp_avg", "exp_avg_sq")}
            self.optimizer.state[p] = {k: v if k == "step" else v.to(p.device) for k, v in state.items()}
        progress["history"] = [tuple(pair) for pair in progress["history"]]
        return Progress(**progress)


def _batch(train: Sequence[Example], step: int, steps_in_epoch: int, settings: RunSettings) -> list[Example]:
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
