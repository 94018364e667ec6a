"""`dialoom train`: train models of your own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialoom.cli import train_replies
from dialoom.cli.watching import counting, watching

if TYPE_CHECKING:
    from dialoom.knowledge.base import RelevanceScorer
    from dialoom.knowledge.labelled import LabelledTurn
    from dialoom.knowledge.unified.examples import UnifiedExample
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
    """Train one language model to plan, weigh evidence and reply. A stopped run goes on where it was."""
    from dialoom.knowledge.unified.settings import read_settings
    from dialoom.knowledge.unified.training import train_unified, with_lora

    settings = read_settings(config)
    turns = {split: _turns(settings, split) for split in ("train", "dev")}
    model = _opened(settings, turns["train"])
    learned, held = _examples(settings, turns)
    with watching("training") as watch:
        run = train_unified(with_lora(model, settings), learned, held, settings, watch)
    typer.echo(f"best validation loss {run.best:.4f} after {run.step} steps; model in {settings.out}/best")
    typer.echo(f"{run.samples_per_second:.1f} samples/s, {run.memory_mib:.0f} MiB")


def _opened(settings: UnifiedSettings, turns: Sequence[LabelledTurn]) -> UnifiedModel:
    from dialoom.knowledge.unified.model import UnifiedModel

    names = dict.fromkeys(name for turn in turns for name in turn.pools)
    return UnifiedModel.start(
        settings.model,
        list(names),
        device=settings.chosen_device(),
        masked=settings.masked,
        lengths=settings.lengths,
        seed=settings.seed,
    )


def _examples(settings: UnifiedSettings, turns: Mapping[str, Sequence[LabelledTurn]]) -> list[list[UnifiedExample]]:
    """Training and validation examples; their labels are kept by scorer, so that another scorer labels anew."""
    from dialoom.knowledge.unified.examples import unified_examples

    scorer = _scorer(settings, turns["train"])
    slug = re.sub(r"\W+", "-", settings.relevance).strip("-")
    found = []
    for split, mine in turns.items():
        cache = Path(settings.out) / f"relevance-{slug}-{split}.json"
        with counting(f"labels of {split}") as watch:
            found.append(
                unified_examples(
                    mine, negatives=settings.negatives, seed=settings.seed, scorer=scorer, cache=cache, watch=watch
                )
            )
    return found


def _scorer(settings: UnifiedSettings, turns: Sequence[LabelledTurn]) -> RelevanceScorer | None:
    kind, _, rest = settings.relevance.partition(":")
    match kind:
        case "lexical":
            from dialoom.knowledge.relevance import LexicalRelevance

            return LexicalRelevance()
        case "learned":
            from dialoom.knowledge.ranking.ranker import LearnedRanker

            return LearnedRanker.fit(turns)
        case "bi-encoder":
            from dialoom.knowledge.encoding.biencoder import BiEncoder

            return BiEncoder.load(rest)
        case "cross-encoder":
            from dialoom.knowledge.encoding.crossencoder import CrossEncoder

            return CrossEncoder.load(rest)
        case "model":
            from dialoom.knowledge.relevance import PromptedRelevance
            from dialoom.models.opening import open_model

            return PromptedRelevance(open_model(rest), instruction="unims-rag", strict=True)
    return None


def _turns(settings: UnifiedSettings, split: str) -> list[LabelledTurn]:
    from dialoom.evaluation.kbp import read_turns
    from dialoom.knowledge.labelled import read_labelled

    paths = settings.train if split == "train" else settings.dev
    if settings.format == "kbp":
        return read_turns(paths, split=split)
    return [turn for path in paths for turn in read_labelled(path)]
