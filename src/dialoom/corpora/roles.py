"""Who speaks, from the many words that transcripts use for it."""

from __future__ import annotations

from collections.abc import Mapping

from dialoom.dialogue import Role

_WORDS = {
    Role.USER: "user usr customer client visitor caller human student patient guest contact end-user enduser requester "
    "consumer buyer passenger incoming inbound in",
    Role.SYSTEM: "system sys agent bot assistant chatbot virtualassistant operator advisor adviser representative rep "
    "support teacher tutor wizard ai model outgoing outbound out",
    Role.TOOL: "tool function api action knowledgebase",
}
ROLES: Mapping[str, Role] = {word: role for role, words in _WORDS.items() for word in words.split()}
"""The words understood, in lower case."""


def role_of(word: str, given: Mapping[str, str] = ROLES) -> Role | None:
    """The role of a speaker as written; what a person said (`given`) comes first. None when nobody says."""
    said = given.get(word, word).strip().lower()
    return ROLES.get(said) or ROLES.get(said.replace(" ", "").replace("_", ""))
