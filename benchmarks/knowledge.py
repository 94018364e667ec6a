"""Times passage indexes beside the libraries that do the same, and a turn's planning and gathering.

python -m benchmarks.knowledge [--sizes 10k,100k] [--queries 200] [--parts bm25,exact,hnsw,turn,plan]

Fair means here: the same vectors, words and k, one thread each, texts encoded beforehand, and index and library asked
in turns. Every part runs in a process of its own, where the index is built first, so that its peak of memory is its
own. The libraries give numbers of passages; the index gives the passages, and both figures are of the same call that
an application makes; beside the graph, a third line looks the library's numbers up in a dict. "First" is the first
time a query is asked, with its passages still in the file; the other figures are of later times.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.encoders.base import Vectors
from dialoom.knowledge import (
    AlwaysPlanner,
    Answerer,
    EvidencePlanner,
    ExtractiveReader,
    IndexedSource,
    Knowledge,
    LabelledTurn,
    LexicalConsistency,
    LexicalRelevance,
    Passage,
    PassageIndex,
    Query,
    TextPlanner,
)
from dialoom.knowledge.indexes.dense import GRAPH
from dialoom.knowledge.terms import words

DIMENSION, TOP, ROUNDS = 128, 10, 3


class Looked:
    """Vectors of the passages `p0`, `p1`, ...: around 1,000 centres, no two alike. Of queries: looked up."""

    dimension = DIMENSION

    def __init__(self, queries: Sequence[str] = ()) -> None:
        draw = np.random.default_rng(0)
        self._centres = draw.normal(size=(1000, DIMENSION)).astype(np.float32)
        self._noise = draw.normal(size=(4093, DIMENSION)).astype(np.float32)
        self._known: dict[str, Vectors] = {}
        if queries:
            shifted = self.encode(queries) + draw.normal(0, 0.03, (len(queries), DIMENSION))
            self._known = dict(zip(queries, unit(shifted)[:, None], strict=True))

    def encode(self, texts: Sequence[str]) -> Vectors:
        if len(texts) == 1 and texts[0] in self._known:
            return self._known[texts[0]]
        return self.numbered(np.array([int(text.split(" ", 1)[0][1:]) for text in texts]))

    def numbered(self, seeds: Any) -> Vectors:
        return unit(self._centres[seeds % 1000] + 0.7 * self._noise[(seeds * 7919) % 4093])


def unit(rows: Any) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def passages(number: int) -> Iterator[Passage]:
    """Texts of 30 words drawn by Zipf's law; the first word numbers the passage."""
    draw = np.random.default_rng(0)
    vocabulary = np.array([f"w{i}" for i in range(20_000)])
    chances = 1 / np.arange(1, len(vocabulary) + 1)
    chances /= chances.sum()
    for start in range(0, number, 10_000):
        for i, row in enumerate(draw.choice(vocabulary, (min(10_000, number - start), 30), p=chances), start=start):
            yield Passage(str(i), f"p{i} " + " ".join(row))


def questions(number: int, size: int) -> list[str]:
    draw = np.random.default_rng(2)
    return [f"p{draw.integers(size)} " + " ".join(f"w{w}" for w in draw.integers(20, 5000, 8)) for _ in range(number)]


def timed(name: str, work: Callable[[], Any], peer: float | None = None) -> float:
    """Print how long `work` takes, and the ratio to a library's time; the seconds."""
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    ratio = "" if peer is None else f"   {seconds / peer:.2f}x"
    print(f"  {name:44} {seconds:8.2f} s{ratio}", flush=True)
    return seconds


def asked(queries: Sequence[str], ways: dict[str, Callable[[str], Any]], *, per: str) -> None:
    """Time several ways to answer in turns; the first is ours. Ratios are to the way called `per`."""
    first: dict[str, Clock] = {name: Clock() for name in ways}
    later: dict[str, Clock] = {name: Clock() for name in ways}
    for turn in range(ROUNDS + 1):
        for name, way in ways.items():
            clock = later[name] if turn else first[name]
            for query in queries:
                with clock:
                    way(query)
    for name, clock in later.items():
        clock.told(name, f"first {first[name].worked:7.3f}   {clock.worked / later[per].worked:.2f}x")


def built(folder: str, number: int, **how: Any) -> PassageIndex:
    """An index in a folder, with what it took."""
    before = peak()
    index = PassageIndex(folder, **how)
    timed("index in a folder: stored and built", lambda: index.replace(passages(number)))
    size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 2**20
    print(f"  {'':44} peak {peak():6.0f} MiB, {before:.0f} of them before; {size:.0f} MiB on disk")
    index.close()
    index = PassageIndex(folder, **how)
    return index


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def changed(index: PassageIndex) -> None:
    timed("index: one passage changed", lambda: index.update([Passage("0", "p0 something else")]))


def bm25(number: int, count: int, folder: str) -> None:
    import bm25s

    queries = questions(count, number)
    index = built(folder, number)
    vocabulary: dict[str, int] = {}
    tokens = [[vocabulary.setdefault(w, len(vocabulary)) for w in words(p.text)] for p in passages(number)]
    peer = bm25s.BM25()
    timed("bm25s: built from tokens", lambda: peer.index((tokens, vocabulary), show_progress=False))
    tokens.clear()
    asked(
        queries,
        {
            "index": lambda query: index.search(query, TOP),
            "bm25s": lambda query: peer.retrieve([words(query)], k=TOP, show_progress=False),
        },
        per="bm25s",
    )
    near = [
        np.allclose(
            [hit.score for hit in index.search(query, TOP)],
            peer.retrieve([words(query)], k=TOP, show_progress=False).scores[0],
            rtol=1e-4,
        )
        for query in queries[:20]
    ]
    print(f"  {'equal scores to 4 digits':44} {sum(near)} of {len(near)} queries")
    changed(index)


def exact(number: int, count: int, folder: str) -> None:
    queries = questions(count, number)
    encoder = Looked(queries)
    index = built(folder, number, encoder=encoder, method="dense", hnsw_from=10**9)
    vectors = encoder.numbered(np.arange(number))

    def multiply(query: str) -> Any:
        scores = vectors @ encoder.encode([query])[0]
        best = np.argpartition(scores, number - TOP)[number - TOP :]
        return best[np.argsort(-scores[best])]

    ways: dict[str, Callable[[str], Any]] = {
        "index": lambda query: index.search(query, TOP),
        "numpy: product and argpartition": multiply,
    }
    try:
        import faiss
    except ImportError:
        print("  faiss is not installed: not compared")
    else:
        faiss.omp_set_num_threads(1)
        flat = faiss.IndexFlatIP(DIMENSION)
        flat.add(vectors)
        ways["faiss IndexFlatIP"] = lambda query: flat.search(encoder.encode([query]), TOP)
    asked(queries, ways, per="numpy: product and argpartition")
    changed(index)


def hnsw(number: int, count: int, folder: str) -> None:
    import usearch.index

    queries = questions(count, number)
    encoder = Looked(queries)
    index = built(folder, number, encoder=encoder, method="dense", hnsw_from=1)
    vectors = encoder.numbered(np.arange(number))
    truth = [set(np.argsort(-(vectors @ encoder.encode([query])[0]))[:TOP].tolist()) for query in queries]
    keys = np.arange(number)
    if number <= 100_000:
        alone = usearch.index.Index(ndim=DIMENSION, **GRAPH)
        timed("usearch: built alone, same settings", lambda: alone.add(keys, vectors))
    peer = usearch.index.Index.restore(next(Path(folder).glob("revision-*/dense/graph.usearch")), view=True)
    found: dict[str, Callable[[str], Any]] = {
        "index": lambda query: [int(hit.passage.id) for hit in index.search(query, TOP)],
        "usearch on the same graph": lambda query: (ways["usearch on the same graph"](query).keys - 1).tolist(),
    }
    ways: dict[str, Callable[[str], Any]] = {
        "index": lambda query: index.search(query, TOP),
        "usearch on the same graph": lambda query: peer.search(encoder.encode([query])[0], TOP, threads=1),
        "the same, and the passages from a dict": lambda query: [
            (held[key], 1 - distance) for key, distance in ways["usearch on the same graph"](query).to_list()
        ],
    }
    wanted = {key for query in queries for key in ways["usearch on the same graph"](query).keys.tolist()}
    held = {key: passage for key, passage in enumerate(passages(number), start=1) if key in wanted}
    try:
        import faiss
    except ImportError:
        print("  faiss is not installed: not compared")
    else:
        faiss.omp_set_num_threads(2)
        graph = faiss.IndexHNSWFlat(DIMENSION, 16, faiss.METRIC_INNER_PRODUCT)
        timed("faiss IndexHNSWFlat: built", lambda: graph.add(vectors))
        faiss.omp_set_num_threads(1)
        graph.hnsw.efSearch = 64
        ways["faiss IndexHNSWFlat, efSearch 64"] = lambda query: graph.search(encoder.encode([query]), TOP)
        found["faiss IndexHNSWFlat, efSearch 64"] = lambda query: ways["faiss IndexHNSWFlat, efSearch 64"](query)[1][
            0
        ].tolist()
    asked(queries, ways, per="usearch on the same graph")
    for name, way in found.items():
        hits = statistics.mean(len(set(way(q)) & true) for q, true in zip(queries, truth, strict=True)) / TOP
        print(f"  {name + f', recall@{TOP} against exact':44} {hits:.3f}")
    changed(index)


def context(text: str, id_: str = "d") -> Dialogue:
    return Dialogue(id_, (Utterance(Role.USER, text),))


def shares(number: int) -> list[IndexedSource]:
    """Three sources that hold `number` passages together: words, vectors, and both fused."""
    third: list[list[Passage]] = [[], [], []]
    for i, passage in enumerate(passages(number)):
        third[i % 3].append(passage)
    encoder = Looked(questions(1000, number))
    return [
        IndexedSource("WORDS", "", third[0]),
        IndexedSource("VECTORS", "", indexed(third[1], encoder, "dense")),
        IndexedSource("BOTH", "", indexed(third[2], encoder, "fused")),
    ]


def indexed(found: list[Passage], encoder: Looked, method: Any) -> PassageIndex:
    index = PassageIndex(encoder=encoder, method=method)
    index.replace(found)
    return index


def turn(number: int, count: int, folder: str) -> None:  # noqa: ARG001 - the sources are in memory
    """Turns that ask three sources, without any model call."""
    queries = questions(1000, number)[:count]
    sources = shares(number)
    knowledge = Knowledge(sources, AlwaysPlanner(), LexicalRelevance())
    answerer = Answerer(knowledge, ExtractiveReader(), LexicalConsistency())
    waits = {
        "three sources planned, asked and weighed": knowledge.gather,
        "the same, and a reply written and checked": answerer.answer,
    }
    asyncio.run(waited(queries, waits))


async def waited(queries: Sequence[str], waits: dict[str, Callable[[Query], Any]]) -> None:
    for name, wait in waits.items():
        for query in queries[:5]:
            await wait(Query(context(query)))
        clock = Clock()
        for query in queries:
            with clock:
                await wait(Query(context(query)))
        clock.told(name)


class Clock:
    """Milliseconds of each use, passed and worked: on a busy machine only the second says what the work is."""

    def __init__(self) -> None:
        self._passed: list[float] = []
        self._worked: list[float] = []

    def __enter__(self) -> None:
        self._started = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        worked, passed = time.process_time(), time.perf_counter()
        self._passed.append((passed - self._started[0]) * 1000)
        self._worked.append((worked - self._started[1]) * 1000)

    @property
    def worked(self) -> float:
        return statistics.median(self._worked)

    def told(self, name: str, more: str = "") -> None:
        passed = f"p50 {statistics.median(self._passed):7.3f} ms  p99 {worst(self._passed):7.3f} ms"
        print(f"  {name:44} {passed}  processor {self.worked:7.3f} {more}", flush=True)


def worst(times: Sequence[float]) -> float:
    return sorted(times)[int(0.99 * (len(times) - 1))]


def labelled(dialogues: int, seed: int) -> list[LabelledTurn]:
    """Made-up turns: small talk, a question about one of ten things, or about the advice that hangs from it."""
    draw = random.Random(seed)
    turns = []
    for d in range(dialogues):
        things = [Passage(f"t{i}", f"the {draw.choice(NAMES)} {i} is {draw.choice(NAMES)}") for i in range(10)]
        advice = [Passage(f"a{i}", f"{thing.text} wash it {i}", parents=(thing.id,)) for i, thing in enumerate(things)]
        chosen = draw.choice(things)
        place = things.index(chosen)
        said, plan, gold = draw.choice(
            [
                ("thank you", (), {}),
                (f"do you sell {chosen.text}", ("THINGS",), {"THINGS": frozenset({chosen.id})}),
                (
                    f"how do I wash {chosen.text}",
                    ("THINGS", "ADVICE"),
                    {"THINGS": frozenset({chosen.id}), "ADVICE": frozenset({advice[place].id})},
                ),
            ]
        )
        turns.append(LabelledTurn(context(said, f"d{d}"), {"THINGS": things, "ADVICE": advice}, plan, gold))
    return turns


def plan(_: int, count: int, __: str) -> None:
    """What a plan costs, from two sources of ten candidates each."""
    learned, turns = labelled(300, 0), labelled(count, 1)
    text = TextPlanner.fit(learned)
    evidence = EvidencePlanner.fit(learned)
    looks = {turn.context.id: evidence.ranker.look(turn.context, turn.pools) for turn in turns}
    ways: dict[str, Callable[[LabelledTurn], Any]] = {
        "text planner, from words to plan": lambda turn: text.probabilities(turn.context),
        "evidence planner, candidates' features given": lambda turn: evidence.decide(
            turn.context, turn.pools, looks[turn.context.id]
        ),
        "evidence planner, candidates given": lambda turn: evidence.decide(turn.context, turn.pools),
    }
    for name, way in ways.items():
        clock = Clock()
        for labelled_turn in turns:
            with clock:
                way(labelled_turn)
        clock.told(name)


NAMES = [f"w{i}" for i in range(500)]
PARTS = {"bm25": bm25, "exact": exact, "hnsw": hnsw, "turn": turn}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="10k,100k", help="passages: 10k,100k,1m")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--parts", default=",".join([*PARTS, "plan"]))
    chosen = parser.parse_args()
    parts = chosen.parts.split(",")
    if "plan" in parts:
        print("plan", flush=True)
        apart(plan, 0, chosen.queries)
    for size in chosen.sizes.split(","):
        number = int(size.lower().replace("k", "000").replace("m", "000000"))
        for part in parts:
            if part in PARTS:
                print(f"{part}, {number:,} passages", flush=True)
                apart(PARTS[part], number, chosen.queries)


def apart(part: Callable[..., None], number: int, count: int) -> None:
    """Run one part in a new process, on one thread, in a folder that is removed."""
    with tempfile.TemporaryDirectory() as folder:
        process = multiprocessing.get_context("spawn").Process(target=alone, args=(part, number, count, folder))
        process.start()
        process.join()


def alone(part: Callable[..., None], number: int, count: int, folder: str) -> None:
    with threadpoolctl.threadpool_limits(1):
        part(number, count, folder)


if __name__ == "__main__":
    main()
