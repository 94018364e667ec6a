"""Lies planted in true replies: what the verifier is tested with, one change of one fact at a time."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dialoom.dataflow import Constant, Graph, walk
from dialoom.domains.calendar.clues import WEEKDAYS
from dialoom.domains.calendar.model import Event, World
from dialoom.domains.calendar.verifier import verify

KINDS = ("count", "existence", "verdict", "name", "subject", "place", "day", "time", "length")


@dataclass(frozen=True, slots=True)
class Lie:
    """A reply with one fact of this kind changed."""

    kind: str
    text: str


def lies(reply: str, graph: Graph, seed: int = 0) -> Iterator[Lie]:
    """Every kind of lie that the reply has a fact for. `graph` is the computation that it truly describes."""
    chance = random.Random(seed)  # noqa: S311 (not for secrets)
    world: World = graph.resource(World)
    texts = [str(n.value) for n in walk(graph.root) if isinstance(n, Constant) and isinstance(n.value, str)]
    plain = [(match.start(), match.end()) for match in re.finditer(r'"[^"]*"', reply)]
    yield from _numbers(reply)
    for kind, known in _facts(world).items():
        said = [text for text in known if re.search(rf"\b{re.escape(text)}\b", reply)]
        other = [text for text in known if text not in said and not _related(text, said, texts, world, kind)]
        if said and other:
            yield Lie(kind, reply.replace(max(said, key=len), chance.choice(other), 1))
    for match in re.finditer(rf"\b(?:{'|'.join(WEEKDAYS)}|tomorrow|yesterday)\b", reply):
        if not any(begin <= match.start() < end for begin, end in plain):
            word = {"tomorrow": "yesterday", "yesterday": "tomorrow"}.get(match[0])
            word = word or WEEKDAYS[(WEEKDAYS.index(match[0]) + chance.randrange(1, 7)) % 7]
            yield Lie("day", reply[: match.start()] + word + reply[match.end() :])
            break


def _numbers(reply: str) -> Iterator[Lie]:
    if match := re.search(r"\b(found|have) (one|\d+)\b(?= (?:other |matching )?events?)", reply):
        more = 2 if match[2] == "one" else int(match[2]) + 1
        yield Lie("count", f"{reply[: match.start(2)]}{more}{reply[match.end(2) :]}")
        verdict = re.match(r"(Yes|No)[,.] ", reply)
        yield Lie("existence", f"{verdict[0] if verdict else ''}I didn't find any events.")
    elif "didn't find any" in reply:
        yield Lie("existence", reply.replace("didn't find any", "found 3", 1))
    if match := re.match(r"(Yes|No)\b", reply):
        yield Lie("verdict", ("No" if match[0] == "Yes" else "Yes") + reply[match.end() :])
    if match := re.search(r"\b(\d{1,2}):\d\d\b", reply):
        yield Lie("time", f"{reply[: match.start()]}{match[1]}:07{reply[match.end() :]}")
    if match := re.search(r"\b(\d+)(?= minutes\b)", reply):
        yield Lie("length", f"{reply[: match.start()]}{int(match[1]) + 5}{reply[match.end() :]}")
    elif match := re.search(r"\b(half an hour|an hour and a half|an hour)\b", reply):
        yield Lie("length", f"{reply[: match.start()]}25 minutes{reply[match.end() :]}")


def _facts(world: World) -> dict[str, list[str]]:
    return {
        "name": [person.name for person in world.people],
        "subject": sorted({event.subject for event in world.events}),
        "place": sorted({event.location for event in world.events if event.location}),
    }


def _related(text: str, said: Sequence[str], texts: Sequence[str], world: World, kind: str) -> bool:
    """Whether the fact could be true of what the reply speaks of, or was named by the program itself."""
    if any(word.casefold() in text.casefold() for named in texts for word in named.split()):
        return True
    if kind != "name":
        return False
    near = [event for event in world.events if any(item in _people(event) for item in said)]
    return text in world.managers.values() or any(text in _people(event) for event in near)


def _people(event: Event) -> set[str]:
    organizer = {event.organizer.name} if event.organizer else set()
    return organizer | {attendee.recipient.name for attendee in event.attendees}


def caught(lie: Lie, graph: Graph) -> bool:
    """Whether the verifier finds a false claim in it."""
    return any(not claim.true for claim in verify(lie.text, graph))
