"""The taggers a person can ask for by name, fitted to a corpus, saved with a model and opened again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


def fit_tagger(dialogues: Sequence[Dialogue], settings: LearnSettings, progress: Progress) -> Tagger:
    """The tagger that `settings.tagger` names, fitted to redacted dialogues.

    Raises `UnknownName` for another name, and a `ModelError` when a model that is asked for tags fails.
    """
    kind, _, model = settings.tagger.partition(":")
    match kind:
        case "embedded" if not model:
            return EmbeddedTagger.fit(dialogues)
        case "annotations" if not model:
            return AnnotationTagger()
        case "llm" if model:
            return LLMTagger(open_model(model))
        case "distil" if model:
            teacher = LLMTagger(open_model(model))
            return EmbeddedTagger.distil(progress(teacher.tag_all(dialogues), "asking for tags", len(dialogues)))
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
