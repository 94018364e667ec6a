"""The part of a conversation that selectors look at, and the chance that depends on nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import numpy as np

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.examples.turns import TurnIndex


def window(utterances: Sequence[Utterance], size: int) -> Sequence[Utterance]:
    """The last `size` spoken utterances, oldest first, with the tool rounds after the first of them.

    Tool rounds do not count: a look-up and its result must not push out what the person said.
    """
    spoken = 0
    for place in range(len(utterances) - 1, -1, -1):
        if utterances[place].role is not Role.TOOL:
            spoken += 1
            if spoken == size:
                return utterances[place:]
    return utterances


def text_of(utterances: Sequence[Utterance]) -> str:
    """Their texts as one string."""
    return " ".join(utterance.text for utterance in utterances)


def chance(seed: int, context: Dialogue) -> np.random.Generator:
    """A generator that is the same for the same seed and the same words, on every machine and in every run."""
    said = "\x1e".join(f"{utterance.role}\x1f{utterance.text}" for utterance in context.utterances)
    digest = hashlib.blake2b(f"{seed}\x1d{said}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(digest, "big"))


def contexts(index: TurnIndex, size: int) -> Iterator[Sequence[Utterance]]:
    """The window before every system turn of `index`, in order of turns."""
    for dialogue in index.dialogues():
        for place, utterance in enumerate(dialogue.utterances):
            if utterance.role is Role.SYSTEM:
                yield window(dialogue.utterances[:place], size)
