"""What a model learned, as JSON and as a page for people."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from rich.markup import escape
from rich.table import Table

from dialoom.agent.model import Model
from dialoom.automata.automaton import Automaton, State
from dialoom.cli.console import out

SHOWN = 15


def summary(model: Model) -> dict[str, Any]:
    """Counts of what was learned and what came of it."""
    automaton = model.automaton
    return {
        "strategy": model.settings.strategy,
        "learned": dict(model.learned),
        "states": len(automaton),
        "accept_states": sum(state.accept for state in automaton.states),
        "transitions": len(automaton.transitions),
    }


def print_summary(model: Model) -> None:
    """A line of counts and the busiest states with what was said in them."""
    learned, automaton = model.learned, model.automaton
    said, tags = learned["utterances"], learned["tags"]
    told = ", ".join(f"{said[role]} {role} ({tags[role]} tags)" for role in said if said[role])
    out.print(f"Learned from [bold]{learned['dialogues']}[/] dialogues; utterances: {told}.")
    if learned["one_sided"]:
        out.print(f"{learned['one_sided']} dialogues in which one side never speaks were left out.")
    if asked := learned.get("asked"):
        usage = asked["usage"]
        cost = f", {usage['cost']:.2f} $" if usage["cost"] is not None else ""
        out.print(
            f"Tags by {model.settings.tagger}: {asked['calls']} calls, {asked['cached']} utterances without a call, "
            f"{usage['prompt_tokens']} + {usage['completion_tokens']} tokens{cost}; {asked['fallen_back']} got no tag."
        )
    out.print(
        f"The automaton has [bold]{len(automaton)}[/] states and [bold]{len(automaton.transitions)}[/] transitions "
        f"(strategy {model.settings.strategy}).\n"
    )
    out.print(states_table(model.readable(1), SHOWN))


def states_table(automaton: Automaton, most: int, kept: Container[int] | None = None) -> Table:
    """The states most dialogues pass through, of those that are kept."""
    table = Table("state", "who", "dialogues", "goes on", "for example", box=None, header_style="bold")
    shown = (state for state in automaton.states if kept is None or state.id in kept)
    busiest = sorted(shown, key=lambda state: (-state.count, state.id))
    for state in busiest[:most]:
        sample = state.samples[0] if state.samples else ""
        table.add_row(
            escape(state.name), state.role, str(state.count), escape(goes_on(automaton, state)), escape(sample)
        )
    return table


def goes_on(automaton: Automaton, state: State, most: int = 2) -> str:
    """The busiest ways out of a state."""
    leaving = sorted((t for t in automaton.transitions if t.source == state.id), key=lambda t: -t.traffic)[:most]
    ways = [f"{t.symbol} ({t.traffic})" for t in leaving]
    return ", ".join([*ways, f"end ({state.ends})"] if state.accept and len(ways) < most else ways)
