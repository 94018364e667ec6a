"""What redaction misses on real transcripts, by the values that the data sets themselves mark.

    DIALOOM_DATA=... python -m benchmarks.redaction

Annotations and tool rounds are taken away first, so that only the texts can give a value away. STAR: the names that the
wizard typed into a query. MultiDoGO: slots; only customers' turns exist, so no question tells what an answer is.
With annotations kept, as readers give them, every marked value is taken out; that is printed too.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dialoom.corpora import open_corpus
from dialoom.corpora.redaction import redact
from dialoom.corpora.redaction.values import marked
from dialoom.dialogue import Dialogue, Role, Utterance

SETS = ("star/star-dev.zip", "multidogo")


def bare(dialogue: Dialogue) -> Dialogue:
    return Dialogue(
        dialogue.id, tuple(Utterance(u.role, u.text) for u in dialogue.utterances if u.role is not Role.TOOL)
    )


def mentions(dialogue: Dialogue, value: str) -> int:
    pattern = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    return sum(len(pattern.findall(u.text)) for u in dialogue.utterances if u.role is not Role.TOOL)


def rows(path: Path) -> Iterator[tuple[str, int, int, int]]:
    """Type, mentions, mentions left by the texts alone, mentions left with annotations."""
    said: Counter[str] = Counter()
    left: Counter[str] = Counter()
    known: Counter[str] = Counter()
    for dialogue in open_corpus(path):
        plain = bare(dialogue)
        alone, informed = redact(plain), redact(dialogue)
        for kind, value in set(marked(dialogue)):
            if len(value) > 2 and not value.isspace():
                said[kind] += mentions(plain, value)
                left[kind] += mentions(alone, value)
                known[kind] += mentions(informed, value)
    for kind in sorted(said):
        yield kind, said[kind], left[kind], known[kind]


def main() -> None:
    data = Path(os.environ["DIALOOM_DATA"])
    print("set        type        mentions  left (texts alone)  left (with annotations)")
    for name in SETS:
        for kind, said, left, known in rows(data / name):
            if said:
                print(
                    f"{name[:9]:<10} {kind:<10} {said:>9} {left:>9} {left / said:>8.1%}"
                    f" {known:>13} {known / said:>8.1%}"
                )


if __name__ == "__main__":
    main()
