"""The taggers a person can ask for by name, fitted to a corpus, saved with a model and opened again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialoom.agent.progress import Progress
from dialoom.agent.settings import LearnSettings
from dialoom.dialogue import Dialogue
from dialoom.errors import UnknownName
from dialoom.files import Parts
from dialoom.models.opening import open_model
from dialoom.tagging.annotations import AnnotationTagger
from dialoom.tagging.base import Tagger
from dialoom.tagging.embedded import EmbeddedTagger
from dialoom.tagging.llm import LLMTagger

KINDS = ("embedded", "annotations", "llm:MODEL", "distil:MODEL")


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted tagger, and the language model tagger behind it if one was asked."""

    tagger: Tagger
    asked: LLMTagger | None = None


def fit_tagger(
    dialogues: Sequence[Dialogue], settings: LearnSettings, cache: Path | None, progress: Progress
) -> Fitted:
    """The tagger that `settings.tagger` names, fitted to redacted dialogues.

    A language model's tags go to the file `cache` as they come, so that a stopped run goes on where it was. Raises
    `UnknownName` for another name, and a `ModelError` when a model that is asked for tags fails.
    """
    kind, _, model = settings.tagger.partition(":")
    match kind:
        case "embedded" if not model:
            return Fitted(EmbeddedTagger.fit(dialogues))
        case "annotations" if not model:
            return Fitted(AnnotationTagger())
        case "llm" if model:
            asked = LLMTagger(open_model(model), cache=cache)
            return Fitted(asked, asked)
        case "distil" if model:
            teacher = LLMTagger(open_model(model), cache=cache)
            taught = progress(teacher.tag_all(dialogues), "asking for tags", len(dialogues))
            return Fitted(EmbeddedTagger.distil(taught), teacher)
        case _:
            raise UnknownName("tagger", settings.tagger, KINDS)


def tagger_parts(tagger: Tagger) -> Mapping[str, bytes]:
    """What a model file keeps of a tagger: an embedded one whole, of the others nothing but their name."""
    return tagger.to_parts() if isinstance(tagger, EmbeddedTagger) else {}


def open_tagger(settings: LearnSettings, parts: Parts) -> Tagger:
    """The tagger of a saved model."""
    kind, _, model = settings.tagger.partition(":")
    if kind == "annotations":
        return AnnotationTagger()
    if kind == "llm":
        return LLMTagger(open_model(model))
    return EmbeddedTagger.from_parts(parts)
