"""Secrets and addresses taken out of text that is about to be written or shown."""

from __future__ import annotations

import re

_PATTERNS = (
    (re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_*-]{6,}"), "<key>"),
    (re.compile(r"\b(?:ghp|gho|ghs|ghu|github_pat|glpat|hf|xox[abprs])[_-][A-Za-z0-9_-]{10,}"), "<key>"),
    (re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"), "<key>"),
    (re.compile(r"\bAIza[A-Za-z0-9_-]{30,}"), "<key>"),
    (re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+"), "<token>"),
    (re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE), r"\1 <token>"),
    (
        re.compile(r"\b(api[_-]?key|access[_-]?token|secret|password)(\s*[=:]\s*)(\"?)[^\s\"',;]{4,}", re.IGNORECASE),
        r"\1\2\3<key>",
    ),
    (re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"), "<email>"),
)


def scrubbed(text: str) -> str:
    """`text` with keys, tokens, passwords and e-mail addresses replaced by placeholders; twice is as once."""
    for pattern, placeholder in _PATTERNS:
        text = pattern.sub(placeholder, text)
    return text
