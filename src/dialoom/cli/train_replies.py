"""`dialoom train replies`: tune a model on a corpus's own replies."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dialoom.cli.console import out, progress
from dialoom.cli.watching import watching

EXAMPLE = "Example: dialoom train replies replies.yaml"


def replies_command(
    config: Annotated[Path, typer.Argument(help="YAML file of settings; see docs/training.md.", show_default=False)],
) -> None:
    """Tune a causal language model with LoRA on (computation, reply) pairs of SMCalFlow files, one model a variant.

    A stopped run goes on where it was, and a finished variant is left as it is. `dialoom bench replies` measures them.
    """
    from dialoom.domains.calendar.smcalflow.replies import known_replies
    from dialoom.evaluation.replies.settings import read_settings
    from dialoom.evaluation.replies.tuning import split, tune
    from dialoom.generation.finetuning import base_path

    settings = read_settings(config)
    settings.chosen_device()  # what is missing is said before the long work
    base_path(settings.model)
    parts = split(settings)
    train, dev = (
        list(known_replies(progress(turns, "Finding worlds", len(turns)))) for turns in (parts.train, parts.dev)
    )
    turns = len(parts.train) + len(parts.dev)
    out.print(f"{len(train)} pairs to learn from, {len(dev)} to validate on, of {turns} event queries")
    for variant in settings.variants:
        with watching(variant.title) as watch:
            run = tune(variant, train, dev, settings, watch)
        out.print(f"{variant.title}: validation loss {run.best:.4f} at best in {run.step} steps")
        out.print(
            f"  {settings.variant_out(variant)}, {run.samples_per_second:.2f} samples/s, {run.memory_mib:.0f} MiB"
        )
