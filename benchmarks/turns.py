"""A whole model-free turn (redact, tag, route, rank, reply) beside an embedding router with the same encoder.

    python -m benchmarks.turns [--dialogues 10000]

The peer is semantic-router where it is installed, and always a plain search for the route with the nearest utterance.
Peers only choose a route for one message; a turn of Dialoom also tags, follows the conversation, ranks and replies.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import importlib.util
import itertools
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dialoom import Agent, Dialogue, Model, learn
from dialoom.agent.sequences import to_rounds
from dialoom.demo import conversations, transcripts


def grown(count: int, seed: int = 0) -> Iterator[Dialogue]:
    """`count` dialogues: the bundled ones again and again, each time with other words left out."""
    draw = random.Random(seed)
    for number, dialogue in enumerate(itertools.islice(itertools.cycle(transcripts()), count)):
        utterances = tuple(replace(u, text=_thinned(u.text, draw)) for u in dialogue.utterances)
        yield replace(dialogue, id=f"{dialogue.id}-{number}", utterances=utterances)


def _thinned(text: str, draw: random.Random) -> str:
    return " ".join(word for word in text.split() if draw.random() > 0.1) or text


def times(action: Callable[[], object], rounds: int) -> list[float]:
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        action()
        taken.append((time.perf_counter() - start) * 1000)
    return taken


def turn_times(model: Model) -> tuple[list[float], list[float]]:
    """Milliseconds of whole turns, and of routing an already tagged round alone."""
    agent, turns, routes = Agent(model), [], []
    for lines in list(conversations().values()) * 10:
        chat = agent.chat()
        for line in lines:
            start = time.perf_counter()
            chat.say(line)
            turns.append((time.perf_counter() - start) * 1000)
    for dialogue in itertools.islice(model.index.dialogues(), 300):
        rounds = to_rounds(dialogue.utterances)
        for end in range(1, len(rounds)):
            start = time.perf_counter()
            model.router.route(rounds[:end])
            routes.append((time.perf_counter() - start) * 1000)
    return turns, routes


def nearest_route(model: Model, messages: Sequence[str]) -> list[float]:
    """The route whose utterance is nearest: one encoding and one product with every past user utterance."""
    said = [u for d in model.index.dialogues() for u in d.utterances if u.role == "user"]
    vectors = model.encoder.encode([u.text for u in said])
    return [
        t
        for text in messages
        for t in times(lambda text=text: said[int(np.argmax(vectors @ model.encoder.encode([text])[0]))].tags, 5)
    ]


def semantic_router(model: Model, messages: Sequence[str]) -> list[float]:
    from semantic_router import Route
    from semantic_router.encoders import DenseEncoder
    from semantic_router.routers import IndexedRouter

    class SameEncoder(DenseEncoder):  # type: ignore[misc]
        name: str = "lsa"

        def __call__(self, docs: list[Any]) -> list[list[float]]:
            return model.encoder.encode([str(doc) for doc in docs]).tolist()

        async def acall(self, docs: list[Any]) -> list[list[float]]:
            return self(docs)

    by_tag: dict[str, list[str]] = {}
    for dialogue in model.index.dialogues():
        for utterance in dialogue.utterances:
            if utterance.role == "user" and utterance.tags:
                by_tag.setdefault(utterance.tags[0], []).append(utterance.text)
    routes = [Route(name=tag, utterances=sorted(set(texts))) for tag, texts in sorted(by_tag.items())]
    router = IndexedRouter(encoder=SameEncoder(), routes=routes)
    return [t for text in messages for t in times(lambda text=text: router(text), 5)]


def report(name: str, taken: list[float], ours: float) -> None:
    middle = statistics.median(taken)
    high = sorted(taken)[int(0.99 * (len(taken) - 1))]
    print(f"{name:<44} median {middle:7.3f} ms   p99 {high:7.3f} ms   {middle / ours:5.2f} x a turn")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=int, default=10_000)
    count = parser.parse_args().dialogues
    start = time.perf_counter()
    model = learn(grown(count))
    print(f"learned from {count} dialogues in {time.perf_counter() - start:.1f} s; {len(model.automaton)} states")
    turns, routes = turn_times(model)
    ours = statistics.median(turns)
    report("whole turn", turns, ours)
    report("routing a tagged conversation, one more round", routes, ours)
    messages = [line for lines in conversations().values() for line in lines]
    report("nearest route, same encoder", nearest_route(model, messages), ours)
    if importlib.util.find_spec("semantic_router") is None:
        print("semantic-router is not installed; pip install semantic-router to compare with it")
        return
    report("semantic-router, same encoder", semantic_router(model, messages), ours)


if __name__ == "__main__":
    main()
