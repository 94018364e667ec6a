"""Times passage indexes beside the libraries under them, and a turn's planning and gathering.

python -m benchmarks.knowledge [--sizes 10k,100k] [--queries 200]
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.encoders.base import Vectors
from dialoom.knowledge import (
    AlwaysPlanner,
    IndexedSource,
    Knowledge,
    LabelledTurn,
    LexicalRelevance,
    Passage,
    PassageIndex,
    Query,
    TextPlanner,
)
from dialoom.knowledge.terms import words

DIMENSION, TOP = 128, 10


class Looked:
    """An encoder that only looks vectors up, so that search alone is timed; near copies of 1,000 centres."""

    dimension = DIMENSION

    def __init__(self) -> None:
        draw = np.random.default_rng(0)
        self._centres = draw.normal(size=(1000, DIMENSION)).astype(np.float32)
        self._noise = draw.normal(size=(4096, DIMENSION)).astype(np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        seeds = np.array([int(text.split()[0][1:]) for text in texts])
        vectors = self._centres[seeds % 1000] + 0.7 * self._noise[(seeds * 7919) % 4096]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def passages(number: int) -> Iterator[Passage]:
    """Texts of 30 words drawn by Zipf's law; the first word numbers the passage."""
    draw = np.random.default_rng(0)
    vocabulary = np.array([f"w{i}" for i in range(20_000)])
    chances = 1 / np.arange(1, len(vocabulary) + 1)
    chances /= chances.sum()
    for start in range(0, number, 10_000):
        for i, row in enumerate(draw.choice(vocabulary, (min(10_000, number - start), 30), p=chances), start=start):
            yield Passage(str(i), f"p{i} " + " ".join(row))


def timed(name: str, work: Callable[[], Any]) -> Any:
    start = time.perf_counter()
    result = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {name:34} {time.perf_counter() - start:9.2f} s      peak so far {peak:6.0f} MiB")
    return result


def asked(name: str, ask: Callable[[str], Any], queries: Sequence[str], peer: float | None = None) -> float:
    """Print p50 and p99 in milliseconds, and the ratio of p50 to a peer's; the p50."""
    times = []
    for query in queries:
        start = time.perf_counter()
        ask(query)
        times.append((time.perf_counter() - start) * 1000)
    median = statistics.median(times)
    p99 = sorted(times)[int(0.99 * (len(times) - 1))]
    ratio = "" if peer is None else f"  {median / peer:5.2f}x the library"
    print(f"  {name:34} p50 {median:7.3f} ms  p99 {p99:7.3f} ms{ratio}")
    return median


def lexical(found: list[Passage], queries: Sequence[str]) -> None:
    import bm25s

    index = PassageIndex(method="bm25")
    timed("BM25 index, built", lambda: index.replace(found))
    peer = bm25s.BM25()
    tokens = [words(passage.text) for passage in found]
    timed("bm25s alone, tokens given", lambda: peer.index(tokens, show_progress=False))

    def ask_peer(query: str) -> Any:
        return peer.retrieve([words(query)], k=TOP, show_progress=False)

    baseline = asked("bm25s alone", ask_peer, queries)
    asked("BM25 index, passages fetched", lambda query: index.search(query, TOP), queries, baseline)
    changed = Passage("0", "p0 something else")
    timed("BM25 index, one passage changed", lambda: index.update([changed]))


def dense(found: list[Passage], queries: Sequence[str]) -> None:
    encoder = Looked()
    exact = PassageIndex(encoder=encoder, method="dense", hnsw_from=10**9)
    timed("exact index, built", lambda: exact.replace(found))
    vectors = encoder.encode([passage.text for passage in found])

    def multiply(query: str) -> Any:
        scores = vectors @ encoder.encode([query])[0]
        return np.argpartition(-scores, TOP)[:TOP]

    asked("exact index", lambda query: exact.search(query, TOP), queries, asked("numpy alone", multiply, queries))
    try:
        import usearch.index
    except ImportError:
        print("  usearch is not installed: no HNSW")
        return
    graph = PassageIndex(encoder=encoder, method="dense", hnsw_from=1)
    timed("HNSW index, built", lambda: graph.replace(found))
    peer = usearch.index.Index(ndim=DIMENSION, metric="cos", dtype="f32")
    timed("usearch alone, built", lambda: peer.add(np.arange(len(vectors)), vectors))
    baseline = asked("usearch alone", lambda query: peer.search(encoder.encode([query])[0], TOP), queries)
    asked("HNSW index", lambda query: graph.search(query, TOP), queries, baseline)
    pairs = [[{hit.passage.id for hit in index.search(q, TOP)} for index in (graph, exact)] for q in queries]
    same = [len(near & true) for near, true in pairs]
    print(f"  HNSW recall@{TOP} against exact      {statistics.mean(same) / TOP:.3f}")
    try:
        import faiss
    except ImportError:
        print("  faiss is not installed: not compared")
        return
    other = faiss.IndexHNSWFlat(DIMENSION, 16, faiss.METRIC_INNER_PRODUCT)
    timed("faiss HNSW, built", lambda: other.add(vectors))
    asked("faiss HNSW", lambda query: other.search(encoder.encode([query]), TOP), queries)


def turn(found: list[Passage], queries: Sequence[str]) -> None:
    """A turn that asks three sources, without any model call."""
    third = len(found) // 3
    sources = [IndexedSource(f"S{i}", "", found[i * third : (i + 1) * third]) for i in range(3)]
    knowledge = Knowledge(sources, AlwaysPlanner(), LexicalRelevance())
    planner = TextPlanner.fit(
        [
            LabelledTurn(context(f"{kind} {queries[i % len(queries)]}", f"d{i}"), {}, (f"S{k}",) if k else ())
            for i in range(600)
            for k, kind in [(i % 3, ("thanks", "price", "return")[i % 3])]
        ]
    )

    async def run() -> None:
        for query in queries[:5]:
            await knowledge.gather(Query(context(query)))
        spent, planned = [], []
        for query in queries:
            start = time.perf_counter()
            await knowledge.gather(Query(context(query)))
            spent.append((time.perf_counter() - start) * 1000)
            start = time.perf_counter()
            await planner.plan(Query(context(query)), sources)
            planned.append((time.perf_counter() - start) * 1000)
        for name, times in (("three sources gathered", spent), ("supervised plan from text", planned)):
            print(f"  {name:34} p50 {statistics.median(times):7.3f} ms  p99 {sorted(times)[-2]:7.3f} ms")

    asyncio.run(run())


def context(text: str, id_: str = "d") -> Dialogue:
    return Dialogue(id_, (Utterance(Role.USER, text),))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="10k,100k")
    parser.add_argument("--queries", type=int, default=200)
    chosen = parser.parse_args()
    for size in chosen.sizes.split(","):
        number = int(size.lower().replace("k", "000").replace("m", "000000"))
        print(f"{number} passages")
        found = list(passages(number))
        draw = np.random.default_rng(2)
        queries = [
            f"p{draw.integers(number)} " + " ".join(f"w{w}" for w in draw.integers(20, 5000, 8))
            for _ in range(chosen.queries)
        ]
        lexical(found, queries)
        dense(found, queries)
        turn(found, queries)


if __name__ == "__main__":
    main()
