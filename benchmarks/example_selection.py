"""Times building and asking every selector on a made corpus: python benchmarks/example_selection.py [dialogues]."""

from __future__ import annotations

import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.examples import BM25Selector, DenseSelector, RandomSelector, Selector, TurnIndex
from dialoom.testing.encoders import HashedWords


def corpus(dialogues: int, vocabulary: int = 4000) -> Iterator[Dialogue]:
    """Dialogues of 12 utterances of 11 words, words drawn by Zipf's law."""
    draw = np.random.default_rng(0)
    words = np.array([f"w{number}" for number in range(vocabulary)])
    chances = 1 / np.arange(1, vocabulary + 1)
    chances /= chances.sum()
    for number in range(dialogues):
        said = draw.choice(words, (12, 11), p=chances)
        roles = (Role.USER, Role.SYSTEM)
        yield Dialogue(str(number), tuple(Utterance(roles[i % 2], " ".join(row)) for i, row in enumerate(said)))


def timed(name: str, work: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    result = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {name:24} {time.perf_counter() - start:8.2f} s, peak so far {peak:6.0f} MiB")
    return result


def asked(name: str, selector: Selector, contexts: list[Dialogue]) -> float:
    times = []
    for context in contexts:
        start = time.perf_counter()
        selector.select(context, 5)
        times.append(1000 * (time.perf_counter() - start))
    times.sort()
    print(f"  {name:24} median {statistics.median(times):6.2f} ms, 95 % under {times[int(0.95 * len(times))]:6.2f} ms")
    return statistics.median(times)


def main(dialogues: int) -> None:
    print(f"{dialogues} dialogues; building:")
    index = timed("turn index", lambda: TurnIndex.build(corpus(dialogues)))
    print(f"  {len(index)} system turns")
    encoder = HashedWords(256)
    bm25 = timed("bm25", lambda: BM25Selector.build(index))
    dense = timed("dense (256 columns)", lambda: DenseSelector.build(index, encoder))
    parts = timed("save", lambda: {**index.to_parts(), **bm25.to_parts(), **dense.to_parts()})
    print(f"  {sum(map(len, parts.values())) / 2**20:.0f} MiB saved")
    timed("load", lambda: DenseSelector.from_parts(parts, TurnIndex.from_parts(parts), encoder))
    print("selecting 5 for a new utterance each time:")
    contexts = [Dialogue("now", d.utterances[: 2 * (i % 5) + 1]) for i, d in enumerate(corpus(200))]
    asked("random", RandomSelector(index), contexts)
    slowest = asked("bm25", bm25, contexts)
    exact = asked("dense, exact", dense, contexts)
    print(f"  bm25 takes {slowest / exact:.1f} times as long as dense")
    if dialogues >= 10_000:
        near = timed("neighbour graph", lambda: DenseSelector.from_parts(parts, index, encoder, approximate=True))
        print(f"  dense, approximate: {exact / asked('dense, approximate', near, contexts):.1f} times as fast as exact")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
