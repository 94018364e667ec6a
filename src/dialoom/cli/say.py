"""`dialoom say`: a true reply about a computation, others, and where every part of it comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from dialoom.cli.console import Json, err, out, print_json
from dialoom.dataflow import Graph
from dialoom.generation import Grammar, Reply, reply_prompt, speak_through
from dialoom.generation.domain import Domain, load_domain

App = Annotated[
    str, typer.Argument(help="'calendar', or a Python file that defines `domain = Domain(...)`.", show_default=False)
]


def find_domain(name: str) -> Domain:
    """The built-in calendar with made-up events, or the domain of a file."""
    if name != "calendar":
        return load_domain(name)
    from dialoom.domains.calendar import calendar_library, calendar_rules
    from dialoom.domains.calendar.sample import sample_world

    return Domain(calendar_library, calendar_rules, resources=lambda: [sample_world()])


def say_command(
    app: App,
    computation: Annotated[str, typer.Argument(help="A Lispress program.", show_default=False)],
    alternatives: Annotated[int, typer.Option(help="How many other true replies to show.", min=0)] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(
            help="Let a model choose: `embedded`, `openai:NAME`, `http://HOST/v1#NAME`; without it, by chance."
        ),
    ] = None,
    words: Annotated[str, typer.Option(help="The user's words, shown to the model.")] = "",
    as_json: Json = False,
) -> None:
    """Say something true about a computation, and explain it.

    Example: dialoom say calendar '(Yield (FindNumNextEvent (^(Event) EmptyStructConstraint) 1L))'
    """
    from dialoom.generation.derivations import count
    from dialoom.generation.reply import drawn, explain, recognised

    domain = find_domain(app)
    graph = domain.graph(computation)
    grammar = domain.grammar(graph)
    shortest, *others = drawn(grammar, alternatives + 2, seed=seed)
    texts = [*others, shortest]
    reply = _chosen(graph, grammar, model, words) if model else recognised(grammar, texts, "random")
    shown = [text for text in texts if text != reply.text][:alternatives]
    if as_json:
        document = {
            "reply": reply.text,
            "alternatives": shown,
            "derivations": str(count(grammar)),
            "explanation": explain(reply, graph),
            "events": [event.reason for event in reply.events],
        }
        print_json(document)
        return
    out.print(reply.text, markup=False, style="bold", soft_wrap=True)
    for event in reply.events:
        err.print(f"The model's reply was replaced: {event.reason}", markup=False, soft_wrap=True)
    for text in shown:
        out.print(f"  or: {text}", markup=False, soft_wrap=True)
    out.print(f"\n{count(grammar)} derivations. Why this one is true:", markup=False, soft_wrap=True)
    for line in explain(reply, graph):
        out.print(f"  {line}", markup=False, soft_wrap=True)


def _chosen(graph: Graph, grammar: Grammar, model: str, words: str) -> Reply:
    from dialoom.models.base import Message
    from dialoom.models.blocking import run_sync
    from dialoom.models.opening import open_model

    asked = Message("user", reply_prompt(graph, words=words))
    return run_sync(speak_through(grammar, open_model(model), [asked]))
