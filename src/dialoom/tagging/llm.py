"""Tags by a language model (DFA-RAG sec. 3.2.1 and App. A)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import ModelRefused, UsageError
from dialoom.models.base import LanguageModel, Request, Sampling, Usage
from dialoom.models.blocking import run_sync, start_sync
from dialoom.models.retrying import Retries, retried
from dialoom.models.templates import rendered, template_source
from dialoom.tagging.annotations import UNTAGGED
from dialoom.tagging.lines import LABELS, read, shown
from dialoom.tagging.tag_cache import TagCache
from dialoom.tagging.tools import tool_tags

WORDS = 3
"""Most words in the tags of an utterance (App. A, principle 1)."""
LONGEST = 600
"""Characters of an utterance shown to the model."""
BLOCK = 40
"""Utterances asked for in one prompt; longer dialogues take several, each with `CONTEXT` utterances before it."""
CONTEXT = 10

_log = logging.getLogger("dialoom.tagging")


@dataclass(frozen=True, slots=True)
class TagTotals:
    """What a tagger has done so far: dialogues and utterances out, model calls, their tokens and cost.

    `cached` utterances took no call (cache or tool name), `repaired` ones a second question; `fallen_back` ones got
    the tag `other`, because no answer was usable.
    """

    dialogues: int = 0
    utterances: int = 0
    cached: int = 0
    calls: int = 0
    repaired: int = 0
    fallen_back: int = 0
    usage: Usage = field(default_factory=Usage)

    def __add__(self, other: TagTotals) -> TagTotals:
        return TagTotals(
            self.dialogues + other.dialogues,
            self.utterances + other.utterances,
            self.cached + other.cached,
            self.calls + other.calls,
            self.repaired + other.repaired,
            self.fallen_back + other.fallen_back,
            self.usage + other.usage,
        )


class LLMTagger:
    """Asks a language model for the tags of a dialogue's utterances, one dialogue a prompt.

    Lines that the model leaves out or writes wrongly are asked for again, `repairs` times, and then tagged `other`.
    A dialogue that the model refuses (too long, filtered) is tagged `other` as well, once any call has been answered;
    before that a refusal is raised, as for a wrong key. Tool rounds that carry their tool's name are tagged by it.

    Tags are cached under the model, the template and everything up to the utterance, so a live turn whose beginning
    was tagged before asks for its new utterances only. `totals` says what was done; `progress` hears it after each
    dialogue of `tag_all`. `template` is a folder with an own `tags.j2`.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        cache: Path | str | None = None,
        template: Path | None = None,
        concurrency: int = 4,
        repairs: int = 2,
        retries: Retries = Retries(attempts=2),  # noqa: B008
        timeout: float = 120.0,
        progress: Callable[[TagTotals], None] | None = None,
    ) -> None:
        if concurrency < 1:
            raise UsageError(f"The concurrency is {concurrency}; at least 1 is needed.")
        self._model = model
        self._cache = TagCache(cache)
        self._source = template_source("dialoom.tagging", "tags", template)
        self._concurrency = concurrency
        self._repairs = repairs
        self._retries = retries
        self._timeout = timeout
        self._progress = progress
        self._salt = json.dumps([model.name, self._source])
        self._answered = False
        self.totals = TagTotals()

    def tag(self, dialogue: Dialogue) -> Dialogue:
        """The dialogue with tags. Raises a `ModelError` when the model cannot be asked."""
        return self._counted(run_sync(self.tagged(dialogue)))

    def tag_all(self, dialogues: Iterable[Dialogue]) -> Iterator[Dialogue]:
        """`tag` for a stream, in order, with `concurrency` dialogues under way; what is done stays in the cache."""
        waiting: deque[Future[tuple[Dialogue, TagTotals]]] = deque()
        before = self.totals.fallen_back
        try:
            for dialogue in dialogues:
                waiting.append(start_sync(self.tagged(dialogue)))
                if len(waiting) >= self._concurrency:
                    yield self._told(waiting.popleft())
            while waiting:
                yield self._told(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()
        if fallen := self.totals.fallen_back - before:
            _log.warning(
                "%d utterances got no usable tags from %s and are tagged '%s'.", fallen, self._model.name, UNTAGGED
            )

    async def tagged(self, dialogue: Dialogue) -> tuple[Dialogue, TagTotals]:
        """The dialogue with tags, and what they took."""
        keys = self._keys(dialogue)
        kept = await asyncio.to_thread(self._cache.found, keys)
        tags = {number: kept[key] for number, key in enumerate(keys) if key in kept}
        for number, utterance in enumerate(dialogue.utterances):
            if utterance.role is Role.TOOL and utterance.annotations.get("tool"):
                tags[number] = tool_tags(utterance)
        totals = TagTotals(1, len(dialogue), len(tags))
        missing = [number for number in range(len(dialogue)) if number not in tags]
        for start in range(0, len(missing), BLOCK):
            found, spent = await self._asked(dialogue, missing[start : start + BLOCK])
            await asyncio.to_thread(self._cache.keep, {keys[number]: value for number, value in found.items()})
            tags |= found
            totals += spent
        utterances = (
            utterance.tagged(tags.get(number, (UNTAGGED,))) for number, utterance in enumerate(dialogue.utterances)
        )
        return replace(dialogue, utterances=tuple(utterances)), totals

    def close(self) -> None:
        """Close the cache."""
        self._cache.close()

    async def _asked(self, dialogue: Dialogue, wanted: list[int]) -> tuple[Mapping[int, tuple[str, ...]], TagTotals]:
        found: dict[int, tuple[str, ...]] = {}
        totals = TagTotals()
        for attempt in range(self._repairs + 1):
            asked = {number: dialogue.utterances[number].role for number in wanted if number not in found}
            if not asked:
                break
            request = self._request(dialogue.utterances, list(asked))
            try:
                completion = await retried(partial(self._model.generate, request), self._retries)
            except ModelRefused as error:
                if not self._answered:
                    raise
                _log.warning("%s: %s", dialogue.id, error)
                break
            self._answered = True
            heard = read(completion.text, asked, WORDS)
            found |= heard
            totals += TagTotals(calls=1, usage=completion.usage, repaired=len(heard) if attempt else 0)
        return found, totals + TagTotals(fallen_back=len(wanted) - len(found))

    def _request(self, utterances: tuple[Utterance, ...], asked: list[int]) -> Request:
        first, last = max(0, asked[0] - CONTEXT), asked[-1] + 1
        lines = [shown(number, utterances[number], LONGEST) for number in range(first, last)]
        roles = list(dict.fromkeys(LABELS[utterances[number].role] for number in range(first, last)))
        values = {"lines": lines, "asked": asked, "roles": roles, "words": WORDS}
        messages = rendered(self._source, values, "tags.j2")
        return Request(messages, Sampling(max_tokens=32 + 24 * len(asked)), timeout=self._timeout)

    def _keys(self, dialogue: Dialogue) -> list[str]:
        """One key an utterance: everything said up to it, in order."""
        running = hashlib.sha256(self._salt.encode())
        keys = []
        for utterance in dialogue.utterances:
            running.update(json.dumps([utterance.role, utterance.text]).encode())
            keys.append(running.hexdigest())
        return keys

    def _told(self, future: Future[tuple[Dialogue, TagTotals]]) -> Dialogue:
        dialogue = self._counted(future.result())
        if self._progress is not None:
            self._progress(self.totals)
        return dialogue

    def _counted(self, outcome: tuple[Dialogue, TagTotals]) -> Dialogue:
        dialogue, totals = outcome
        self.totals += totals
        return dialogue
