"""From labelled turns to what the model learns from: sampled negatives, relevance labels kept in a file, shuffling."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialoom.errors import InvalidFile
from dialoom.files import read_text, write_text
from dialoom.knowledge.base import Evidence, Query, RelevanceScorer
from dialoom.knowledge.labelled import LabelledTurn
from dialoom.knowledge.unified.sequences import Sequences, TokenSequence, Weighed

_SAVE_SECONDS = 60.0
"""How much labelling a kill may cost: a model that gives labels may take seconds for each."""


@dataclass(frozen=True, slots=True)
class UnifiedExample:
    """A labelled turn with the evidence shown in training, each with its relevance label."""

    turn: LabelledTurn
    evidence: tuple[Weighed, ...]

    def sequence(self, sequences: Sequences, order: random.Random) -> TokenSequence:
        """The training sequence with the evidence in a fresh order (sec. IV-B2)."""
        shown = list(self.evidence)
        order.shuffle(shown)
        return sequences.training(self.turn.context, self.turn.plan, shown, self.turn.reply)


def unified_examples(
    turns: Sequence[LabelledTurn],
    *,
    negatives: int,
    seed: int,
    scorer: RelevanceScorer | None = None,
    cache: Path | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> list[UnifiedExample]:
    """Each turn with its gold evidence and `negatives` other candidates of each planned source.

    A source whose candidates were all used takes its negatives from another dialogue. Labels are 1.0 and 0.0, or
    `scorer`'s, computed once and kept in `cache`. A turn that needs no source shows no evidence. `watch` hears of
    turns done and in all.
    """
    chance = random.Random(seed)  # noqa: S311 - sampling, not secrecy
    examples = []
    with _Labels(scorer, cache) as labels:
        for done, turn in enumerate(turns, start=1):
            shown = _shown(turn, turns, negatives, chance)
            scores = labels.of(turn, shown)
            pieces = tuple(Weighed(e.text, score) for (e, _), score in zip(shown, scores, strict=True))
            examples.append(UnifiedExample(turn, pieces))
            if watch is not None:
                watch(done, len(turns))
    return examples


def _shown(
    turn: LabelledTurn, turns: Sequence[LabelledTurn], negatives: int, chance: random.Random
) -> list[tuple[Evidence, bool]]:
    """The evidence of a training turn, each piece with whether it was used."""
    shown: list[tuple[Evidence, bool]] = []
    for source in turn.plan:
        gold = turn.gold.get(source, frozenset())
        used = [passage for passage in turn.pools.get(source, ()) if passage.id in gold]
        rest = [passage for passage in turn.pools.get(source, ()) if passage.id not in gold]
        if not rest:
            other = chance.choice(turns)
            rest = [p for p in other.pools.get(source, ()) if p.text not in {u.text for u in used}]
        chosen = chance.sample(rest, min(negatives, len(rest)))
        shown += [(Evidence(source, passage, 0.0), True) for passage in used]
        shown += [(Evidence(source, passage, 0.0), False) for passage in chosen]
    return shown


class _Labels:
    """Relevance labels by content, so that a second run, or one after a stop, computes none of them again."""

    def __init__(self, scorer: RelevanceScorer | None, cache: Path | None) -> None:
        self._scorer = scorer
        self._cache = cache
        self._runner = asyncio.Runner()
        self._known: dict[str, float] = {}
        self._saved = time.monotonic()
        if cache is not None and cache.exists():
            self._known = json.loads(read_text(cache))
            if not isinstance(self._known, dict):
                raise InvalidFile(cache, "not a cache of relevance labels.", hint="Delete it to label anew.")

    def __enter__(self) -> _Labels:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.close()
        self._save()

    def _save(self) -> None:
        if self._cache is not None and self._scorer is not None:
            write_text(self._cache, json.dumps(self._known))
        self._saved = time.monotonic()

    def of(self, turn: LabelledTurn, shown: Sequence[tuple[Evidence, bool]]) -> list[float]:
        if self._scorer is None:
            return [float(used) for _, used in shown]
        keys = [_key(turn, evidence) for evidence, _ in shown]
        missing = [evidence for (evidence, _), key in zip(shown, keys, strict=True) if key not in self._known]
        if missing:
            scores = self._runner.run(self._scorer.relevance(Query(turn.context), missing))
            for evidence, score in zip(missing, scores, strict=True):
                self._known[_key(turn, evidence)] = score
            if time.monotonic() - self._saved > _SAVE_SECONDS:
                self._save()
        return [self._known[key] for key in keys]


def _key(turn: LabelledTurn, evidence: Evidence) -> str:
    said = "\x1f".join(utterance.text for utterance in turn.context.utterances)
    return hashlib.blake2b(f"{said}\x1e{evidence.source}\x1e{evidence.text}".encode(), digest_size=16).hexdigest()
