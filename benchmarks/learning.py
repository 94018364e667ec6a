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
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from dialoom import Model, learn
from dialoom.agent.sequences import to_rounds
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
    """The whole of learning, redaction and saving included, as `dialoom learn` does it."""
    start = time.perf_counter()
    model = learn(transcripts(count))
    learned = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent.dialoom"
        model.save(path)
        saved = time.perf_counter()
        size = path.stat().st_size / 1e6
    result = {
        "dialogues": count,
        "utterances": sum(model.learned["utterances"].values()),
        "learn_s": learned - start,
        "save_s": saved - learned,
        "file_mb": size,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "states": len(model.automaton),
    }
    return result | _turns(model)


def _turns(model: Model) -> dict[str, float]:
    """Microseconds to tag an utterance never seen, and to route one more tagged round."""
    tagger, router = model.tagger, model.router
    assert isinstance(tagger, EmbeddedTagger)
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
                f" {row['learn_s'] / last['learn_s']:.1f} x the time"
            )
        print(
            f"{size} dialogues, {row['utterances']} utterances: learn {row['learn_s']:.0f} s,"
            f" save {row['save_s']:.1f} s ({row['file_mb']:.0f} MB), peak {row['peak_mb']:.0f} MB,"
            f" {row['states']} states; tag {row['tag_us']:.0f} us, route {row['route_us']:.0f} us{growth}",
            flush=True,
        )


if __name__ == "__main__":
    main()
