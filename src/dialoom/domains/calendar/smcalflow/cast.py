"""Who is in a proposed world: people a program names, by the fuller names a reply gives them, and their managers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialoom.dataflow import Call, Computation, Constant, walk
from dialoom.domains.calendar.clues import Clues
from dialoom.domains.calendar.model import DayOfWeek, Recipient, World
from dialoom.domains.calendar.times import MONTHS


def names_of(root: Computation) -> Iterator[Constant]:
    """The names of people in a program."""
    for node in walk(root):
        match node:
            case Call("PersonName.apply", (Constant() as name,)):
                yield name


_PEOPLE = re.compile(
    r"(?:with|without|attendees[^:]*:|named|^(?:Yes|No)[,.]|^|Unfortunately,|, and|,| and| or(?: with)?)"
    r" ?([A-Z][\w'.-]*(?: [A-Z][\w'-]*)*)"
)
_NO_NAMES = {
    *{"Yes", "No", "Here", "The", "I", "It", "Unfortunately", "You", "Your", "There", "Looks", "It's", "That"},
    *{day.value for day in DayOfWeek},
    *MONTHS,
}


def populate(world: World, root: Computation, clues: Clues) -> None:
    """People whose names the program asks for, by the fuller names that the reply gives them, and their managers."""
    plain = re.sub(r'"[^"]*"', '"_"', clues.text)
    full: dict[str, str] = {}
    for node in names_of(root):
        name = node.value
        match = re.search(rf"\b(?:[A-Z][\w'-]* )?(?i:{re.escape(name)})(?: [A-Z][\w'-]*)*", plain)
        full[name] = match[0] if match and match[0].split()[0] not in _NO_NAMES else name
    known = " ".join(full.values()).casefold()
    others = [name for name in _PEOPLE.findall(plain) if name.split()[0] not in _NO_NAMES]
    others = [name for name in others if name.casefold() not in known]
    several = re.search(r"I found (\d+) different people", plain)
    if "anyone named" in plain:
        missing = re.search(r"anyone named \"?(.+?)\"? in your", clues.text)
        gone = missing[1] if missing else ""
        world.people = [Recipient(name) for name in full.values() if name.casefold() != gone.casefold()]
    elif several:
        world.people = [Recipient(f"{name} {n}") for name in full or ["Ann"] for n in range(int(several[1]))]
        world.salient_person = None
    else:
        world.people = [Recipient(name) for name in dict.fromkeys([*full.values(), *others])]
    world.salient_person = Recipient(others[0]) if others else world.salient_person
    if "could not find" in plain:
        world.managers = {}
    elif others:
        members = dict.fromkeys(("you", *full.values(), *others[1:]), others[0])
        teams = any(isinstance(node, Call) and node.function == "FindTeamOf" for node in walk(root))
        world.managers = {"you": "boss", **dict.fromkeys((*full.values(), *others), "boss")} if teams else members
