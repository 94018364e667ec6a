"""What is measured: grammars of four sizes from one set of rules, a chain of sums, and a clock."""

from __future__ import annotations

import gc
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dialoom.dataflow import Call, Graph, Library, from_lispress
from dialoom.generation import Grammar, Rules, transduce

WANTED = (10, 100, 1000, 5000)
# Names that are prefixes of one another, and text that looks like grammar, markup or the end of a turn.
PEOPLE = (
    "Tara",
    "Tara Smith",
    "Tara Smith-Jones",
    'Bo "the boss" Hale',
    "x<|im_end|>y",
    "n0: \"a\" | 'b'",
    "Zoë 🎉",
    "שלום",
)
TITLES = ("sync", "sync with\nthe team", "budget", "budget - final", "C:\\plans {draft}", "1:1", "review")
PLACES = ("Room 1", "Room 12", "Room 12 B", "the café", "")


@dataclass(frozen=True)
class Event:
    title: str
    who: str
    place: str
    hour: int
    plain: bool


library = Library()
library.name_type(Event, "Event")
rules = Rules()


@library.function
def event(number: int, seed: int, plain: bool) -> Event:
    chance = random.Random(f"{number} {seed}")
    title = f"{chance.choice(TITLES)} {number}" if number > 6 else TITLES[number]
    return Event(title, chance.choice(PEOPLE), chance.choice(PLACES), chance.randrange(1, 12), plain)


@library.function
def events(*items: Event) -> list[Event]:
    return list(items)


@rules.rule("S", "I found {<n>} {plural <n> event|events}: {LIST <all>}.")
def found(node: Any, graph: Graph) -> dict[str, Any] | None:
    value = graph.value(node)
    return {"n": len(value), "all": node} if isinstance(value, list) else None


@rules.rule("LIST", "{ONE <all>}", "{ONE <all>} and {LIST <all>}")
def listed(node: Any, graph: Graph) -> dict[str, Any] | None:
    return {"all": node} if not graph.value(node)[0].plain else None


@rules.rule("LIST", "{ONE <all>}")
def one(node: Any, graph: Graph) -> dict[str, Any] | None:
    return {"all": node} if graph.value(node)[0].plain else None


def _choice_of(place: int) -> None:
    def body(node: Any, _: Graph) -> dict[str, Any] | None:
        return {"e": node.arguments[place]} if isinstance(node, Call) and place < len(node.arguments) else None

    rules.add("ONE", ("{EVENT <e>}",), body, name=f"event {place}", place="made in a loop")


for _place in range(400):
    _choice_of(_place)


@rules.rule("EVENT", "the {TITLE <e>}[ meeting| event|] {WHEN <e>}")
def brief(node: Any, graph: Graph) -> dict[str, Any] | None:
    return {"e": node} if graph.value(node).plain else None


@rules.rule(
    "EVENT", "[the|your|a] {TITLE <e>}[ meeting| event|][{WITH <e>}][{WHERE <e>}] {WHEN <e>}", "{TITLE <e>}[{WITH <e>}]"
)
def full(node: Any, graph: Graph) -> dict[str, Any] | None:
    return None if graph.value(node).plain else {"e": node}


@rules.rule("TITLE", '"{<title>}"')
def title(node: Any, graph: Graph) -> dict[str, Any]:
    return {"title": graph.value(node).title}


@rules.rule("TITLE", "{<title>}")
def bare(node: Any, graph: Graph) -> dict[str, Any] | None:
    return None if graph.value(node).plain else {"title": graph.value(node).title}


@rules.rule("WITH", " with {<who>}", " and {<who>}")
def company(node: Any, graph: Graph) -> dict[str, Any]:
    return {"who": graph.value(node).who}


@rules.rule("WHERE", " [at|in] {<place>}", " ({<place>})")
def where(node: Any, graph: Graph) -> dict[str, Any] | None:
    return {"place": graph.value(node).place} if graph.value(node).place else None


@rules.rule("WHEN", "at {<hour>}", "at {<hour>} PM")
def when(node: Any, graph: Graph) -> dict[str, Any]:
    return {"hour": graph.value(node).hour}


@rules.rule("WHEN", "at {<hour>}:30", "at {<hour>}:30 PM", "[early|late] in the afternoon")
def when_else(node: Any, graph: Graph) -> dict[str, Any] | None:
    return None if graph.value(node).plain else {"hour": graph.value(node).hour}


def program(n: int, *, seed: int = 0, plain: bool = False) -> str:
    items = " ".join(f"(event {number}L {seed}L {str(plain).lower()})" for number in range(n))
    return f"(events {items})"


def graph_of(wanted: int, seed: int = 0) -> Graph:
    """A computation whose grammar has about as many productions as wanted."""
    count = {10: 1, 100: 4, 1000: 34, 5000: 173}[wanted]
    return Graph(from_lispress(program(count, seed=seed, plain=wanted == 10), library), library)


def grammar_of(wanted: int, seed: int = 0) -> Grammar:
    return transduce(graph_of(wanted, seed), rules)


# A chain of sums: one nonterminal in another, as deep as the computation.

sums = Library()
sum_rules = Rules()


@sums.function
def add(x: int, y: int) -> int:
    return x + y


@sum_rules.rule("S", "It is {NP <n>}.")
def answer(node: Any, _: Graph) -> dict[str, Any]:
    return {"n": node}


@sum_rules.rule("NP", "{<n>}")
def number(node: Any, _: Graph) -> dict[str, Any]:
    return {"n": node}


@sum_rules.rule("NP", "the sum of {NP <x>} and {NP <y>}", "{NP <x>} plus {NP <y>}")
def part(node: Any, _: Graph) -> dict[str, Any] | None:
    match node:
        case Call("add", (x, y)):
            return {"x": x, "y": y}
    return None


def chain_of(n: int) -> Graph:
    return Graph(from_lispress("".join(f"(add {i}L " for i in range(n)) + "0L" + ")" * n, sums), sums)


# Time


def median_ms(work: Callable[[], Any], repeats: int = 7) -> float:
    return interleaved([work], repeats)[0]


def interleaved(works: Sequence[Callable[[], Any]], repeats: int = 7) -> list[float]:
    """Median milliseconds of processor time of each piece of work, taken in turn: other jobs bear on all alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(repeats):
        for work, found in zip(works, times, strict=True):
            gc.collect()
            gc.disable()
            began = time.process_time()
            work()
            found.append(1000 * (time.process_time() - began))
            gc.enable()
    return [statistics.median(found) for found in times]


def verdict(good: bool) -> str:
    return "met" if good else "MISSED"


def row(name: str, value: str, aim: str, good: bool | None = None) -> None:
    """One line: what, how much, what was aimed for, whether it was reached."""
    mark = "" if good is None else f"  {verdict(good)}"
    print(f"  {name:<60} {value:>28}   {aim}{mark}", flush=True)
