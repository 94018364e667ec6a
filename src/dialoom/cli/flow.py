"""`dialoom flow`: check, draw and compare authored flows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from dialoom.cli.console import Json, out, print_json
from dialoom.errors import UnknownName
from dialoom.files import write_text
from dialoom.flows.application import load_application
from dialoom.flows.checking import check
from dialoom.flows.diff import diff
from dialoom.flows.drawing import to_html, to_mermaid, to_svg
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


@flow_app.command("show")
def show_command(
    flow: FlowFile,
    form: Annotated[str, typer.Option("--format", help="mermaid, svg or html.")] = "mermaid",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.")] = None,
) -> None:
    """Draw a flow.

    Example: dialoom flow show examples/shop/shop.yaml --format html -o shop.html
    """
    loaded = load_flow(flow)
    forms = {
        "mermaid": lambda: to_mermaid(loaded.flow),
        "svg": lambda: to_svg(loaded.flow),
        "html": lambda: to_html(loaded.flow, check(loaded)),
    }
    if form not in forms:
        raise UnknownName("format", form, forms)
    text = forms[form]()
    if output is None:
        out.print(text, markup=False, soft_wrap=True, end="")
    else:
        write_text(output, text)


@flow_app.command("diff")
def diff_command(old: FlowFile, new: FlowFile, as_json: Json = False) -> None:
    """Say what changed between two versions of a flow. Exit code 1 if anything did.

    Example: dialoom flow diff old.yaml new.yaml
    """
    changes = diff(load_flow(old).flow, load_flow(new).flow)
    if as_json:
        print_json([{"what": item.what, "where": item.where, "text": item.text} for item in changes])
    else:
        for change in changes:
            out.print(str(change), markup=False, soft_wrap=True)
        out.print(f"{len(changes)} changes")
    if changes:
        raise typer.Exit(1)
