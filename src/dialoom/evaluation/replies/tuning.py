"""From a corpus to tuned models: splits by dialogue, pairs of prompt and reply, one run a variant."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialoom.domains.calendar.smcalflow.replies import KnownReply, apart
from dialoom.domains.calendar.smcalflow.turns import Turn, is_event_query, read_turns
from dialoom.errors import UsageError
from dialoom.evaluation.replies.settings import WHOLE, ReplySettings, Variant
from dialoom.generation import reply_prompt
from dialoom.generation.finetuning import ReplyPair, ReplyTrainee, load_base, save_whole, with_adapters
from dialoom.training.loop import BEST, Progress, fit

HELD = 0.1


@dataclass(frozen=True, slots=True)
class Split:
    """Event queries to learn from, to validate on and to measure on."""

    train: list[Turn]
    dev: list[Turn]
    test: list[Turn]


def split(settings: ReplySettings) -> Split:
    """The event queries of the corpus, split by dialogue, the same for the same seed.

    Raises `UsageError` where a part is empty.
    """
    rest, test = _queries(settings.corpus), _queries(settings.test)
    if not settings.test:
        rest, test = apart(rest, HELD, settings.seed)
    train, dev = apart(rest, HELD, settings.seed + 1)
    if not (train and dev and test):
        raise UsageError(
            f"{len(train)} event queries to learn from, {len(dev)} to validate on and {len(test)} to measure on.",
            hint="Name more SMCalFlow files: each part needs some.",
        )
    return Split(train, dev, test)


def tune(
    variant: Variant,
    train: Sequence[KnownReply],
    dev: Sequence[KnownReply],
    settings: ReplySettings,
    watch: Callable[[Progress], None] | None = None,
) -> Progress:
    """Tune one variant, or go on where it stopped; at its end the best adapters are merged into a whole model."""
    out = settings.variant_out(variant)
    learned = [pair_of(reply, variant) for reply in sampled(train, variant.share, settings.seed)]
    held = [pair_of(reply, variant) for reply in dev[: settings.validate_pairs]]
    device = settings.chosen_device()
    trainee = ReplyTrainee(load_base(settings.model), settings.lora, device=device, seed=settings.seed)
    run = fit(trainee, learned, held, settings.model_copy(update={"out": str(out)}), watch)
    if not (out / WHOLE).exists() or _written_at(out / WHOLE) < _written_at(out / BEST / "adapter_model.safetensors"):
        save_whole(with_adapters(load_base(settings.model), out / BEST), out / WHOLE)
    return run


def sampled(replies: Sequence[KnownReply], share: float, seed: int) -> list[KnownReply]:
    """A random `share` of them, at least one."""
    return random.Random(seed).sample(replies, max(1, round(share * len(replies))))  # noqa: S311 - sampling


def pair_of(reply: KnownReply, variant: Variant) -> ReplyPair:
    """What a variant's model reads, and what the corpus's agent said."""
    return ReplyPair(prompt_of(reply, variant), reply.reply)


def prompt_of(reply: KnownReply, variant: Variant) -> str:
    """The computation, with its result and the user's words where the variant shows them."""
    return reply_prompt(reply.graph(), words=reply.words if variant.words else "", result=variant.result)


def _written_at(path: Path) -> int:
    return path.stat().st_mtime_ns


def _queries(paths: Sequence[str]) -> list[Turn]:
    return [turn for path in paths for turn in read_turns(path) if is_event_query(turn.program)]
