"""What encoders learn from: conversations with the evidence used and the evidence left alone."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, MissingExtra, NothingToLearn, UsageError
from dialoom.knowledge.labelled import LabelledTurn

_TURNS = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """`anchor` (a conversation's last turns, or a reply) with a text that belongs to it and one that does not."""

    anchor: str
    positive: str
    negative: str


@dataclass(frozen=True, slots=True)
class FitSettings:
    """How an encoder is trained; `scale` multiplies cosines before the softmax."""

    epochs: int = 5
    batch: int = 16
    rate: float = 2e-5
    scale: float = 20.0
    longest: int = 128
    device: str = "cpu"
    seed: int = 0


def asked_text(texts: Sequence[str]) -> str:
    """The last turns of a conversation as one text, the latest first, so that cutting keeps it."""
    return " / ".join(reversed(texts[-_TURNS:]))


def retrieval_pairs(turns: Sequence[LabelledTurn], *, seed: int = 0) -> list[Pair]:
    """(conversation, used evidence, unused evidence of the same pool); of another dialogue where all was used."""
    return _pairs(turns, seed, lambda turn: asked_text([u.text for u in turn.context.utterances]))


def consistency_pairs(turns: Sequence[LabelledTurn], *, seed: int = 0) -> list[Pair]:
    """(reply, evidence it was written from, other evidence), as the paper's NLI model is trained (sec. V-D)."""
    return _pairs(turns, seed, lambda turn: turn.reply)


def _pairs(turns: Sequence[LabelledTurn], seed: int, anchor: Any) -> list[Pair]:
    chance = random.Random(seed)  # noqa: S311 - sampling
    found = []
    for turn in turns:
        for source in turn.plan:
            gold = turn.gold.get(source, frozenset())
            used = [passage.text for passage in turn.pools.get(source, ()) if passage.id in gold]
            rest = [passage.text for passage in turn.pools.get(source, ()) if passage.id not in gold]
            if not rest:
                other = chance.choice(turns)
                rest = [passage.text for passage in other.pools.get(source, ()) if passage.text not in used]
            if rest:
                found += [Pair(anchor(turn), text, chance.choice(rest)) for text in used]
    if not found:
        raise NothingToLearn("No labelled turn has evidence that was used and evidence that was not.")
    return found


def batches(pairs: Sequence[Pair], settings: FitSettings) -> list[list[Pair]]:
    """The batches of every epoch, shuffled by the seed."""
    chance = random.Random(settings.seed)  # noqa: S311 - shuffling
    found = []
    for _ in range(settings.epochs):
        order = list(pairs)
        chance.shuffle(order)
        found += [order[i : i + settings.batch] for i in range(0, len(order), settings.batch)]
    return found


def opened(folder: Path | str, kind: str, **more: Any) -> tuple[Any, Any]:
    """A local Hugging Face model (`transformers.{kind}`) and its tokenizer; nothing is downloaded.

    Raises `MissingExtra`, `UsageError` for no folder, `InvalidFile` for one that holds no such model.
    """
    try:
        import transformers
    except ImportError:
        raise MissingExtra("A trained encoder", "train") from None
    if not Path(folder).is_dir():
        raise UsageError(f"There is no folder {folder}.", hint="Give a local folder with a Hugging Face model.")
    try:
        network = getattr(transformers, kind).from_pretrained(
            str(folder), local_files_only=True, use_safetensors=True, **more
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
    except (OSError, ValueError) as error:
        raise InvalidFile(folder, f"not an encoder ({error}).") from error
    return network, tokenizer
