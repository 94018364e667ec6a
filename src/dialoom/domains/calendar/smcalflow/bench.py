"""How much of the corpus's event queries can be read, executed, described and derived."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from dialoom.dataflow import Computation, Failure, Graph, from_lispress
from dialoom.domains.calendar import calendar_library, calendar_rules
from dialoom.domains.calendar.clues import Clues, normalised, read_clues
from dialoom.domains.calendar.model import CalendarError, World
from dialoom.domains.calendar.smcalflow.levels import LEVELS, level
from dialoom.domains.calendar.smcalflow.turns import Turn
from dialoom.domains.calendar.smcalflow.worlds import example_world, worlds
from dialoom.errors import DialoomError
from dialoom.generation import Grammar, Recogniser, transduce

WORLDS_FOR_LEVELS = 10


@dataclass(slots=True)
class Result:
    """What became of one turn. `problem` says why it went no further, `level` (0 to 5) how near its reply came."""

    turn: Turn
    parsed: bool = False
    executed: bool = False
    described: bool = False
    derived: bool = False
    level: int = 0
    problem: str = ""
    productions: int = 0
    milliseconds: dict[str, float] = field(default_factory=dict)


def examine(turn: Turn, *, worlds_tried: int = 400) -> Result:
    """Reads, executes and describes a program in an example world, then looks for a world that derives its reply."""
    result = Result(turn)
    try:
        clock = _Clock(result.milliseconds)
        root = from_lispress(turn.program, calendar_library)
        result.parsed = True
        clock.lap("parse")
        graph = Graph(root, calendar_library, [example_world(root)])
        clock.lap("world")
        outcome = graph.outcome(root)
        result.executed = not isinstance(outcome, Failure) or isinstance(outcome.error, CalendarError)
        clock.lap("execute")
        result.problem = "" if result.executed else str(outcome.error)
        grammar = transduce(graph, calendar_rules)
        clock.lap("transduce")
        result.described, result.productions = True, len(grammar.productions)
    except (DialoomError, ValueError) as error:
        result.problem = str(error)
        return result
    result.derived = derivable(root, turn.reply, limit=worlds_tried) is not None
    clock.lap("derive")
    result.level = 5 if result.derived else _level(root, normalised(turn.reply))
    return result


def derivable(root: Computation, reply: str, *, limit: int = 400) -> tuple[World, Grammar] | None:
    """A world in which the program's grammar holds the reply (with quotation marks and spaces made regular), if found.

    Level 5 of the definition of "derivable with open values": the world is built from the reply, the program is
    executed in it, and the exact recogniser decides.
    """
    text = normalised(reply)
    stopped = text if text[-1:] in ".:?!" else f"{text}."
    for world, grammar in _grammars(root, read_clues(text), limit):
        recogniser = Recogniser(grammar)
        if recogniser.accepts(text) or (stopped != text and recogniser.accepts(stopped)):
            return world, grammar
    return None


def _level(root: Computation, text: str) -> int:
    """Where no world agrees with the reply's days, its times, or either, worlds that leave them out are asked."""
    clues = read_clues(text)
    looser = (clues, replace(clues, days=()), replace(clues, times=()), replace(clues, days=(), times=()))
    grammars = (_grammars(root, some, WORLDS_FOR_LEVELS) for some in looser)
    return level(text, (grammar for found in grammars for _, grammar in found))


def _grammars(root: Computation, clues: Clues, limit: int) -> Iterator[tuple[World, Grammar]]:
    """What can be said in the worlds that a reply with these clues may speak of."""
    for world in worlds(root, clues, limit):
        with contextlib.suppress(DialoomError, ValueError, OverflowError):
            yield world, transduce(Graph(root, calendar_library, [world]), calendar_rules)


@dataclass(frozen=True, slots=True)
class Summary:
    """Shares of 1 over `turns` turns, median productions per grammar, median milliseconds per stage.

    `levels` are diagnostics: the share of replies that reach each level of `smcalflow.levels`.
    """

    turns: int
    parsed: float
    executed: float
    described: float
    derived: float
    levels: dict[int, float]
    productions: float
    milliseconds: dict[str, float]


def summarise(results: Iterable[Result]) -> Summary:
    """The figures over all results; zeros where there are none."""
    found = list(results)
    n = max(1, len(found))
    stages = ("parse", "world", "execute", "transduce", "derive")
    laps = {stage: [r.milliseconds[stage] for r in found if stage in r.milliseconds] for stage in stages}
    return Summary(
        turns=len(found),
        parsed=sum(r.parsed for r in found) / n,
        executed=sum(r.executed for r in found) / n,
        described=sum(r.described for r in found) / n,
        derived=sum(r.derived for r in found) / n,
        levels={number: sum(r.level >= number for r in found) / n for number in LEVELS},
        productions=statistics.median([r.productions for r in found if r.described] or [0]),
        milliseconds={stage: round(statistics.median(values), 3) for stage, values in laps.items() if values},
    )


class _Clock:
    def __init__(self, laps: dict[str, float]) -> None:
        self._laps = laps
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._laps[name] = 1000 * (now - self._last)
        self._last = now
