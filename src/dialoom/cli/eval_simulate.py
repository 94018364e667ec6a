"""`dialoom eval simulate`: simulated users talk to an agent."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from dialoom.agent.agent import Agent
from dialoom.agent.model import Model
from dialoom.agent.responders import open_responder
from dialoom.cli.console import Json, ModelFile, out, print_json, progress
from dialoom.errors import UnknownName, UsageError
from dialoom.evaluation.simulation import (
    Goal,
    Measures,
    ModelUser,
    SampledUser,
    ScriptedUser,
    User,
    measured,
    read_goals,
    sampled_goals,
    simulate,
    talk_json,
)
from dialoom.files import write_text
from dialoom.models.blocking import run_sync
from dialoom.models.opening import open_model

EXAMPLE = "Example: dialoom eval simulate support.dialoom --goals goals.yaml"
USERS = ("scripted", "sampled", "model:NAME")


def simulate_command(
    model_file: ModelFile,
    goals: Annotated[Path | None, typer.Option(help="Goals, a YAML file; a sampled user can do without.")] = None,
    user: Annotated[str, typer.Option(help="`scripted`, `sampled` from the automaton, or `model:NAME`.")] = "scripted",
    model: Annotated[str, typer.Option(help="Who replies; see `dialoom chat --help`.")] = "retrieve",
    count: Annotated[int, typer.Option(help="Conversations of a sampled user without goals.", min=1)] = 50,
    turns: Annotated[int, typer.Option(help="A conversation ends after this many agent turns.", min=1)] = 12,
    seed: Annotated[int, typer.Option(help="Seed of a sampled user.")] = 0,
    log: Annotated[Path | None, typer.Option(help="Write the conversations here, a line of JSON each.")] = None,
    as_json: Json = False,
) -> None:
    """Let simulated users talk to an agent: task completion, turns, repairs, hand-offs, conformance, price, speed."""
    learned = Model.load(model_file)
    agent = Agent(learned, open_responder(model))
    player = _player(user, learned, seed)
    talks = [
        run_sync(simulate(agent, player, goal, most=turns))
        for goal in progress(_goals(goals, user, learned, count, seed), "talking")
    ]
    if log is not None:
        write_text(log, "".join(json.dumps(talk_json(talk), ensure_ascii=False) + "\n" for talk in talks))
    measures = measured(talks, learned)
    if as_json:
        print_json(asdict(measures))
    else:
        _print(measures)


def _player(name: str, learned: Model, seed: int) -> User:
    kind, _, model = name.partition(":")
    if name == "scripted":
        return ScriptedUser()
    if name == "sampled":
        return SampledUser(learned, seed)
    if kind == "model" and model:
        return ModelUser(open_model(model))
    raise UnknownName("user", name, USERS)


def _goals(path: Path | None, user: str, learned: Model, count: int, seed: int) -> tuple[Goal, ...]:
    if path is not None:
        return read_goals(path)
    if user != "sampled":
        raise UsageError("Which goals do the users have?", hint="Give --goals FILE, or --user sampled.")
    return sampled_goals(learned.index.dialogues(), count, seed)


def _print(found: Measures) -> None:
    turns = "-" if found.turns_to_success is None else f"{found.turns_to_success:.1f}"
    out.print(f"{found.talks} conversations: {found.completion:.1%} reached their goal, in {turns} turns on average.")
    out.print(
        f"Repairs a conversation: {found.repairs:.2f}; handed off {found.handed_off:.1%}; "
        f"the user itself failed {found.failed:.1%}."
    )
    if found.conformance is not None:
        out.print(f"The automaton explains {found.conformance:.1%} of the rounds.")
    dollars = "unknown" if found.dollars is None else f"${found.dollars:.4f}"
    out.print(f"{found.calls} model calls, {found.tokens} tokens, cost {dollars if found.calls else '$0'}.")
    out.print(f"An agent's turn took {found.p50:.1f} ms (95 %: {found.p95:.1f} ms).")
    if len(found.domains) > 1:
        out.print("Goals reached: " + ", ".join(f"{domain} {share:.0%}" for domain, share in found.domains.items()))
