"""Reading and redacting made-up transcripts: dialogues a second, and times the bare parsers of the same files.

    python -m benchmarks.corpora [DIALOGUES]

Each dialogue has six short utterances with names, numbers and addresses in some of them. Seconds are of processor time.
"""

from __future__ import annotations

import csv
import json
import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from dialoom.corpora import open_corpus, write_jsonl
from dialoom.corpora.redaction import personal_values, redact, refill
from dialoom.dialogue import Dialogue, Role, Utterance

USER = (
    "Hi, my name is {name} and my order {order} has not come.",
    "It was to be here on Monday, can you look into it please?",
    "My number is 555-{digits:.3}-{digits:.4} and my mail is {name}@mail.example.",
    "No, that is all, thank you very much for your help.",
    "I would like to book a table for four people tomorrow at seven.",
    "Why was I charged twice for the same thing? This is annoying.",
)
SYSTEM = (
    "Hi {name}, sorry to hear that. Could you tell me your order number?",
    "Thank you, {name}. Let me check that for you right now.",
    "It left our depot today and should be with you within two days. ^AB",
    "Is there anything else that I can help you with today?",
    "The booking {order} is confirmed. Have a nice day!",
)


def made_up(count: int) -> Iterator[Dialogue]:
    rng = random.Random(7)
    names = ["Ida", "Ravi", "Simona", "Nick", "Oksana", "Pelle", "Teodora", "Yusuf"]
    for number in range(count):
        values = {
            "name": rng.choice(names),
            "order": f"{rng.randrange(10**7)}",
            "digits": f"{rng.randrange(10**6, 10**7)}",
        }
        turns = (
            Utterance((Role.USER, Role.SYSTEM)[n % 2], rng.choice((USER, SYSTEM)[n % 2]).format(**values))
            for n in range(6)
        )
        yield Dialogue(f"d{number}", tuple(turns))


def write_tables(folder: Path, dialogues: Iterable[Dialogue]) -> None:
    with (folder / "t.csv").open("w", newline="") as table, (folder / "tweets.csv").open("w", newline="") as tweets:
        rows, links = csv.writer(table), csv.writer(tweets)
        rows.writerow(["conversation_id", "role", "text"])
        links.writerow(
            ["tweet_id", "author_id", "inbound", "created_at", "text", "response_tweet_id", "in_response_to_tweet_id"]
        )
        tweet = 0
        for dialogue in dialogues:
            for n, utterance in enumerate(dialogue.utterances):
                tweet += 1
                rows.writerow([dialogue.id, utterance.role.value, utterance.text])
                inbound = utterance.role is Role.USER
                created = f"Wed Oct 11 08:0{n}:00 +0000 2017"
                links.writerow(
                    [tweet, "1" if inbound else "Shop", inbound, created, utterance.text, "", tweet - 1 if n else ""]
                )


def timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def bare_json(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            json.loads(line)


def bare_csv(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as rows:
        for _ in csv.DictReader(rows):
            pass


def drained(path: Path) -> None:
    for _ in open_corpus(path):
        pass


def peak_mib(path: Path) -> float:
    tracemalloc.start()
    drained(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_jsonl(folder / "d.jsonl", made_up(count))
        write_tables(folder, made_up(count))
        print(f"{count} dialogues, {count * 6} utterances; seconds of processor time")
        for name, bare in (("d.jsonl", bare_json), ("t.csv", bare_csv), ("tweets.csv", bare_csv)):
            path = folder / name
            ours, theirs = timed(lambda path=path: drained(path)), timed(lambda path=path, bare=bare: bare(path))
            print(
                f"read {name:<11} {ours:6.2f} s  {count / ours:8.0f} dialogues/s  {ours / theirs:4.1f} x a bare parser"
            )
        dialogues = list(open_corpus(folder / "d.jsonl"))
        clean: list[Dialogue] = []
        seconds = timed(lambda: clean.extend(redact(dialogue) for dialogue in dialogues))
        print(
            f"redact           {seconds:6.2f} s  {count / seconds:8.0f} dialogues/s  "
            f"{seconds / count / 6 * 1e6:.0f} us/utterance"
        )
        values = personal_values(dialogues[0])
        seconds = timed(lambda: [refill(u.text, values) for dialogue in clean for u in dialogue.utterances])
        print(f"refill           {seconds:6.2f} s  {seconds / count / 6 * 1e6:.1f} us/utterance")
        small = min(count, 5_000)
        write_jsonl(folder / "small.jsonl", made_up(small))
        write_tables(folder, made_up(small))
        for name in ("small.jsonl", "t.csv", "tweets.csv"):
            print(f"peak memory while reading {small} dialogues of {name:<11} {peak_mib(folder / name):5.1f} MiB")


if __name__ == "__main__":
    main()
