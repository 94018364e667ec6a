"""Tag sequences as flat arrays: what tree building works on, filled from a stream of any length."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dialoom.automata.automaton import symbol
from dialoom.automata.symbols import TagSequence
from dialoom.errors import NothingToLearn, UsageError

Ints = NDArray[np.int64]
"""A vector of int64."""

Ids = NDArray[np.int32]
"""A vector of int32."""

ROLE_LETTERS = {"user": "u", "system": "s", "tool": "t"}


@dataclass(frozen=True, slots=True)
class Encoded:
    """Psi of DFA-RAG sec. 3.2.2: tag sets by dialogue and round; dialogues in order of id, symbols of spelling.

    Dialogue d has the rounds `round_offsets[d] : round_offsets[d + 1]`; round k has the tags
    `tags[tag_offsets[k] : tag_offsets[k + 1]]`, indices into `symbols`, each once. `roles[d]` has a letter a round
    (u, s, t, or ? for any other role).
    """

    dialogues: tuple[str, ...]
    roles: tuple[str, ...]
    symbols: tuple[str, ...]
    round_offsets: Ints
    tag_offsets: Ints
    tags: Ids


def encode(sequences: Iterable[TagSequence]) -> Encoded:
    """Read a stream once, keeping only integers. The order of the stream does not matter.

    Raises `NothingToLearn` for an empty stream and `UsageError` for two dialogues of one id.
    """
    ids: list[str] = []
    roles: list[str] = []
    names: dict[tuple[str, str], int] = {}
    patterns: dict[str, str] = {}
    rounds_each, tags_each, tags = array("q"), array("q"), array("i")
    for sequence in sequences:
        letters = ""
        for role, spoken, _ in sequence.rounds:
            letters += ROLE_LETTERS.get(role, "?")
            distinct = spoken if len(spoken) < 2 else dict.fromkeys(spoken)
            for tag in distinct:
                tags.append(names.setdefault((role, tag), len(names)))
            tags_each.append(len(distinct))
        ids.append(sequence.id)
        roles.append(patterns.setdefault(letters, letters))
        rounds_each.append(len(sequence.rounds))
    if not ids:
        raise NothingToLearn("There is no dialogue to learn from.")
    return _ordered(ids, roles, names, _vector(rounds_each), _vector(tags_each), np.frombuffer(tags, dtype=np.int32))


def slices(starts: Ints, lengths: Ints) -> Ints:
    """The indices of many slices, one after the other."""
    ends = np.cumsum(lengths)
    places: Ints = np.arange(int(lengths.sum()), dtype=np.int64)
    places += np.repeat(starts - (ends - lengths), lengths)
    return places


def offsets(lengths: Ints) -> Ints:
    """Where each of many consecutive runs starts, and where the last one ends."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths, dtype=np.int64)))


def _vector(values: array[int]) -> Ints:
    return np.frombuffer(values, dtype=np.int64) if values else np.zeros(0, dtype=np.int64)


def _ordered(
    ids: list[str], roles: list[str], names: dict[tuple[str, str], int], rounds: Ints, sizes: Ints, tags: Ids
) -> Encoded:
    order = sorted(range(len(ids)), key=ids.__getitem__)
    for left, right in pairwise(order):
        if ids[left] == ids[right]:
            raise UsageError(f"Two dialogues have the id '{ids[left]}'.", hint="Give every dialogue an id of its own.")
    spelled = [symbol(role, tag) for role, tag in names]
    ranking = sorted(range(len(spelled)), key=spelled.__getitem__)
    rank = np.empty(len(spelled), dtype=np.int32)
    rank[ranking] = np.arange(len(spelled), dtype=np.int32)
    by_id = np.asarray(order, dtype=np.int64)
    picked = slices(offsets(rounds)[:-1][by_id], rounds[by_id])
    return Encoded(
        dialogues=tuple(ids[i] for i in order),
        roles=tuple(roles[i] for i in order),
        symbols=tuple(spelled[i] for i in ranking),
        round_offsets=offsets(rounds[by_id]),
        tag_offsets=offsets(sizes[picked]),
        tags=rank[tags[slices(offsets(sizes)[:-1][picked], sizes[picked])]] if len(tags) else tags,
    )
