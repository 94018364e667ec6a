"""The corpus's own replies, each with a computation and a world in which it is true."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from dialoom.dataflow import Computation, Graph, from_lispress
from dialoom.domains.calendar import calendar_library, calendar_rules
from dialoom.domains.calendar.clues import normalised
from dialoom.domains.calendar.model import World
from dialoom.domains.calendar.smcalflow.bench import derivable
from dialoom.domains.calendar.smcalflow.turns import Turn
from dialoom.errors import DialoomError
from dialoom.generation import Grammar, transduce


@dataclass(frozen=True, slots=True)
class KnownReply:
    """A reply (quotation marks and spaces made regular) to the user's `words`, true of `root` in `world`."""

    words: str
    reply: str
    root: Computation
    world: World

    def graph(self) -> Graph:
        """The computation on its world, yet to be executed."""
        return Graph(self.root, calendar_library, [self.world])

    def grammar(self, graph: Graph) -> Grammar:
        """Every true reply about it."""
        return transduce(graph, calendar_rules)


def known_replies(turns: Iterable[Turn]) -> Iterator[KnownReply]:
    """The turns whose reply is derivable; the others are left out, because nobody knows what would be true there."""
    for turn in turns:
        try:
            root = from_lispress(turn.program, calendar_library)
        except DialoomError:
            continue
        found = derivable(root, turn.reply)
        if found is not None:
            yield KnownReply(turn.words, normalised(turn.reply), root, found[0])


def apart(turns: Sequence[Turn], share: float, seed: int = 0) -> tuple[list[Turn], list[Turn]]:
    """The turns without those of a random `share` of the dialogues, and those: no dialogue is in both."""
    dialogues = sorted({turn.dialogue for turn in turns})
    random.Random(seed).shuffle(dialogues)  # noqa: S311 - sampling
    chosen = set(dialogues[: round(share * len(dialogues))])
    return [turn for turn in turns if turn.dialogue not in chosen], [turn for turn in turns if turn.dialogue in chosen]
