"""`dialoom rules`: whether rules can do their work, and which fire for a computation."""

from __future__ import annotations

from typing import Annotated

import typer

from dialoom.cli.console import Json, out, print_json
from dialoom.cli.say import App, find_domain

app = typer.Typer(help="Look into the rules of a domain.", no_args_is_help=True)


@app.callback()
def rules() -> None:
    """Look into the rules of a domain."""


@app.command("check")
def check(
    app: App,
    computation: Annotated[
        list[str] | None, typer.Option(help="Show which rules fire for this Lispress program.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find rules that can never fire, nonterminals without rules and recursion without end. Exit code 1 if any.

    Example: dialoom rules check calendar
    """
    from dialoom.generation.rule_check import check_rules, fired

    domain = find_domain(app)
    findings = [str(finding) for finding in check_rules(domain.rules, domain.start, domain.library)]
    firing = {
        program: {str(rule): nodes for rule, nodes in fired(domain.graph(program), domain.rules, domain.start).items()}
        for program in computation or []
    }
    if as_json:
        print_json({"rules": len(domain.rules), "findings": findings, "fired": firing})
    else:
        for finding in findings:
            out.print(finding, markup=False, soft_wrap=True)
        for program, nodes_of in firing.items():
            out.print(program, markup=False, style="bold", soft_wrap=True)
            for rule, nodes in nodes_of.items():
                out.print(f"  {rule}: {'; '.join(nodes)}", markup=False, soft_wrap=True)
        out.print(f"{len(domain.rules)} rules, {len(findings)} to mend.")
    if findings:
        raise typer.Exit(1)
