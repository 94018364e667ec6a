"""DialogRPT (Gao et al. 2020): would people vote for a reply, is it one to this conversation, did a person write it?

Any local checkpoint will do that is a sequence classifier with one output, as GPT-2 ones are published.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from dialoom.errors import InvalidFile, UsageError
from dialoom.evaluation.classifiers import Classifier

SINGLE = ("updown", "human-vs-random", "human-vs-machine")
FOLDERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "updown": ("updown", "DialogRPT-updown"),
        "human-vs-random": ("human-vs-random", "human-vs-rand", "DialogRPT-human-vs-rand"),
        "human-vs-machine": ("human-vs-machine", "DialogRPT-human-vs-machine"),
    }
)
"""The names under which a folder may hold the checkpoint of each score."""

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "updown": "updown: the reply gets votes",
        "human-vs-random": "human vs random: it is a reply to this conversation",
        "human-vs-machine": "human vs machine: a person wrote it",
        "best": "best: the largest of the three",
        "avg": "avg: the mean of the three",
    }
)


class Scorer(Protocol):
    """Scores a reply in its conversation."""

    def score(self, context: Sequence[str], reply: str) -> float:
        """A value in [0, 1]; `context` is what was said before, oldest first."""
        ...


class DialogRPT:
    """One checkpoint: sigmoid of its output at the last token of the conversation, turns ended by end-of-text tokens.

    What does not fit into the model is left out from the oldest end; with `turns` only the last so many are read.
    """

    def __init__(self, folder: Path, turns: int | None = None) -> None:
        """Raises `InvalidFile`, `MissingExtra`, and `UsageError` for a classifier of another kind."""
        self._classifier = Classifier(folder, "DialogRPT")
        self._end: Any = self._classifier.tokenizer.eos_token_id
        if self._classifier.config.num_labels != 1 or self._end is None:
            raise UsageError(
                f"{folder} holds no DialogRPT model: its classifier has {self._classifier.config.num_labels} outputs.",
                hint="One output and an end-of-text token are needed.",
            )
        self._turns = turns
        self._most = int(getattr(self._classifier.config, "max_position_embeddings", 1024))
        self._score = lru_cache(4096)(self._scored)

    def score(self, context: Sequence[str], reply: str) -> float:
        """The probability."""
        return self._score(tuple(context[-self._turns :] if self._turns else context), reply)

    def _scored(self, context: tuple[str, ...], reply: str) -> float:
        ids = [token for said in context for token in (*self._tokens(said), self._end)]
        said = self._tokens(reply)[: self._most - 1]
        ids = (ids + said)[-self._most :] or [self._end]
        (logit,) = self._classifier.logits(input_ids=ids)
        return 1.0 / (1.0 + math.exp(-logit)) if logit > -700.0 else 0.0

    def _tokens(self, text: str) -> list[int]:
        found: list[int] = self._classifier.tokenizer.encode(text.strip(), add_special_tokens=False)
        return found


class Joined:
    """The best or the mean of the three scores of a reply, as S-ICL's table 2 has them."""

    def __init__(self, part: str, scorers: Sequence[DialogRPT]) -> None:
        self._part = part
        self._scorers = scorers

    def score(self, context: Sequence[str], reply: str) -> float:
        """The largest of the three with `best`, else their mean."""
        return joined(self._part, [scorer.score(context, reply) for scorer in self._scorers])


def joined(part: str, scores: Sequence[float]) -> float:
    """The largest of `scores` for `best`, their mean for `avg`."""
    return max(scores) if part == "best" else math.fsum(scores) / len(scores)


@cache
def _model(folder: Path, turns: int | None) -> DialogRPT:
    return DialogRPT(folder, turns)


@cache
def opened(part: str, spec: str) -> Scorer:
    """The scorer of `part`, one of `PARTS`, in `FOLDER` or `FOLDER@TURNS`, loaded once.

    The folder is a checkpoint itself, or holds one in a folder of a name in `FOLDERS`; `best` and `avg` need all three.
    """
    name, sign, number = spec.rpartition("@")
    turns = int(number) if sign and number.isdecimal() else None
    folder = Path(spec if turns is None else name).expanduser().absolute()
    if part in SINGLE:
        return _model(_place(folder, part), turns)
    return Joined(part, [_model(_place(folder, single), turns) for single in SINGLE])


def _place(folder: Path, part: str) -> Path:
    held = [folder / name for name in FOLDERS[part] if (folder / name / "config.json").is_file()]
    if not held and not (folder / "config.json").is_file():
        raise InvalidFile(folder, f"there is no checkpoint for {part}.", hint=f"Name its folder {FOLDERS[part][0]}.")
    return held[0] if held else folder
