"""Dialoom: conversational agents that stay on course."""

from dialoom.agent.agent import Agent, Chat, Turn
from dialoom.agent.learn import learn, update
from dialoom.agent.model import Model
from dialoom.agent.settings import LearnSettings
from dialoom.corpora import ReadOptions, open_corpus
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import DialoomError

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Chat",
    "Dialogue",
    "DialoomError",
    "LearnSettings",
    "Model",
    "ReadOptions",
    "Role",
    "Turn",
    "Utterance",
    "__version__",
    "learn",
    "open_corpus",
    "update",
]
