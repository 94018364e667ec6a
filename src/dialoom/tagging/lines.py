"""The form in which a model is shown utterances and gives tags back: `id Role: #tag #tag`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dialoom.dialogue import Role, Utterance
from dialoom.models.templates import one_line

LABELS: Mapping[Role, str] = {Role.USER: "User", Role.SYSTEM: "System", Role.TOOL: "Tool"}

_LINE = re.compile(
    r"""["'`\s]*(\d{1,6})\s+(User|System|Tool)\s*:\s*((?:\#[^\s\#,"`]+[\s,]*)+)["'`\s]*""", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:['’&/.+-][^\W_]+)*")


def shown(number: int, utterance: Utterance, longest: int) -> str:
    """One utterance as a line of the prompt; text beyond `longest` characters is cut."""
    text = one_line(utterance.text, ("dialogue",))
    kept = text if len(text) <= longest else f"{text[:longest]}..."
    return f"{number} {LABELS[utterance.role]}: {kept}"


def written(number: int, role: Role, tags: Sequence[str]) -> str:
    """The line a model should answer with."""
    return f"{number} {LABELS[role]}: {' '.join(f'#{tag}' for tag in tags)}"


def read(answer: str, asked: Mapping[int, Role], words: int) -> dict[int, tuple[str, ...]]:
    """Tags by id, from the lines of `answer` that are exactly of the form and speak of an asked id in its role.

    Tags are lower-case words. What else the answer says is ignored: prose, foreign ids, wrong roles, lines with more
    than `words` tags, and ids answered twice in different ways.
    """
    found: dict[int, tuple[str, ...]] = {}
    contradicted: set[int] = set()
    for line in answer.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        number, label, rest = int(match[1]), match[2], match[3]
        tags = tuple(dict.fromkeys(_WORD.findall(rest.lower().replace("_", "-"))))
        role = asked.get(number)
        if role is None or LABELS[role].lower() != label.lower() or not 0 < len(tags) <= words:
            continue
        if found.setdefault(number, tags) != tags:
            contradicted.add(number)
    return {number: tags for number, tags in found.items() if number not in contradicted}
