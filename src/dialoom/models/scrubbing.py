"""Secrets and addresses taken out of text that is about to be written or shown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PATTERNS = (
    (re.compile(r"(?<=://)[^/?#@\s\"'<>]+@"), "<key>@"),
    (re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_*-]{6,}"), "<key>"),
    (re.compile(r"\b(?:ghp|gho|ghs|ghu|github_pat|glpat|hf|xox[abprs])[_-][A-Za-z0-9_-]{10,}"), "<key>"),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), "<key>"),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"), "<key>"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"), "<token>"),
    (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), r"\1 <token>"),
    (re.compile(r"([?&](?:key|token|auth|sig)=)[^\s&\"'<>#]{4,}", re.IGNORECASE), r"\1<key>"),
    (re.compile(r"\b(Authorization:\s+(?:[A-Za-z]+\s+)?)(?=\S*\d)[^\s\"',;<]{8,}", re.IGNORECASE), r"\1<key>"),
    (
        re.compile(r"\b(api[_-]?key|access[_-]?token|secret|password)(\s*[=:]\s*)(\"?)[^\s\"',;]{4,}", re.IGNORECASE),
        r"\1\2\3<key>",
    ),
    (re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"), "<email>"),
)


def scrubbed(text: str, *secrets: str) -> str:
    """`text` with keys, tokens, passwords and e-mail addresses replaced by placeholders; twice is as once.

    `secrets` are known ones, whatever they look like; those of fewer than six letters are no secrets.
    """
    for secret in secrets:
        if len(secret) >= 6:
            text = text.replace(secret, "<key>")
    for pattern, placeholder in _PATTERNS:
        text = pattern.sub(placeholder, text)
    return text


def scrubbed_json(value: Any) -> Any:
    """A value as JSON holds it, every text in it scrubbed; in JSON as text a key could take a quote with it."""
    match value:
        case str():
            return scrubbed(value)
        case Mapping():
            return {scrubbed(str(key)): scrubbed_json(one) for key, one in value.items()}
        case list() | tuple():
            return [scrubbed_json(one) for one in value]
        case _:
            return value
