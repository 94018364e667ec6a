"""Tags and samples are other people's words: made safe to stand in any drawing."""

from __future__ import annotations

import re

# What XML cannot hold (controls, surrogates, non-characters), and marks that reorder the text around them.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def plain(text: str, limit: int = 200) -> str:
    """One line without control characters, at most `limit` characters long."""
    line = _UNSAFE.sub("\ufffd", " ".join(text.split()))
    return line if len(line) <= limit else f"{line[: limit - 1]}\u2026"


def xml(text: str, limit: int = 200) -> str:
    """`plain`, escaped for XML and HTML, in content and in quoted attributes."""
    return plain(text, limit).translate(_ENTITIES)
