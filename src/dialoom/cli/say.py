"""`dialoom say`: a true reply about a computation, others, and where every part of it comes from."""

from __future__ import annotations

from typing import Annotated

import typer

from dialoom.cli.console import Json, out, print_json
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
    as_json: Json = False,
) -> None:
    """Say something true about a computation, drawn by the rules' weights, and explain it.

    Example: dialoom say calendar '(Yield (FindNumNextEvent (^(Event) EmptyStructConstraint) 1L))'
    """
    from dialoom.generation.derivations import count
    from dialoom.generation.reply import drawn, explain, recognised

    domain = find_domain(app)
    graph = domain.graph(computation)
    grammar = domain.grammar(graph)
    shortest, *others = drawn(grammar, alternatives + 2, seed=seed)
    reply = recognised(grammar, [*others, shortest], "random")
    shown = reply.alternatives[:alternatives]
    if as_json:
        document = {
            "reply": reply.text,
            "alternatives": list(shown),
            "derivations": str(count(grammar)),
            "explanation": explain(reply, graph),
        }
        print_json(document)
        return
    out.print(reply.text, markup=False, style="bold", soft_wrap=True)
    for text in shown:
        out.print(f"  or: {text}", markup=False, soft_wrap=True)
    out.print(f"\n{count(grammar)} derivations. Why this one is true:", markup=False, soft_wrap=True)
    for line in explain(reply, graph):
        out.print(f"  {line}", markup=False, soft_wrap=True)
