"""`dialoom flow`: check, draw and compare authored flows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.cli.console import Json, out, print_json
from dialoom.flows.application import load_application
from dialoom.flows.checking import check
from dialoom.flows.load import flow_schema, load_flow

flow_app = typer.Typer(help="Check, draw and compare authored flows.", no_args_is_help=True)

FlowFile = Annotated[Path, typer.Argument(help="A flow file (YAML).", show_default=False)]
App = Annotated[Path | None, typer.Option(help="The application module, to check the names of its functions.")]


@flow_app.command("check")
def check_command(
    flow: FlowFile,
    app: App = None,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings fail, too.")] = False,
    as_json: Json = False,
) -> None:
    """Find what is wrong with a flow: names, paths, schemas, constraints. Exit code 1 if anything is.

    Example: dialoom flow check examples/shop/shop.yaml --app examples/shop/app.py
    """
    findings = check(load_flow(flow), load_application(app) if app else None)
    if as_json:
        print_json([{name: getattr(item, name) for name in item.__slots__} for item in findings])
    else:
        for finding in findings:
            out.print(escape(str(finding)))
        errors = sum(finding.severity == "error" for finding in findings)
        note = "" if app else " (function names were not checked: no --app)"
        out.print(f"{errors} errors, {len(findings) - errors} warnings{note}")
    if any(strict or finding.severity == "error" for finding in findings):
        raise typer.Exit(1)


@flow_app.command("schema")
def schema_command() -> None:
    """Print the JSON Schema of flow files, for editors.

    Example: dialoom flow schema > flow.schema.json
    """
    out.print(json.dumps(flow_schema(), indent=2), markup=False, soft_wrap=True)
