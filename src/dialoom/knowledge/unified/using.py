"""The unified model at work: as planner, as relevance scorer, as reader, each by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from dialoom.knowledge.base import Evidence, Plan, Query, Source, tenths
from dialoom.knowledge.order import closed
from dialoom.knowledge.unified.model import UnifiedModel
from dialoom.knowledge.unified.sequences import PLAN_LOSS, SCORE_LOSS, Weighed
from dialoom.knowledge.unified.tokens import END_OF_SOURCES, NULL, SCORES, acting_token, score_token, special_tokens

_BATCH = 16


class UnifiedPlanner:
    """Plans by generating acting tokens (eq. 1, 2); only sources at hand can be called, each once."""

    def __init__(self, model: UnifiedModel) -> None:
        self._model = model

    async def plan(self, query: Query, sources: Sequence[Source]) -> Plan:
        """See `Planner`."""
        names = [source.name for source in sources if source.name in self._model.sources]
        called = await asyncio.to_thread(self.acted, query, names)
        return Plan(closed(called, sources), reason="unified model")

    def acted(self, query: Query, names: Sequence[str]) -> tuple[str, ...]:
        """The sources called, in the order the model called them."""
        import torch

        sequences = self._model.sequences
        built = sequences.context(query.context)
        called: list[str] = []
        while len(called) < len(names):
            choices = {sequences.id(acting_token(name)): name for name in names if name not in called}
            ids = [*choices, sequences.id(END_OF_SOURCES) if called else sequences.id(NULL)]
            with torch.no_grad():
                logits = self._model.following([built], PLAN_LOSS)[0]
            best = ids[int(logits[ids].argmax())]
            if best not in choices:
                break
            called.append(choices[best])
            built = built.extended(best, PLAN_LOSS)
        return tuple(called)


class UnifiedRelevance:
    """Scores evidence by the evaluation token the model expects (eq. 3): the mean of their values, to tenths."""

    def __init__(self, model: UnifiedModel) -> None:
        self._model = model

    async def relevance(self, query: Query, evidence: Sequence[Evidence]) -> list[float]:
        """See `RelevanceScorer`."""
        plan = tuple(dict.fromkeys(found.source for found in evidence))
        values = await asyncio.to_thread(self.expected, query, plan, [found.text for found in evidence])
        return [tenths(value) for value in values]

    def expected(self, query: Query, plan: Sequence[str], texts: Sequence[str]) -> list[float]:
        """The mean evaluation value of each text, in [0, 1]; finer than tenths, for ranking."""
        import torch

        sequences = self._model.sequences
        ids = [sequences.id(score_token(value)) for value in SCORES]
        known = [source for source in plan if source in self._model.sources]
        values = torch.tensor(SCORES)
        found: list[float] = []
        for start in range(0, len(texts), _BATCH):
            batch = [sequences.scoring(query.context, known, text) for text in texts[start : start + _BATCH]]
            with torch.no_grad():
                logits = self._model.following(batch, SCORE_LOSS).float().cpu()
            found += (logits[:, ids].softmax(-1) @ values).tolist()
        return found


class UnifiedReader:
    """Replies greedily from conversation, evidence and scores (eq. 4)."""

    def __init__(self, model: UnifiedModel) -> None:
        self._model = model

    async def read(self, query: Query, evidence: Sequence[Evidence]) -> str:
        """See `Reader`."""
        return await asyncio.to_thread(self._written, query, evidence)

    def _written(self, query: Query, evidence: Sequence[Evidence]) -> str:
        sequences, tokenizer = self._model.sequences, self._model.tokenizer
        plan = [source for source in dict.fromkeys(e.source for e in evidence) if source in self._model.sources]
        built = sequences.reading(query.context, plan, [Weighed(e.text, e.relevance or 0.0) for e in evidence])
        special = [sequences.id(token) for token in special_tokens(self._model.sources)]

        def choose(logits: Any) -> int | None:
            logits[special] = float("-inf")
            best = int(logits.argmax())
            return None if best == tokenizer.eos_token_id else best

        return str(tokenizer.decode(self._model.written(built, choose), skip_special_tokens=True)).strip()
