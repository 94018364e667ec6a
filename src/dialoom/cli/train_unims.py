"""`dialoom train unims`: train the unified planner, retriever and reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dialoom.errors import MissingExtra

if TYPE_CHECKING:
    from dialoom.knowledge.labelled import LabelledTurn
    from dialoom.knowledge.unified.model import UnifiedModel
    from dialoom.knowledge.unified.settings import UnifiedSettings

EXAMPLE = "Example: dialoom train unims unims.yaml"


def unims(config: Annotated[Path, typer.Argument(help="YAML file of settings; see docs/knowledge.md.")]) -> None:
    """Train one causal language model to plan, weigh evidence and reply. A stopped run goes on where it was."""
    from dialoom.knowledge.relevance import LexicalRelevance
    from dialoom.knowledge.unified.examples import unified_examples
    from dialoom.knowledge.unified.settings import read_settings
    from dialoom.knowledge.unified.training import Progress as Run
    from dialoom.knowledge.unified.training import train_unified, with_lora

    settings = read_settings(config)
    model = _opened(settings)
    scorer = LexicalRelevance() if settings.relevance == "lexical" else None
    train, dev = (
        unified_examples(
            _turns(settings, split), negatives=settings.negatives, seed=settings.seed, scorer=scorer,
            cache=Path(settings.out) / f"relevance-{split}.json",
        )
        for split in ("train", "dev")
    )  # fmt: skip
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("training", total=None)

        def watch(run: Run) -> None:
            told = f"loss {run.loss:.3f}, {run.samples_per_second:.1f} samples/s, {run.memory_mib:.0f} MiB"
            bar.update(task, description=told, completed=run.step, total=run.of)

        run = train_unified(with_lora(model, settings), train, dev, settings, watch)
    typer.echo(f"best validation loss {run.best:.4f} after {run.step} steps; model in {settings.out}/best")
    typer.echo(f"{run.samples_per_second:.1f} samples/s, {run.memory_mib:.0f} MiB")


def _opened(settings: UnifiedSettings) -> UnifiedModel:
    from dialoom.knowledge.unified.model import UnifiedModel

    try:
        import torch
    except ImportError:
        raise MissingExtra("Training the unified model", "train") from None
    device = settings.device if settings.device != "auto" else "cuda" if torch.cuda.is_available() else "cpu"
    names = dict.fromkeys(name for turn in _turns(settings, "train") for name in turn.pools)
    return UnifiedModel.start(settings.model, list(names), device=device, masked=settings.masked)


def _turns(settings: UnifiedSettings, split: str) -> list[LabelledTurn]:
    from dialoom.evaluation.kbp import read_turns
    from dialoom.knowledge.labelled import read_labelled

    paths = settings.train if split == "train" else settings.dev
    if settings.format == "kbp":
        return read_turns(paths, split=split)
    return [turn for path in paths for turn in read_labelled(path)]
