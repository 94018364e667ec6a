"""Every system turn of a corpus, with the dialogue it belongs to: what selectors choose from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from dialoom.dialogue import Dialogue, Role, Utterance, as_json
from dialoom.errors import InvalidFile, UsageError
from dialoom.examples.base import Example
from dialoom.files import Parts, pack_array, pack_json, unpack_array, unpack_json

STRIDE = 1 << 20  # more utterances than one dialogue can have


class TurnIndex:
    """System turns numbered 0..n-1 in corpus order; a turn's context is what precedes it in its dialogue.

    Dialogues are kept as lines of JSON in one block of bytes and decoded when asked for, which takes about half the
    memory of live values and no time to load. An index is never changed after it is built.
    """

    def __init__(self, ids: tuple[str, ...], lines: bytes, starts: NDArray[np.int64], turns: NDArray[np.int32]) -> None:
        """`starts` (dialogues + 1) slices `lines`; `turns` has a row (dialogue, index of the utterance) per turn."""
        self.ids = ids
        self.dialogue_of: NDArray[np.int32] = np.ascontiguousarray(turns[:, 0])
        self.reply_of: NDArray[np.int32] = np.ascontiguousarray(turns[:, 1])
        self._lines = lines
        self._starts = starts
        self._places = self.dialogue_of.astype(np.int64) * STRIDE + self.reply_of
        self._number = {id_: number for number, id_ in enumerate(ids)}

    @classmethod
    def build(cls, dialogues: Iterable[Dialogue]) -> TurnIndex:
        """The index of a corpus, read once. Raises `UsageError` when two dialogues have the same id."""
        numbers: dict[str, int] = {}
        lines = bytearray()
        starts = [0]
        turns: list[int] = []
        for number, dialogue in enumerate(dialogues):
            if numbers.setdefault(dialogue.id, number) != number:
                raise UsageError(
                    f"Two dialogues have the id '{dialogue.id}'.", hint="Give every dialogue of a corpus its own id."
                )
            for place, utterance in enumerate(dialogue.utterances):
                if utterance.role is Role.SYSTEM:
                    turns += (number, place)
            lines += _to_line(dialogue)
            starts.append(len(lines))
        pairs = np.asarray(turns, dtype=np.int32).reshape(-1, 2)
        return cls(tuple(numbers), bytes(lines), np.asarray(starts, dtype=np.int64), pairs)

    def __len__(self) -> int:
        """How many system turns there are."""
        return len(self.reply_of)

    def dialogue(self, number: int) -> Dialogue:
        """The dialogue with this number (0-based, in corpus order)."""
        return _from_line(self._lines[self._starts[number] : self._starts[number + 1]])

    def dialogues(self) -> Iterator[Dialogue]:
        """Every dialogue, in corpus order, decoded as it comes."""
        return map(self.dialogue, range(len(self.ids)))

    def example(self, turn: int, score: float, reason: str) -> Example:
        """System turn `turn` as an example. Raises `InvalidFile` when a damaged index has none there."""
        dialogue, reply = self.dialogue(int(self.dialogue_of[turn])), int(self.reply_of[turn])
        if reply >= len(dialogue) or dialogue.utterances[reply].role is not Role.SYSTEM:
            raise InvalidFile("turns.npy", f"utterance {reply} of dialogue '{dialogue.id}' is not a system turn.")
        return Example(dialogue, reply, score, reason)

    def at(self, places: Iterable[tuple[str, int]]) -> NDArray[np.int64]:
        """The turns at (dialogue id, index of the utterance) pairs, ascending, each once.

        Raises `UsageError` for a place that is no system turn of this index: then the places come from another corpus.
        """
        asked = list(places)
        try:
            keys = np.fromiter((self._number[id_] * STRIDE + place for id_, place in asked), np.int64, len(asked))
        except KeyError as error:
            raise UsageError(
                f"The index holds no dialogue '{error.args[0]}'.", hint="Build both from the same transcripts."
            ) from None
        found = np.searchsorted(self._places, keys)
        known = found < len(self._places)
        known[known] = self._places[found[known]] == keys[known]
        if not known.all():
            id_, place = asked[int(np.flatnonzero(~known)[0])]
            raise UsageError(
                f"Utterance {place} of dialogue '{id_}' is not a system turn.",
                hint="Build both from the same transcripts.",
            )
        return np.unique(found)

    def to_parts(self) -> dict[str, bytes]:
        """The index as named entries; dialogues are JSON lines."""
        return {
            "dialogues.jsonl": self._lines,
            "starts.npy": pack_array(self._starts),
            "turns.npy": pack_array(np.stack([self.dialogue_of, self.reply_of], axis=1)),
            "ids.json": pack_json(list(self.ids)),
        }

    @classmethod
    def from_parts(cls, parts: Parts) -> TurnIndex:
        """The index that `to_parts` saved. Raises `InvalidFile` for entries that do not fit together."""
        lines = parts.get("dialogues.jsonl")
        if lines is None:
            raise InvalidFile("dialogues.jsonl", "this entry is missing.")
        ids = unpack_json(parts, "ids.json")
        starts = unpack_array(parts, "starts.npy")
        turns = unpack_array(parts, "turns.npy")
        if not isinstance(ids, list) or not all(isinstance(id_, str) for id_ in ids):
            raise InvalidFile("ids.json", "not a list of dialogue ids.")
        if starts.shape != (len(ids) + 1,) or starts[0] != 0 or starts[-1] != len(lines) or (np.diff(starts) < 1).any():
            raise InvalidFile("starts.npy", "does not slice dialogues.jsonl into one line per dialogue.")
        if turns.ndim != 2 or turns.shape[1] != 2 or (turns < 0).any() or (turns >= (len(ids), STRIDE)).any():
            raise InvalidFile("turns.npy", "not (dialogue, utterance) pairs of these dialogues.")
        if (np.diff(turns[:, 0].astype(np.int64) * STRIDE + turns[:, 1]) < 1).any():
            raise InvalidFile("turns.npy", "is not in the order of the corpus.")
        return cls(tuple(ids), lines, starts.astype(np.int64), turns.astype(np.int32))


def _to_line(dialogue: Dialogue) -> bytes:
    line = json.dumps(as_json(dialogue), ensure_ascii=False, separators=(",", ":"), default=_plain)
    return line.encode("utf-8") + b"\n"


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise UsageError(f"Annotations hold a {type(value).__name__}, which is not data.", hint="Use JSON values.")


def _from_line(line: bytes) -> Dialogue:
    try:
        record = json.loads(line)
        utterances = tuple(
            Utterance(
                role=Role(row["role"]),
                text=row["text"],
                tags=tuple(row.get("tags", ())),
                action=row.get("action"),
                annotations=row.get("annotations", {}),
            )
            for row in record["utterances"]
        )
        return Dialogue(record["id"], utterances, record.get("metadata", {}))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidFile("dialogues.jsonl", f"a line is no dialogue ({error}).") from error
