"""Text to words: lower case, numbers and addresses as typed placeholders, any script."""

from __future__ import annotations

import re

_PLACEHOLDERS = (
    (re.compile(r"\S+@\S+\.\w+"), " <email> "),
    (re.compile(r"(?:https?://|www\.)\S+"), " <link> "),
    (re.compile(r"\d[\d:.,/-]*"), " <number> "),
)
_LETTER = r"[^\W\d_\u3040-\u30ff\u3400-\u9fff]"
_WORD = re.compile(rf"<[a-z_]+>|{_LETTER}+(?:'{_LETTER}+)?|[\u3040-\u30ff\u3400-\u9fff]|[?]")


def words(text: str) -> list[str]:
    """The words of `text` in order.

    Numbers, dates and prices become `<number>`, addresses `<email>` and `<link>`; placeholders of redaction such as
    `<name>` or `[NAME]` stay one word; Chinese and Japanese go by character; a question mark counts as a word, other
    punctuation does not.
    """
    plain = text.lower().replace("’", "'")
    if "[" in plain:
        plain = _BRACKETED.sub(r" <\1> ", plain)
    for pattern, placeholder in _PLACEHOLDERS:
        plain = pattern.sub(placeholder, plain)
    return _WORD.findall(plain)


_BRACKETED = re.compile(r"\[([a-z_]+)\]")
