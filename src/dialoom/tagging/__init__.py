"""What utterances are about, as tags."""

from dialoom.tagging.base import Tagger
from dialoom.tagging.embedded import EmbeddedTagger, TaggerSettings

__all__ = ["EmbeddedTagger", "Tagger", "TaggerSettings"]
