"""Groups of utterances that say the same: average linkage on a sample, a centroid per group for all the rest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from dialoom.encoders.terms import TermSpace

SPREADS = 0.5, 0.6, 0.7, 0.8, 0.85, 0.9
"""Cosine distances at which a linkage tree may be cut, the tightest first."""

COVERED = 0.8
"""The share of utterances that the groups kept must hold for a cut to be taken."""

Skeleton = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups, largest first: unit `centroids` (terms x groups), and the skeletons of each with their counts."""

    centroids: NDArray[np.float32]
    members: tuple[Mapping[Skeleton, int], ...]
    spread: float


def group(
    space: TermSpace, counts: Mapping[Skeleton, int], *, most: int, at_least: int = 3, sample: int = 4000
) -> Groups:
    """Group the `sample` most frequent skeletons by average linkage of their cosine distances.

    The tree is cut at the tightest of `SPREADS` at which at most `most` groups of at least `at_least` utterances
    hold the share `COVERED` of the utterances sampled (the widest if none does). So canned replies give a group a
    reply and free speech gives wider groups, without a setting for either. Comparing all pairs of a sample keeps the
    cost bounded whatever the size of the corpus. Depends on `counts` alone, not on their order.
    """
    skeletons = sorted((s for s in counts if s), key=lambda s: (-counts[s], _draw(s)))[:sample]
    weights = np.asarray([counts[s] for s in skeletons], dtype=np.float64)
    rows = space.matrix(skeletons)
    labels = np.zeros(len(skeletons), dtype=np.int64)
    spread = 0.0
    if len(skeletons) > 1:
        distances = 1.0 - (rows @ rows.T).toarray()
        np.fill_diagonal(distances, 0.0)
        tree = linkage(squareform(np.clip(distances, 0.0, None), checks=False), "average")
        for spread in SPREADS:
            labels = fcluster(tree, spread, "distance").astype(np.int64) - 1
            kept = _largest(labels, weights, most, at_least)
            if weights[np.isin(labels, kept)].sum() >= COVERED * weights.sum():
                break
    kept = _largest(labels, weights, most, at_least)
    if not len(kept):  # a corpus too small to repeat itself: every group counts
        kept = _largest(labels, weights, most, 1)
    centroids = np.zeros((len(space), len(kept)), dtype=np.float32)
    members = []
    for column, label in enumerate(kept):
        inside = np.flatnonzero(labels == label)
        centroids[:, column] = rows[inside].T @ weights[inside]
        members.append({skeletons[i]: counts[skeletons[i]] for i in inside})
    centroids /= np.maximum(np.linalg.norm(centroids, axis=0, keepdims=True), 1e-12)
    return Groups(centroids, tuple(members), spread)


def _largest(labels: NDArray[np.int64], weights: NDArray[np.float64], most: int, at_least: int) -> Sequence[int]:
    """Labels of the `most` heaviest groups of weight `at_least` or more; ties by their first skeleton."""
    if not len(labels):
        return []
    totals = np.bincount(labels, weights=weights)
    first = np.full(len(totals), len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    order = np.lexsort((first, -totals))
    return [int(label) for label in order if totals[label] >= at_least][:most]


def _draw(skeleton: Skeleton) -> bytes:
    """A fixed pseudo-random order, so that a sample of equally frequent skeletons is not an alphabetical one."""
    return hashlib.blake2b("\x1f".join(skeleton).encode("utf-8", "surrogatepass"), digest_size=8).digest()
