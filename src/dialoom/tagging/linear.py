"""One role's tag vocabulary as a linear map from terms to tags: how new text is tagged in microseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dialoom.encoders.terms import TermSpace
from dialoom.errors import InvalidFile
from dialoom.files import Parts, pack_array, pack_json, unpack_array, unpack_json

OTHER = "other"
REMEMBERED = 20_000  # skeletons whose tags are kept
SECOND = 0.75  # a further tag must score at least this share of the best one


class LinearTags:
    """Scores every tag by a weighted sum over a text's terms and takes the best."""

    def __init__(
        self, space: TermSpace, weights: NDArray[np.float32], names: Sequence[str], *, floor: float, most: int
    ) -> None:
        """`weights` (terms x tags); a text whose best score is below `floor` is `OTHER`; `most` tags a text."""
        self.space = space
        self.weights = np.ascontiguousarray(weights, dtype=np.float32)
        self.names = tuple(names)
        self.floor = floor
        self.most = most
        self._of_skeleton = lru_cache(REMEMBERED)(self._tags)

    def tags(self, text: str) -> tuple[str, ...]:
        """The tags of `text`, best first; `(OTHER,)` when nothing fits."""
        return self._of_skeleton(self.space.skeleton(text))

    def _tags(self, skeleton: tuple[str, ...]) -> tuple[str, ...]:
        terms, values = self.space.weigh(skeleton)
        if not terms or not self.names:
            return (OTHER,)
        scores = np.asarray(values, dtype=np.float32) @ self.weights[terms]
        best = int(scores.argmax())
        top = float(scores[best])
        if top < self.floor:
            return (OTHER,)
        if self.most == 1:
            return (self.names[best],)
        order = np.argsort(-scores, kind="stable")[: self.most]
        return tuple(self.names[i] for i in order if scores[i] >= max(self.floor, SECOND * top))

    def to_parts(self, prefix: str) -> dict[str, bytes]:
        """The map as named entries under `prefix`."""
        settings = {"names": list(self.names), "floor": self.floor, "most": self.most}
        own = {"tags.json": pack_json(settings), "tag_weights.npy": pack_array(self.weights.astype(np.float16))}
        return {prefix + name: part for name, part in {**self.space.to_parts(), **own}.items()}

    @classmethod
    def from_parts(cls, parts: Parts, prefix: str) -> LinearTags:
        """The map that `to_parts` saved. Raises `InvalidFile` for entries that do not fit together."""
        mine: Mapping[str, bytes] = {k.removeprefix(prefix): v for k, v in parts.items() if k.startswith(prefix)}
        space = TermSpace.from_parts(mine)
        saved = unpack_json(mine, "tags.json")
        weights = unpack_array(mine, "tag_weights.npy")
        try:
            names, floor, most = [str(name) for name in saved["names"]], float(saved["floor"]), int(saved["most"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{prefix}tags.json", f"not the tags of a role ({error}).") from error
        if weights.shape != (len(space), len(names)) or most < 1:
            raise InvalidFile(f"{prefix}tag_weights.npy", "does not hold one column for each tag.")
        return cls(space, weights, names, floor=floor, most=most)
