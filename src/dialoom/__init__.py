"""Dialoom: conversational agents that stay on course."""

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import DialoomError

__version__ = "0.1.0"

__all__ = ["Dialogue", "DialoomError", "Role", "Utterance", "__version__"]
