"""Dialoom: conversational agents that stay on course."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

_HOMES = {
    "Agent": "dialoom.agent.agent",
    "Chat": "dialoom.agent.agent",
    "Dialogue": "dialoom.dialogue",
    "DialoomError": "dialoom.errors",
    "LearnSettings": "dialoom.agent.settings",
    "Model": "dialoom.agent.model",
    "ReadOptions": "dialoom.corpora",
    "Role": "dialoom.dialogue",
    "Turn": "dialoom.agent.agent",
    "Utterance": "dialoom.dialogue",
    "learn": "dialoom.agent.learn",
    "open_corpus": "dialoom.corpora",
    "update": "dialoom.agent.learn",
}


def __getattr__(name: str) -> Any:
    """Public names are loaded when they are first asked for, so that importing one lane loads that lane alone."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'dialoom' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
