"""What a model answers, made into what the agent says."""

from __future__ import annotations

import re
from collections.abc import Sequence

RULES = (
    "Where a line carries the open utterance's id and the agent's name, what is before it is dropped.",
    "Ids and names of the agent in front of the text are removed, as often as they stand there (S-ICL sec. 3.2).",
    "The text ends before the next line that starts with an id or a speaker's name and a colon.",
    "Quotation marks around the whole text are removed, and white space becomes single spaces.",
)
"""What `cleaned` does, in order."""

_ID = r"\[?\d{1,4}\]?[.):]?\s+"


def cleaned(answer: str, *, agent: str, others: Sequence[str] = (), number: int | None = None) -> str:
    """The agent's reply inside `answer`, by the rules in `RULES`.

    `agent` is the agent's name in the prompt (`Teacher`), `others` the other speakers', `number` the id of the
    utterance that was left open. Cleaning a clean reply changes nothing. A reply may come out empty.
    """
    name = f"(?:{re.escape(agent)}|assistant)"
    if number is not None:
        opened = re.search(rf"^\s*\[?{number}\]?[.):]?\s+{name}\s*:", answer, re.IGNORECASE | re.MULTILINE)
        answer = answer[opened.end() :] if opened else answer
    speaker = "|".join([name, *map(re.escape, others)])
    lead = re.compile(rf"\s*(?:(?:{_ID})?{name}\s*:\s*)+", re.IGNORECASE)
    turn = re.compile(rf"\n\s*(?:(?:{_ID})?(?:{speaker})\s*:|{_ID}(?:{speaker})\b)", re.IGNORECASE)
    while True:
        before = answer
        answer = lead.sub("", answer, count=1) if lead.match(answer) else answer
        answer = " ".join(turn.split(answer, maxsplit=1)[0].split())
        if len(answer) > 1 and answer[0] == answer[-1] and answer[0] in "\"'" and answer[0] not in answer[1:-1]:
            answer = answer[1:-1].strip()
        if answer == before:
            return answer
