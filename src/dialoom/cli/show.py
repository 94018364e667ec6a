"""`dialoom show`: a learned automaton for people and for other tools."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.agent.model import Model
from dialoom.automata.automaton import Automaton
from dialoom.automata.exports import FORMATS, export
from dialoom.automata.format import dumps
from dialoom.cli.console import ModelFile, out
from dialoom.cli.summary import goes_on, print_summary, states_table
from dialoom.errors import UnknownName, UsageError
from dialoom.files import replacing

MANY = 1_000_000


def show_command(
    model_file: ModelFile,
    format: Annotated[  # noqa: A002
        str, typer.Option("--format", "-f", help=f"`text`, `json` or {', '.join(f'`{name}`' for name in FORMATS)}.")
    ] = "text",
    out_file: Annotated[Path | None, typer.Option("--out", "-o", help="A file instead of standard output.")] = None,
    max_depth: Annotated[int | None, typer.Option(help="Leave out states further than this from the start.")] = None,
    min_dialogues: Annotated[int, typer.Option(help="Leave out states with fewer dialogues.", min=1)] = 1,
    state: Annotated[str | None, typer.Option(help="One state in full, by its name or number.")] = None,
) -> None:
    """Show an automaton: its states with role, tag, dialogues and what was said, or a picture of it.

    Example: dialoom show support.dialoom --format html --out support.html --min-dialogues 10
    """
    if format not in ("text", "json", *FORMATS):
        raise UnknownName("format", format, ("text", "json", *FORMATS))
    model = Model.load(model_file)
    automaton = model.readable()
    if state is not None:
        _print_state(automaton, state)
    elif format == "text" and out_file is None:
        _print_text(model, automaton, max_depth, min_dialogues)
    else:
        _write(_exported(automaton, format, max_depth, min_dialogues), out_file)


def _exported(automaton: Automaton, format: str, max_depth: int | None, min_dialogues: int) -> bytes:  # noqa: A002
    if format == "text":
        raise UsageError("Text goes to the terminal.", hint="Choose a --format for --out, such as html or json.")
    if format == "json":
        if max_depth is not None or min_dialogues > 1:
            raise UsageError("json holds the whole automaton.", hint="Leave --max-depth and --min-dialogues out.")
        return dumps(automaton).encode("utf-8")
    return export(automaton, format, max_depth=max_depth, min_dialogues=min_dialogues)


def _write(content: bytes, out_file: Path | None) -> None:
    if out_file is None:
        sys.stdout.buffer.write(content)
        return
    with replacing(out_file) as file:
        file.write(content)
    out.print(f"Written to [bold]{out_file}[/].")


def _print_text(model: Model, automaton: Automaton, max_depth: int | None, min_dialogues: int) -> None:
    if max_depth is None and min_dialogues == 1:
        print_summary(model)
        return
    kept = _view_states(automaton, max_depth, min_dialogues)
    out.print(states_table(automaton, MANY, kept))


def _view_states(automaton: Automaton, max_depth: int | None, min_dialogues: int) -> frozenset[int]:
    from dialoom.automata.exports import view

    return frozenset(s.id for s in view(automaton, max_depth=max_depth, min_dialogues=min_dialogues).states)


def _print_state(automaton: Automaton, wanted: str) -> None:
    """Everything about one state."""
    by_name = {state.name: state for state in automaton.states} | {str(state.id): state for state in automaton.states}
    if wanted not in by_name:
        near = get_close_matches(wanted, by_name, n=5, cutoff=0.3) or [state.name for state in automaton.states[:5]]
        raise UnknownName("state", wanted, near, hint=f"{len(automaton)} states in all: dialoom show MODEL lists them.")
    state = by_name[wanted]
    out.print(
        f"[bold]{escape(state.name)}[/]  (state {state.id}, {state.role or 'start'}, tag {escape(state.tag or '-')})"
    )
    out.print(f"{state.count} dialogues pass through it, {state.ends} end in it.")
    for sample in state.samples:
        out.print(f"  [dim]“{escape(sample)}”[/]")
    out.print("goes on: " + escape(goes_on(automaton, state, most=10) or "nowhere"))
