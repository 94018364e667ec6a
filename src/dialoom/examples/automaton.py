"""Examples from where a conversation stands in an automaton (DFA-RAG sec. 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dialoom.dialogue import Dialogue
from dialoom.examples.base import Example
from dialoom.examples.context import chance
from dialoom.examples.ranking import Ranker, best
from dialoom.examples.turns import TurnIndex

Candidates = Callable[[Dialogue], Iterable[tuple[str, int]]]
"""Past system turns that continue a conversation: (dialogue id, index of the utterance) pairs, none if unknown."""


class AutomatonSelector:
    """Examples out of I(q), the turns that passed through the state reached.

    `candidates` says which turns these are, so that nothing here knows how states are found. With a `ranker` the most
    similar come first; without one `n` dialogues are drawn at random, as the paper does (app. D), fixed by `seed`.
    """

    def __init__(
        self, index: TurnIndex, candidates: Candidates, *, ranker: Ranker | None = None, seed: int = 0
    ) -> None:
        self.index = index
        self.candidates = candidates
        self.ranker = ranker
        self.seed = seed

    def select(self, context: Dialogue, n: int = 5) -> list[Example]:
        """At most `n` candidates; none when the automaton offers none.

        Raises `UsageError` when a candidate is not a system turn of the index.
        """
        turns = self.index.at(self.candidates(context))
        if self.ranker is not None:
            scores = self.ranker.scores(context, turns)
            return best(self.index, scores, n, f"nearest of {len(turns)} turns of the state", turns)
        drawn: dict[int, int] = {}
        for turn in chance(self.seed, context).permutation(turns):
            if len(drawn) >= n:
                break
            drawn.setdefault(int(self.index.dialogue_of[turn]), int(turn))
        reason = f"drawn from {len(turns)} turns of the state"
        return [self.index.example(turn, 0.0, reason) for turn in drawn.values()]
