"""What a predictor knows of a conversation so far: features made of symbols alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dialoom.automata.symbols import Round

USER, SYSTEM, TOOL = "user", "system", "tool"
LONG = 12  # system turns are counted up to this many


class History:
    """The rounds so far, folded into what features need; one `push` a round.

    Features: the last three system tags, the set of system tags done, the user's last tag, the words of the current
    user turn, of earlier ones and of the last system turn, tool results since the last system turn and before, and
    whose round was last. Each group is scaled so that a long text does not outweigh a short one.
    """

    def __init__(self) -> None:
        self.last_role = ""
        self._system: tuple[str, ...] = ()
        self._done: frozenset[str] = frozenset()
        self._system_words: tuple[str, ...] = ()
        self._user_tag = ""
        self._new: frozenset[str] = frozenset()
        self._old: frozenset[str] = frozenset()
        self._tools: tuple[str, ...] = ()
        self._tools_done: frozenset[str] = frozenset()

    def pushed(self, said: Round) -> History:
        """The history one round later; this one stays as it is."""
        later = History.__new__(History)
        later.__dict__.update(self.__dict__)
        later._push(said)
        return later

    def _push(self, said: Round) -> None:
        self.last_role = said.role
        tag = primary(said)
        if said.role == SYSTEM:
            self._system = (*self._system, tag)[-LONG:]
            self._done |= {tag}
            self._system_words = tuple(dict.fromkeys(said.words))
            self._old |= self._new
            self._new = frozenset()
            self._user_tag = ""
            self._tools = ()
        elif said.role == TOOL:
            self._tools = (*self._tools, tag)
            self._tools_done |= {tag}
        else:
            self._user_tag = tag
            self._new |= frozenset(said.words)

    def features(self) -> Iterator[tuple[str, float]]:
        """(name, weight) pairs, each name once."""
        first, second, third = (*reversed(self._system[-3:]), "", "", "")[:3]
        yield f"s1={first}", 1.0
        yield f"s2={second}", 1.0
        yield f"s12={first}|{second}", 1.0
        yield f"s3={third}", 0.5
        yield f"turns={len(self._system)}", 1.0
        yield f"last={self.last_role}", 1.0
        if self.last_role == SYSTEM:
            yield f"said={first}", 1.0
        for tag in self._done:
            yield f"done={tag}", 1.0
        if self._user_tag:
            yield f"u={self._user_tag}", 1.0
            yield f"us={self._user_tag}|{first}", 1.0
        yield from _scaled("uw=", self._new, 1.5)
        yield from _scaled("pw=", self._old, 1.0)
        yield from _scaled("sw=", self._system_words, 1.0)
        if self._tools:
            yield f"t1={self._tools[-1]}", 2.0
            yield f"ts={self._tools[-1]}|{first}", 1.0
            for tag in dict.fromkeys(self._tools):
                yield f"t={tag}", 1.0
        for tag in self._tools_done:
            yield f"td={tag}", 1.0


def primary(said: Round) -> str:
    """The tag a round moves by: its first, or "" when it has none."""
    return said.tags[0] if said.tags else ""


def _scaled(prefix: str, found: Iterable[str], weight: float) -> Iterator[tuple[str, float]]:
    several = list(found)
    each = weight / max(1, len(several)) ** 0.25
    return ((prefix + word, each) for word in several)


class FeatureIndex:
    """Numbers for feature names, and sparse rows of them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._number = {name: number for number, name in enumerate(self.names)}

    @classmethod
    def fit(cls, histories: Iterable[History], *, at_least: int = 2, limit: int = 30_000) -> Self:
        """The `limit` most frequent features seen at least `at_least` times."""
        counts: dict[str, int] = {}
        for history in histories:
            for name, _ in history.features():
                counts[name] = counts.get(name, 0) + 1
        kept = sorted((n for n, c in counts.items() if c >= at_least), key=lambda n: (-counts[n], n))[:limit]
        return cls(sorted(kept))

    def __len__(self) -> int:
        return len(self.names)

    def row(self, history: History) -> tuple[list[int], list[float]]:
        """Feature numbers, ascending, and weights of one history."""
        number = self._number
        found = sorted((number[name], weight) for name, weight in history.features() if name in number)
        return [i for i, _ in found], [weight for _, weight in found]

    def matrix(self, histories: Iterable[History]) -> sparse.csr_array:
        """`row` of many: shape (histories, features), float32."""
        numbers: list[int] = []
        weights: list[float] = []
        starts = [0]
        for history in histories:
            some, weighed = self.row(history)
            numbers += some
            weights += weighed
            starts.append(len(numbers))
        values: NDArray[np.float32] = np.asarray(weights, dtype=np.float32)
        shape = (len(starts) - 1, len(self.names))
        return sparse.csr_array((values, np.asarray(numbers, dtype=np.int32), np.asarray(starts)), shape=shape)
