"""`dialoom diff`: what changed between two models."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from dialoom.agent.model import Model
from dialoom.automata.difference import diff
from dialoom.cli.console import Json, ModelFile, out, print_json


def diff_command(
    before: ModelFile,
    after: ModelFile,
    shift: Annotated[float, typer.Option(help="Report traffic that shifted by at least this share.")] = 0.05,
    top: Annotated[int, typer.Option(help="At most this many of each kind.", min=1)] = 10,
    as_json: Json = False,
) -> None:
    """Tell what changed: states and transitions that came, went, lead elsewhere or shifted traffic.

    Example: dialoom diff last-month.dialoom this-month.dialoom
    """
    found = diff(Model.load(before).automaton, Model.load(after).automaton, shift=shift)
    if as_json:
        print_json(asdict(found))
    else:
        out.print(found.report(top=top), markup=False)
