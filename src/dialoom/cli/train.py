"""`dialoom train`: train models of your own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialoom.cli import train_replies
from dialoom.cli.watching import watching

if TYPE_CHECKING:
    from dialoom.knowledge.labelled import LabelledTurn
    from dialoom.knowledge.unified.model import UnifiedModel
    from dialoom.knowledge.unified.settings import UnifiedSettings

app = typer.Typer(help="Train models of your own.", no_args_is_help=True)
app.command("replies", epilog=train_replies.EXAMPLE)(train_replies.replies_command)

EXAMPLE = "Example: dialoom train unims unims.yaml"


@app.callback()
def train() -> None:
    """Train models of your own."""


@app.command("unims", epilog=EXAMPLE)
def unims(config: Annotated[Path, typer.Argument(help="YAML file of settings; see docs/knowledge.md.")]) -> None:
    """Train one causal language model to plan, weigh evidence and reply. A stopped run goes on where it was."""
    from dialoom.knowledge.relevance import LexicalRelevance
    from dialoom.knowledge.unified.examples import unified_examples
    from dialoom.knowledge.unified.settings import read_settings
    from dialoom.knowledge.unified.training import train_unified, with_lora

    settings = read_settings(config)
    model = _opened(settings)
    scorer = LexicalRelevance() if settings.relevance == "lexical" else None
    learned, held = (
        unified_examples(
            _turns(settings, split), negatives=settings.negatives, seed=settings.seed, scorer=scorer,
            cache=Path(settings.out) / f"relevance-{split}.json",
        )
        for split in ("train", "dev")
    )  # fmt: skip
    with watching("training") as watch:
        run = train_unified(with_lora(model, settings), learned, held, settings, watch)
    typer.echo(f"best validation loss {run.best:.4f} after {run.step} steps; model in {settings.out}/best")
    typer.echo(f"{run.samples_per_second:.1f} samples/s, {run.memory_mib:.0f} MiB")


def _opened(settings: UnifiedSettings) -> UnifiedModel:
    from dialoom.knowledge.unified.model import UnifiedModel

    device = settings.chosen_device()
    names = dict.fromkeys(name for turn in _turns(settings, "train") for name in turn.pools)
    return UnifiedModel.start(settings.model, list(names), device=device, masked=settings.masked)


def _turns(settings: UnifiedSettings, split: str) -> list[LabelledTurn]:
    from dialoom.evaluation.kbp import read_turns
    from dialoom.knowledge.labelled import read_labelled

    paths = settings.train if split == "train" else settings.dev
    if settings.format == "kbp":
        return read_turns(paths, split=split)
    return [turn for path in paths for turn in read_labelled(path)]
