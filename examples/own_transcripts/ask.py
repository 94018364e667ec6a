"""Answers a line from your own transcripts: python examples/own_transcripts/ask.py "I need to move my appointment"."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from dialoom import Dialogue, Role, Utterance
from dialoom.examples import Selectors, TurnIndex

SPEAKERS = {"patient": Role.USER, "agent": Role.SYSTEM}


def read(path: Path) -> Iterator[Dialogue]:
    """One dialogue per value of `call`, its rows in the order of the file."""
    with path.open(encoding="utf-8", newline="") as file:
        for call, rows in groupby(csv.DictReader(file), key=lambda row: row["call"]):
            yield Dialogue(call, tuple(Utterance(SPEAKERS[row["who"]], row["said"]) for row in rows))


def main(*lines: str) -> None:
    """Prints the three past calls whose situation is most like ours, and what was said next in each."""
    index = TurnIndex.build(read(Path(__file__).with_name("clinic.csv")))
    said = tuple(Utterance((Role.USER, Role.SYSTEM)[place % 2], line) for place, line in enumerate(lines))
    for example in Selectors(index).open("bm25").select(Dialogue("now", said), 3):
        print(f"{example.score:6.2f}  call {example.dialogue.id}: {example.reply_text}")


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["Hello, I have to move my appointment to another day."]))
