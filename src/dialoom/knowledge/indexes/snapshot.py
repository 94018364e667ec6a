"""What one revision of an index answers from; never changed, only followed by the next one."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dialoom.encoders.base import Encoder
from dialoom.knowledge.indexes.dense import DenseIndex
from dialoom.knowledge.indexes.lexical import LexicalIndex
from dialoom.knowledge.indexes.passages import Rows, StoreUpdate


@dataclass(frozen=True)
class Snapshot:
    """The passages of one `revision` by position: their `rows` in the store, ascending, and their owners.

    `owners` numbers each passage's owner in `names`, 0 for everyone's; None where nothing is owned. `linked` says
    whether any passage hangs from another.
    """

    revision: int
    rows: Rows
    owners: NDArray[np.int32] | None
    names: dict[str, int]
    linked: bool
    lexical: LexicalIndex | None
    dense: DenseIndex | None

    def allowed(self, owner: str) -> NDArray[np.bool_] | None:
        """Where everyone's and `owner`'s passages are; None for everywhere."""
        if self.owners is None:
            return None
        mask: NDArray[np.bool_] = self.owners == 0
        if owner in self.names:
            mask |= self.owners == self.names[owner]
        return mask

    def following(
        self, revision: int, store: StoreUpdate, encoder: Encoder | None, hnsw_from: int, folder: Path | None
    ) -> Snapshot:
        """The snapshot of what `store` holds now; what did not change is taken over, not split or encoded again."""
        rows = store.rows()
        new = rows[~np.isin(rows, self.rows, assume_unique=True)]
        lexical, dense = self.lexical, self.dense
        if lexical is not None:
            lexical = lexical.changed(np.isin(self.rows, rows, assume_unique=True), store.texts(new))
        if dense is not None and encoder is not None:
            place = folder / "dense" if folder is not None else None
            dense = dense.changed(rows, store.texts(new), encoder, hnsw_from=hnsw_from, folder=place)
        owners, names = _owners(rows, store)
        return Snapshot(revision, rows, owners, names, store.has_links, lexical, dense)

    def save(self, folder: Path) -> None:
        """Write all of it into `folder`, down to the disk."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "rows.npy", self.rows)
        if self.owners is not None:
            np.save(folder / "owners.npy", self.owners)
        about = {"names": self.names, "linked": self.linked}
        (folder / "about.json").write_text(json.dumps(about), encoding="utf-8")
        if self.lexical is not None:
            self.lexical.save(folder / "bm25")
        if self.dense is not None:
            self.dense.save(folder / "dense")
        for path in folder.rglob("*"):
            if path.is_file():
                with path.open("rb+") as file:
                    os.fsync(file.fileno())

    @classmethod
    def load(cls, revision: int, folder: Path) -> Snapshot:
        """Memory-map what `save` wrote. Raises what numpy and JSON raise for anything else."""
        about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
        rows = np.load(folder / "rows.npy")
        owners = np.load(folder / "owners.npy") if (folder / "owners.npy").exists() else None
        lexical = LexicalIndex.load(folder / "bm25") if (folder / "bm25").exists() else None
        dense = DenseIndex.load(rows, folder / "dense") if (folder / "dense").exists() else None
        return cls(revision, rows, owners, dict(about["names"]), bool(about["linked"]), lexical, dense)


def empty_snapshot(*, lexical: bool, dimension: int) -> Snapshot:
    """A snapshot of nothing, with the indexes that later ones shall have; `dimension` 0 for no vectors."""
    rows = np.zeros(0, dtype=np.int64)
    words = LexicalIndex.build(()) if lexical else None
    dense = DenseIndex.empty(dimension) if dimension else None
    return Snapshot(0, rows, None, {}, False, words, dense)


def _owners(rows: Rows, store: StoreUpdate) -> tuple[NDArray[np.int32] | None, dict[str, int]]:
    owned = store.owners()
    if not owned:
        return None, {}
    names: dict[str, int] = {}
    owners = np.zeros(len(rows), dtype=np.int32)
    places = np.searchsorted(rows, np.fromiter(owned, dtype=np.int64))
    owners[places] = [names.setdefault(owner, len(names) + 1) for owner in owned.values()]
    return owners, names
