"""Learning and walking automata of the `paper` strategy on synthetic tag corpora of six rounds a dialogue.

    python -m benchmarks.automata [--sizes 10k,50k,200k,1m] [--peers 50,100,200]

Every size is learned in a process of its own, single-threaded; memory is the peak of that process so far, libraries
included. Seconds are of processor time. Peers get the same symbol sequences: Alergia learns a stochastic automaton,
RPNI and EDSM a DFA from these and as many shuffled ones as counterexamples; they solve other problems, only running
times are compared. EDSM is left out above 100 dialogues, where it takes minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import process_time
from typing import TypeVar

import numpy as np

from dialoom.automata import NavigationRouter, Position, Round, TagSequence, learn_paper
from dialoom.automata.encoding import encode
from dialoom.automata.merging import merge_states
from dialoom.automata.tree import build_tree

T = TypeVar("T")

ROUNDS = 6
HIDDEN = 60
TAGS = 2000
BLOCK = 2_000
MAX_EDSM = 100
SINGLE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def corpus(dialogues: int, seed: int = 0) -> Iterator[TagSequence]:
    """Dialogues of a random process of 60 hidden states: the tag of the state, and up to two more by Zipf's law."""
    random_ = np.random.default_rng(seed)
    follows = np.random.default_rng(7).integers(0, HIDDEN, (HIDDEN, 4))
    names = [f"tag {number}" for number in range(TAGS)]
    rarity = np.cumsum(1.0 / np.arange(1, TAGS + 1) ** 1.1)
    for begin in range(0, dialogues, BLOCK):
        count = min(BLOCK, dialogues - begin)
        state = random_.integers(0, HIDDEN, count)
        rounds: list[list[Round]] = [[] for _ in range(count)]
        for number in range(ROUNDS):
            state = follows[state, random_.choice(4, count, p=(0.6, 0.25, 0.1, 0.05))]
            extra = np.searchsorted(rarity, random_.random((count, 2)) * rarity[-1]).tolist()
            chance = (random_.random((count, 2)) < (0.5, 0.2)).tolist()
            role = ("user", "system")[number % 2]
            for dialogue, hidden in enumerate(state.tolist()):
                tags = [names[3 * hidden]]
                tags += [names[tag] for tag, said in zip(extra[dialogue], chance[dialogue], strict=True) if said]
                rounds[dialogue].append(Round(role, tuple(tags)))
        for dialogue in range(count):
            yield TagSequence(f"d{begin + dialogue:08}", tuple(rounds[dialogue]))


def peak() -> float:
    """Peak memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What `work` returns, and the seconds of processor time it took: neighbours on the machine do not count."""
    begin = process_time()
    result = work()
    return result, process_time() - begin


def learn(dialogues: int) -> dict[str, float]:
    """The stages of learning one corpus, one after the other; then the whole in one call."""
    found: dict[str, float] = {"dialogues": dialogues, "import_mb": peak()}
    _, drawing = timed(lambda: sum(1 for _ in corpus(dialogues)))
    found |= stages(dialogues, drawing)
    _, seconds = timed(lambda: learn_paper(corpus(dialogues)))
    return found | {"whole_s": max(0.001, seconds - drawing), "whole_mb": peak()}


def stages(dialogues: int, drawing: float) -> dict[str, float]:
    encoded, seconds = timed(lambda: encode(corpus(dialogues)))
    found = {"encode_s": max(0.001, seconds - drawing), "encode_mb": peak()}
    tree, found["tree_s"] = timed(lambda: build_tree(encoded))
    found |= {"tree_states": len(tree), "tree_mb": peak()}
    roles = [name.partition(":")[0] for name in encoded.symbols]
    merged, found["merge_s"] = timed(lambda: merge_states(tree, roles))
    return found | {"states": merged.states, "merge_mb": peak()}


def print_sizes(sizes: Iterable[int]) -> None:
    heads = "".join(f"{stage:>9}" for stage in ("encode", "tree", "merge", "whole"))
    print(f"{'dialogues':>10}{heads}   {'peak MB after each':<28}{'states':>17}")
    before: dict[str, float] | None = None
    for size in sizes:
        command = [sys.executable, "-m", "benchmarks.automata", "--one", str(size)]
        run = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **SINGLE})
        found: dict[str, float] = json.loads(run.stdout)
        seconds = " ".join(f"{found[f'{stage}_s']:7.2f}s" for stage in ("encode", "tree", "merge", "whole"))
        memory = " ".join(f"{found[f'{stage}_mb']:6.0f}" for stage in ("encode", "tree", "merge", "whole"))
        print(f"{size:>10} {seconds}   {memory:<28} {found['tree_states']:>8.0f} ->{found['states']:>7.0f}")
        if before:
            ratio = size / before["dialogues"]
            growth = {stage: found[f"{stage}_s"] / before[f"{stage}_s"] for stage in ("tree", "merge", "whole")}
            told = ", ".join(f"{stage} x{factor:.1f}" for stage, factor in growth.items())
            print(f"{'':>10} growth for x{ratio:.0f} dialogues: {told}")
        before = found
    print(f"(libraries alone: {found['import_mb']:.0f} MB)")


def print_peers(sizes: Iterable[int]) -> None:
    from aalpy.learning_algs import run_Alergia, run_EDSM, run_RPNI

    warnings.filterwarnings("ignore", module="aalpy")
    print(f"{'dialogues':>10} {'dialoom':>9} {'Alergia':>20} {'RPNI':>20} {'EDSM':>20}")
    for size in sizes:
        dialogues = list(corpus(size, seed=1))
        words = [tuple(f"{r.role}:{tag}" for r in d.rounds for tag in r.tags) for d in dialogues]
        mixed = random.Random(0)
        wrong = {tuple(mixed.sample(word, len(word))) for word in words} - set(words)
        labelled = [(word, True) for word in words] + [(word, False) for word in sorted(wrong)]
        _, ours = timed(partial(learn_paper, dialogues, tau=0))
        line = f"{size:>10} {ours:8.3f}s"
        peers: list[Callable[[], object]] = [
            partial(run_Alergia, [["start", *word] for word in words], "mc", eps=0.05),
            partial(run_RPNI, list(labelled), "dfa", print_info=False),
        ]
        if size <= MAX_EDSM:
            peers.append(partial(run_EDSM, list(labelled), "dfa", print_info=False))
        for peer in peers:
            _, theirs = timed(peer)
            line += f" {theirs:8.2f}s ({theirs / ours:6.0f}x)"
        print(line, flush=True)


def print_routing(dialogues: int = 50_000, turns: int = 30_000) -> None:
    router = NavigationRouter(learn_paper(corpus(dialogues)))
    unseen = [sequence.rounds for sequence in corpus(turns // ROUNDS, seed=2)]
    for rounds in unseen[:500]:
        router.route(rounds)

    def turn_by_turn() -> None:
        for rounds in unseen:
            position = Position()
            for spoken in rounds:
                position = router.advance(position, spoken)
                router.at(position)

    def all_over_again() -> None:
        for rounds in unseen:
            for end in range(1, ROUNDS + 1):
                router.route(rounds[:end])

    for told, walk in (("keeping the position", turn_by_turn), ("walking all rounds again", all_over_again)):
        _, seconds = timed(walk)
        print(f"routing a tagged turn, {told}: {seconds / (len(unseen) * ROUNDS) * 1e6:.1f} us")


def number(text: str) -> int:
    return round(float(text.lower().replace("k", "e3").replace("m", "e6")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="10k,50k,200k,1m", help="dialogues to learn from")
    parser.add_argument("--peers", default="50,100,200", help="dialogues to compare with AALpy on; empty for none")
    parser.add_argument("--one", type=number, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(learn(chosen.one)))
        return
    print_sizes(number(size) for size in chosen.sizes.split(","))
    if chosen.peers:
        print_peers(number(size) for size in chosen.peers.split(","))
    print_routing()


if __name__ == "__main__":
    main()
