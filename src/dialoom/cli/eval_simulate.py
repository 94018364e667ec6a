"""`dialoom eval simulate`: simulated users talk to agents and flows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
import yaml
from pydantic import TypeAdapter, ValidationError
from rich.markup import escape
from rich.table import Table

from dialoom.agent.agent import Agent
from dialoom.agent.model import Model
from dialoom.agent.responders import open_responder
from dialoom.cli.console import Json, err, out, print_json, progress
from dialoom.cli.flow_chat import NO_MODEL, SUFFIXES
from dialoom.errors import InvalidFile, UnknownName, UsageError
from dialoom.evaluation.experiments.definition import Price
from dialoom.evaluation.simulation import (
    AgentPartner,
    FlowPartner,
    Goal,
    Measures,
    ModelUser,
    Partner,
    SampledUser,
    ScriptedUser,
    Talk,
    User,
    measured,
    read_goals,
    sampled_goals,
    simulate,
    talk_json,
)
from dialoom.files import read_text, write_text
from dialoom.flows import Application, Ports, load_application
from dialoom.models.blocking import run_sync
from dialoom.models.opening import open_model

EXAMPLE = "Example: dialoom eval simulate support.dialoom --goals goals.yaml"
USERS = ("scripted", "sampled", "model:NAME")
MAX_BYTES = 1024 * 1024


def simulate_command(
    files: Annotated[
        list[Path], typer.Argument(help="Learned models (.dialoom) or flows (.yaml) to compare.", show_default=False)
    ],
    goals: Annotated[Path | None, typer.Option(help="Goals, a YAML file; a sampled user can do without.")] = None,
    user: Annotated[str, typer.Option(help="`scripted`, `sampled` from the automaton, or `model:NAME`.")] = "scripted",
    model: Annotated[str, typer.Option(help="Who replies; see `dialoom chat --help`.")] = "retrieve",
    app: Annotated[Path | None, typer.Option(help="The application module of a flow.")] = None,
    agent_file: Annotated[
        Path | None, typer.Option("--agent", help="The learned agent beside a flow, and whose users are sampled.")
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(help="YAML: model -> {prompt, completion}, dollars per million tokens.")
    ] = None,
    count: Annotated[int, typer.Option(help="Conversations of a sampled user without goals.", min=1)] = 50,
    turns: Annotated[int, typer.Option(help="A conversation ends after this many agent turns.", min=1)] = 12,
    seed: Annotated[int, typer.Option(help="Seed of a sampled user.")] = 0,
    log: Annotated[Path | None, typer.Option(help="Write the conversations here, a line of JSON each.")] = None,
    as_json: Json = False,
) -> None:
    """Let simulated users talk to agents and flows: task completion, turns, repairs, hand-offs, conformance, price.

    Every file gets the same goals and the same users.
    """
    beside = Model.load(agent_file) if agent_file is not None else None
    known = _prices(prices, (model, user.removeprefix("model:")))
    found: dict[str, Measures] = {}
    lines: list[str] = []
    for path in files:
        learned = beside if path.suffix in SUFFIXES else Model.load(path)
        partner = _partner(path, learned, model, app)
        player = _player(user, learned, seed)
        asked = _goals(goals, user, learned, count, seed)
        talks = [run_sync(simulate(partner, player, goal, most=turns)) for goal in progress(asked, f"{path.stem}")]
        found[str(path)] = measured(talks, partner, known)
        lines += [_line(path, talk) for talk in talks]
        for why in sorted({talk.failed for talk in talks if talk.failed}):
            err.print(escape(f"{path}: broken off: {why}"))
    if log is not None:
        write_text(log, "".join(lines))
    if as_json:
        told = [{"file": name, **asdict(measures)} for name, measures in found.items()]
        print_json(told[0] if len(told) == 1 else told)
    else:
        _print(found)


def _partner(path: Path, learned: Model | None, model: str, app: Path | None) -> Partner:
    if path.suffix not in SUFFIXES:
        assert learned is not None  # noqa: S101 - it was loaded from this file
        return AgentPartner(Agent(learned, open_responder(model)))
    application = load_application(app) if app else Application()
    if learned is not None:
        return FlowPartner(path, Ports(application), Agent(learned, open_responder(model)))
    return FlowPartner(path, Ports(application, None if model in NO_MODEL else open_model(model)))


def _player(name: str, learned: Model | None, seed: int) -> User:
    kind, _, model = name.partition(":")
    if name == "scripted":
        return ScriptedUser()
    if name == "sampled":
        return SampledUser(_needed(learned), seed)
    if kind == "model" and model:
        return ModelUser(open_model(model))
    raise UnknownName("user", name, USERS)


def _goals(path: Path | None, user: str, learned: Model | None, count: int, seed: int) -> tuple[Goal, ...]:
    if path is not None:
        return read_goals(path)
    if user != "sampled":
        raise UsageError("Which goals do the users have?", hint="Give --goals FILE, or --user sampled.")
    return sampled_goals(_needed(learned).index.dialogues(), count, seed)


def _needed(learned: Model | None) -> Model:
    if learned is None:
        raise UsageError("Users are sampled from a learned agent.", hint="Give one with --agent FILE.dialoom.")
    return learned


def _prices(path: Path | None, asked: Sequence[str]) -> Mapping[str, Price]:
    """The prices of a file, by the names that models tell; those of `asked` may be written as the options are."""
    if path is None:
        return {}
    try:
        listed = TypeAdapter(dict[str, Price]).validate_python(yaml.safe_load(read_text(path, limit=MAX_BYTES)))
    except (yaml.YAMLError, ValidationError) as error:
        hint = "Write a line a model: NAME: {prompt: 0.15, completion: 0.6}."
        raise InvalidFile(path, "it is no table of prices.", hint=hint) from error
    return listed | {open_model(spec).name: listed[spec] for spec in asked if spec in listed}


def _line(path: Path, talk: Talk) -> str:
    return json.dumps({"file": str(path), **talk_json(talk)}, ensure_ascii=False) + "\n"


def _print(found: Mapping[str, Measures]) -> None:
    table = Table("", *map(escape, found), box=None, header_style="bold")
    for name, shown in ROWS.items():
        cells = [shown(measures) for measures in found.values()]
        if any(cells):
            table.add_row(name, *(cell or "-" for cell in cells))
    domains = sorted({domain for measures in found.values() for domain in measures.domains})
    for domain in domains if len(domains) > 1 else ():
        shares = [measures.domains.get(domain) for measures in found.values()]
        table.add_row(f"  reached in {escape(domain)}", *("-" if s is None else f"{s:.0%}" for s in shares))
    out.print(table)
    if any(measures.bill.unpriced or measures.players.unpriced for measures in found.values()):
        err.print("Some calls have no known price, so the dollars are of the others; give --prices.")


def _dollars(calls: int, dollars: float | None, unpriced: int) -> str:
    if not calls:
        return ""
    return "unknown" if dollars is None else f"{'at least ' if unpriced else ''}${dollars:.4f}"


ROWS: Mapping[str, Callable[[Measures], str]] = {
    "conversations": lambda m: str(m.talks),
    "goals reached": lambda m: f"{m.completion:.1%} [dim]{m.low:.0%}-{m.high:.0%}[/]",
    "turns to success": lambda m: "" if m.turns_to_success is None else f"{m.turns_to_success:.1f}",
    "repairs a conversation": lambda m: f"{m.repairs:.2f}",
    "handed off": lambda m: f"{m.handed_off:.1%}",
    "broken off": lambda m: f"{m.failed:.1%}" if m.failed else "",
    "turns without the model, which failed": lambda m: str(m.fallbacks or ""),
    "conformance": lambda m: "" if m.conformance is None else f"{m.conformance:.1%}",
    "model calls": lambda m: str(m.bill.calls),
    "tokens": lambda m: str(m.bill.tokens) if m.bill.calls else "",
    "dollars": lambda m: _dollars(m.bill.calls, m.bill.dollars, m.bill.unpriced),
    "calls that played the user": lambda m: str(m.players.calls or ""),
    "tokens of these": lambda m: str(m.players.tokens) if m.players.calls else "",
    "dollars for these": lambda m: _dollars(m.players.calls, m.players.dollars, m.players.unpriced),
    "ms a turn, median": lambda m: f"{m.p50:.1f}",
    "ms a turn, 95 %": lambda m: f"{m.p95:.1f}",
}
