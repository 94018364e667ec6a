"""Time and memory of learning from transcripts alone: `python -m benchmarks.learning [--sizes 5000,50000]`.

Made-up transcripts of six utterances: 40 workflows, replies with values in them, users who wander (Zipf words).
Each size runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

from dialoom.agent.sequences import to_rounds, to_sequence
from dialoom.automata.predictive import learn_predictive
from dialoom.automata.predictive_router import PredictiveRouter
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.tagging import EmbeddedTagger

WORKFLOWS, STEPS, WORDS = 40, 3, 20_000
TIMED = 300  # dialogues over which single turns are timed


def transcripts(count: int, seed: int = 0) -> Iterator[Dialogue]:
    made = random.Random(seed)
    syllables = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u")]
    lexicon = ["".join(made.choice(syllables) for _ in range(3)) for _ in range(WORDS)]
    ranks = [1 / rank for rank in range(1, WORDS + 1)]
    replies = [[made.sample(lexicon, 8) for _ in range(STEPS)] for _ in range(WORKFLOWS)]
    wishes = [[made.sample(lexicon, 5) for _ in range(STEPS)] for _ in range(WORKFLOWS)]
    for number in range(count):
        workflow = min(int(made.expovariate(0.08)), WORKFLOWS - 1)
        said = []
        for step in range(STEPS):
            shown = workflow if made.random() > 0.15 else made.randrange(WORKFLOWS)
            noise = made.choices(lexicon, ranks, k=made.randint(1, 6))
            said.append(Utterance(Role.USER, " ".join([*made.sample(wishes[shown][step], 3), *noise])))
            value = made.choice(lexicon), str(made.randint(1, 9999))
            said.append(Utterance(Role.SYSTEM, " ".join([*replies[workflow][step], *value])))
        yield Dialogue(f"{number:07}", tuple(said))


def measure(count: int) -> dict[str, float]:
    dialogues = list(transcripts(count))
    before = _peak()
    start = time.perf_counter()
    tagger = EmbeddedTagger.fit(dialogues)
    fitted = time.perf_counter()
    tagged = list(tagger.tag_all(dialogues))
    assigned = time.perf_counter()
    model = learn_predictive(map(to_sequence, tagged))
    learned = time.perf_counter()
    result = {
        "dialogues": count,
        "utterances": sum(map(len, dialogues)),
        "tagger_s": fitted - start,
        "tagging_s": assigned - fitted,
        "automaton_s": learned - assigned,
        "whole_s": learned - start,
        "transcripts_mb": before,
        "peak_mb": _peak(),
        "states": len(model.automaton),
        "transitions": len(model.automaton.transitions),
    }
    return result | _turns(tagger, PredictiveRouter(model))


def _turns(tagger: EmbeddedTagger, router: PredictiveRouter) -> dict[str, float]:
    """Microseconds to tag an utterance never seen, and to route one more tagged round."""
    unseen = list(transcripts(TIMED, seed=1))
    texts = [u for d in unseen for u in d.utterances]
    start = time.perf_counter()
    for utterance in texts:
        tagger.tags_of(utterance)
    tagging = time.perf_counter() - start
    contexts = [to_rounds(tagger.tag(d).utterances) for d in unseen]
    start = time.perf_counter()
    for rounds in contexts:
        for length in range(1, len(rounds) + 1):
            router.route(rounds[:length])
    routing = time.perf_counter() - start
    return {"tag_us": tagging / len(texts) * 1e6, "route_us": routing / len(texts) * 1e6}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="5000,15000,50000")
    parser.add_argument("--one", type=int, help="measure one size in this process and print JSON")
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(measure(chosen.one)))
        return
    rows = []
    for size in map(int, chosen.sizes.split(",")):
        command = [sys.executable, "-m", "benchmarks.learning", "--one", str(size)]
        rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        row = rows[-1]
        growth = ""
        if len(rows) > 1:
            last = rows[-2]
            growth = (
                f"; {row['utterances'] / last['utterances']:.1f} x the utterances in"
                f" {row['whole_s'] / last['whole_s']:.1f} x the time"
            )
        print(
            f"{size} dialogues, {row['utterances']} utterances: learn {row['whole_s']:.0f} s"
            f" (tagger {row['tagger_s']:.0f}, tagging {row['tagging_s']:.0f}, automaton {row['automaton_s']:.0f}),"
            f" peak {row['peak_mb']:.0f} MB (transcripts {row['transcripts_mb']:.0f}), {row['states']} states;"
            f" tag {row['tag_us']:.0f} us, route {row['route_us']:.0f} us{growth}",
            flush=True,
        )


if __name__ == "__main__":
    main()
