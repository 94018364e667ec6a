"""Values that belong to the business: said by the system in many dialogues, and not to one customer alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from dialoom.corpora.redaction.patterns import replaced
from dialoom.corpora.redaction.values import plain
from dialoom.dialogue import Dialogue, Role

_NEVER_SHARED = frozenset(("card", "ssn", "secret", "birthdate"))
_LEAST, _SHARE = 5, 0.01
"""A value is shared from this many dialogues on, and this share of all."""
_BATCH = 10_000
"""After so many dialogues rare values are forgotten, so that memory does not grow with the corpus."""


def shared_values(dialogues: Iterable[Dialogue]) -> tuple[str, ...]:
    """Hotlines, addresses, links and codes that the system says in several dialogues, for `redact(keep=...)`.

    A value counts once a dialogue, and only where no user said it before: in 5 dialogues at least, and in 1 % of all.
    The most frequent come first, each as first written. `dialogues` are as they were spoken and are read once; of more
    than 10 000, a value barely above 1 % may be left out.
    """
    counts: Counter[str] = Counter()
    written: dict[str, str] = {}
    read = 0
    for read, dialogue in enumerate(dialogues, 1):
        for bare, value in dict(_own_values(dialogue)).items():
            counts[bare] += 1
            written.setdefault(bare, value)
        if read % _BATCH == 0:
            for bare in [bare for bare, count in counts.items() if count < read * _SHARE / 10]:
                del counts[bare], written[bare]
    least = max(_LEAST, _SHARE * read)
    return tuple(written[bare] for bare, count in counts.most_common() if count >= least)


def _own_values(dialogue: Dialogue) -> Iterator[tuple[str, str]]:
    """(the value bare of signs, as written) of what the system says before any user."""
    users = ""
    for utterance in dialogue.utterances:
        if utterance.role is Role.USER:
            users += plain(utterance.text) + " "
        elif utterance.role is Role.SYSTEM:
            found: list[str] = []

            def note(kind: str, value: str, found: list[str] = found) -> str:
                if kind not in _NEVER_SHARED:
                    found.append(value)
                return f"<{kind}>"

            replaced(utterance.text, note)
            for value in found:
                if (bare := plain(value)) and bare not in users:
                    yield bare, value
