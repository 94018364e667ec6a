"""Learning: redact -> tag -> automaton -> index of past turns, joined into a `Model`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from dialoom.agent.model import Model
from dialoom.agent.progress import Progress, silent
from dialoom.agent.sequences import to_sequence, without_tools
from dialoom.agent.settings import LearnSettings
from dialoom.agent.taggers import fit_tagger
from dialoom.automata.navigation import NavigationRouter
from dialoom.automata.paper import learn_paper
from dialoom.automata.predictive import PredictiveSettings, learn_predictive
from dialoom.automata.predictive_router import PredictiveRouter
from dialoom.automata.symbols import TagSequence
from dialoom.corpora.redaction import redact
from dialoom.dialogue import Dialogue, Role
from dialoom.encoders.lsa import LSAEncoder
from dialoom.errors import NothingToLearn
from dialoom.examples.dense import DenseSelector
from dialoom.examples.registry import HISTORY, HISTORY_DECAY
from dialoom.examples.turns import TurnIndex


def learn(
    dialogues: Iterable[Dialogue],
    settings: LearnSettings | None = None,
    *,
    tag_cache: Path | None = None,
    progress: Progress = silent,
) -> Model:
    """Learn an agent from transcripts.

    The result depends on the dialogues and the settings alone, not on the order of files. Dialogues in which either
    side never speaks are left out and counted in `Model.learned`. Where a language model is asked for tags, its answers
    are kept in the file `tag_cache`, and a stopped run goes on where it was. Raises `NothingToLearn` when none is left,
    and a `ModelError` when tags are asked of a language model that fails.
    """
    with threadpool_limits(1):  # one order of summation, so equal results everywhere; and threads that spin cost more
        return _learned_from(dialogues, settings or LearnSettings(), tag_cache, progress)


def _learned_from(
    dialogues: Iterable[Dialogue], chosen: LearnSettings, tag_cache: Path | None, progress: Progress
) -> Model:
    kept, one_sided = _prepared(dialogues, chosen)
    if not kept:
        raise NothingToLearn(
            f"None of {one_sided} dialogues has both a user and a system turn.",
            hint="Check the roles of your transcripts: dialoom learn --role SPEAKER=user|system",
        )
    fitted = fit_tagger(kept, chosen, tag_cache, progress)
    tagged = list(progress(fitted.tagger.tag_all(kept), "tagging", len(kept)))
    router = _router([to_sequence(dialogue) for dialogue in tagged], chosen)
    index = TurnIndex.build(tagged)
    encoder = LSAEncoder.fit(_texts(tagged), seed=chosen.seed)
    dense = DenseSelector.build(index, encoder, size=HISTORY, decay=HISTORY_DECAY)
    learned = _learned(tagged, one_sided)
    if fitted.asked is not None:
        learned["asked"] = asdict(fitted.asked.totals)
    return Model(chosen, fitted.tagger, router, dense, encoder, learned)


def update(
    model: Model, dialogues: Iterable[Dialogue], *, tag_cache: Path | None = None, progress: Progress = silent
) -> Model:
    """The model learned from what `model` was learned from and `dialogues`, with the settings of `model`.

    Equal to learning from all of them at once. A dialogue with a known id replaces the old one. With the `tag_cache` of
    the first run, a language model is asked for the tags of the new dialogues only.
    """
    known = {dialogue.id: dialogue for dialogue in model.index.dialogues()}
    known.update((dialogue.id, dialogue) for dialogue in dialogues)
    learned = learn(known.values(), model.settings, tag_cache=tag_cache, progress=progress)
    one_sided = learned.learned["one_sided"] + model.learned["one_sided"]
    return replace(learned, learned={**learned.learned, "one_sided": one_sided})


def _prepared(dialogues: Iterable[Dialogue], settings: LearnSettings) -> tuple[list[Dialogue], int]:
    """Redacted two-sided dialogues by id, and how many were one-sided."""
    kept: list[Dialogue] = []
    one_sided = 0
    for dialogue in dialogues:
        spoken = dialogue if settings.tools else without_tools(dialogue)
        if {Role.USER, Role.SYSTEM} <= {utterance.role for utterance in spoken.utterances}:
            kept.append(redact(spoken, keep=settings.keep) if settings.redact else spoken)
        else:
            one_sided += 1
    return sorted(kept, key=lambda dialogue: dialogue.id), one_sided


def _router(sequences: Sequence[TagSequence], settings: LearnSettings) -> NavigationRouter | PredictiveRouter:
    if settings.strategy == "paper":
        automaton = learn_paper(
            sequences, tau=settings.tau, threshold=settings.merge_threshold, merge_share=settings.merge_share
        )
        return NavigationRouter(automaton)
    return PredictiveRouter(
        learn_predictive(sequences, PredictiveSettings(states=settings.max_states, seed=settings.seed))
    )


def _texts(dialogues: Iterable[Dialogue]) -> Iterator[str]:
    return (said.text for dialogue in dialogues for said in dialogue.utterances if said.role is not Role.TOOL)


def _learned(dialogues: Sequence[Dialogue], one_sided: int) -> dict[str, Any]:
    roles = [utterance.role for dialogue in dialogues for utterance in dialogue.utterances]
    tags = {role: set[str]() for role in Role}
    for dialogue in dialogues:
        for utterance in dialogue.utterances:
            tags[utterance.role].update(utterance.tags)
    return {
        "dialogues": len(dialogues),
        "one_sided": one_sided,
        "utterances": {role.value: roles.count(role) for role in Role},
        "tags": {role.value: len(tags[role]) for role in Role},
    }
