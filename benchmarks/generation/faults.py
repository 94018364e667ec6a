"""Failing closed: faults are injected into every backend, and whatever comes back must be in the language.

The grammars that reach an engine are spoiled in between (a syntax error, an empty language, 3,000 ways at once), tokens
run out, calls are dropped, and loopback servers answer freely, with nothing, or with half a message.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.generation.subjects import grammar_of, row
from dialoom.dataflow import Constant
from dialoom.errors import ModelUnavailable
from dialoom.generation import Decoding, Grammar, Recogniser, Reply, shortest, speak, speak_through, text_of
from dialoom.generation.constraint import MAX_ITEMS, Guidance, GuidanceConstraint
from dialoom.generation.emission import guidance_module
from dialoom.generation.grammar import Pair, Production
from dialoom.models.base import Constraint, Message, Request

RUNS = 1000
SPOILT = {
    "syntax error": 'start: n0 ( "a"\n',
    "empty language": 'start: "a" start\n',
    "another language": 'start: "Trust me." | "a" start\n',
}
FAULTS = (*SPOILT, "3,000 ways", "token limit", "dropped connection", "noise")


def wide(n: int = 3000) -> Grammar:
    pairs = (Pair("S", Constant(0), 0), Pair("N", Constant(1), 1))
    return Grammar(0, pairs, (Production(0, ("n ", 1)), *(Production(1, (f"{i:05d}x",)) for i in range(n))))


GRAMMARS = [grammar_of(10, seed) for seed in range(4)] + [grammar_of(100)]
WIDE = wide()


# In process


class SpoiltGuidance(Guidance):
    """Compiles another grammar than it was given."""

    def __init__(self, inner: Guidance, lark: str) -> None:
        super().__init__(inner.tokenizer, special=inner.special)
        self._lark = lark

    def constrain(self, grammar: Grammar) -> GuidanceConstraint:  # noqa: ARG002 (a port's signature)
        module = guidance_module()
        limits = module.LLParserLimits(max_items_in_row=MAX_ITEMS)
        lark = module.LLMatcher.grammar_from_lark(self._lark)
        matcher = module.LLMatcher(self.tokenizer, lark, limits=limits, log_level=0)
        return GuidanceConstraint(matcher, self.tokenizer.vocab_size, self.special)


class FaultyTokens:
    """A model in process with one fault."""

    def __init__(self, model: Any, fault: str, chance: random.Random) -> None:
        self._model = model
        self._fault = fault
        self._chance = chance
        self.ends, self.encode = model.ends, model.encode
        self.guidance = SpoiltGuidance(model.guidance, SPOILT[fault]) if fault in SPOILT else model.guidance

    def decode(self, tokens: Any) -> bytes:
        data: bytes = self._model.decode(tokens)
        return data + b" Trust me." if self._fault == "noise" else data

    def session(self, prompt: str) -> Any:
        if self._fault == "dropped connection" and self._chance.random() < 0.5:
            raise RuntimeError("out of memory")
        session = self._model.session(prompt)
        if self._fault == "dropped connection":
            session.extend = self._dropped
        return session

    def _dropped(self, *_: Any) -> Any:
        raise RuntimeError("the device is gone")


def in_process(model: Any, fault: str, grammar: Grammar, run: int) -> Reply:
    mode = ("greedy", "beam", "sample")[run % 3]
    tokens = 2 if fault == "token limit" else 12
    chance = random.Random(run)
    return speak(grammar, FaultyTokens(model, fault, chance), "?", Decoding(mode, seed=run, max_tokens=tokens))  # type: ignore[arg-type]


# Through the port


class Between:
    """A model of the port whose requests are spoiled on their way, after every check on this side."""

    def __init__(self, model: Any, fault: str) -> None:
        self._model = model
        self._fault = fault
        self.name, self.capabilities = model.name, model.capabilities
        self.stream = model.stream
        if hasattr(model, "score"):
            self.score = model.score

    async def generate(self, request: Request) -> Any:
        if self._fault == "dropped connection" and self.name.startswith("embedded"):
            raise ModelUnavailable("dropped")
        if self._fault in SPOILT and request.constraint is not None and request.constraint.kind == "lark":
            request = replace(request, constraint=Constraint("lark", SPOILT[self._fault]))
        if self._fault == "noise":
            request = replace(request, constraint=None)
        return await self._model.generate(request)


async def through(model: Any, fault: str, grammar: Grammar, run: int) -> Reply:
    tokens = 2 if fault == "token limit" else 8
    return await speak_through(
        grammar, Between(model, fault), [Message("user", f"Say it. {run % 7}")], Decoding(max_tokens=tokens)
    )


class Server(ThreadingHTTPServer):
    """Answers as `says` tells: None drops the connection, a number is a status, a pair is a text and why it ended."""

    daemon_threads = True
    says: Callable[[dict[str, Any]], Any]


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = self.server.says(body)  # type: ignore[attr-defined]
        if said is None:
            self.close_connection = True
            self.connection.shutdown(2)
            return
        status = said if isinstance(said, int) else 200
        text, why = said if isinstance(said, tuple) else ("", "stop")
        choice = {"index": 0, "finish_reason": why, "message": {"role": "assistant", "content": text}}
        found = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        data = json.dumps(found if status == 200 else {"error": {"message": "bad grammar"}}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def answers(fault: str, grammar: Grammar, chance: random.Random) -> Callable[[dict[str, Any]], Any]:
    """What a server does: a good one obeys, one that fails open says what it likes, whatever it was asked."""
    true = text_of(grammar, shortest(grammar))
    free = ["I found 77 events.", true + " Trust me.", "", true[:-1], "aaaaah!"]

    def says(_: dict[str, Any]) -> Any:
        if fault == "dropped connection":
            return None
        if fault == "token limit":
            return true[: chance.randrange(len(true))], "length"
        if fault == "syntax error" and chance.random() < 0.5:
            return 400
        return chance.choice(free), "stop"

    return says


# All of it


def tally(name: str, replies: Iterator[tuple[str, Grammar, Reply]]) -> None:
    outside, replaced, runs = 0, Counter[str](), Counter[str]()
    recognisers: dict[int, Recogniser] = {}
    for fault, grammar, reply in replies:
        recogniser = recognisers.setdefault(id(grammar), Recogniser(grammar))
        outside += not all(map(recogniser.accepts, (reply.text, *reply.alternatives)))
        replaced[fault] += bool(reply.events)
        runs[fault] += 1
    total = sum(runs.values())
    row(f"{name}: replies outside the language", f"{outside} of {total:,}", "0", outside == 0)
    row("  replaced with an event", ", ".join(f"{fault} {replaced[fault]}/{n}" for fault, n in runs.items()), "")


def cases(runs: int) -> Iterator[tuple[int, str, Grammar]]:
    for run in range(runs):
        fault = FAULTS[run % len(FAULTS)]
        yield run, fault, WIDE if fault == "3,000 ways" else GRAMMARS[run % len(GRAMMARS)]


def measure(runs: int = RUNS) -> None:
    print(f"\n6. Failing closed: {runs:,} runs with faults on every backend")
    model = small_transformer()
    if model is not None:
        found = ((fault, grammar, in_process(model, fault, grammar, run)) for run, fault, grammar in cases(runs))
        tally("transformers, in process", found)
    asyncio.run(_embedded(runs))
    for flavour in ("llamacpp", "vllm", "sglang", "openai", "plain"):
        asyncio.run(_server(flavour, runs))


async def _embedded(runs: int) -> None:
    from dialoom.errors import DialoomError
    from dialoom.models.embedded import EmbeddedModel

    try:
        model = EmbeddedModel()
    except DialoomError as error:
        row("embedded llama.cpp", "not installed", str(error))
        return
    found = [(fault, grammar, await through(model, fault, grammar, run)) for run, fault, grammar in cases(runs)]
    tally("embedded llama.cpp", iter(found))


async def _server(flavour: str, runs: int) -> None:
    from dialoom.models.openai_compatible import OpenAICompatibleModel
    from dialoom.models.retrying import Retries

    with serving() as server:
        model = OpenAICompatibleModel(
            "m", f"http://127.0.0.1:{server.server_port}/v1", flavour=flavour, retries=Retries(attempts=1)
        )
        found = []
        for run, fault, grammar in cases(runs):
            server.says = answers(fault, grammar, random.Random(run))
            found.append((fault, grammar, await through(model, fault, grammar, run)))
        await model.aclose()
    tally(f"a {flavour} server that fails open", iter(found))


def small_transformer() -> Any:
    """The transformers backend with the embedded model's tokens and a small net of random weights."""
    from dialoom.errors import DialoomError
    from dialoom.generation.transformers_model import TransformersTokenModel
    from dialoom.models.embedded import default_weights

    try:
        import torch
        import transformers

        weights = default_weights()
    except (ImportError, DialoomError) as error:
        row("transformers, in process", "not installed", str(error))
        return None
    transformers.logging.disable_progress_bar()
    tokenizer = transformers.AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)
    torch.manual_seed(0)
    shape = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    return TransformersTokenModel(transformers.LlamaForCausalLM(shape), tokenizer)
