"""`dialoom formats`: what transcripts can be read."""

from __future__ import annotations

from rich.table import Table

from dialoom.cli.console import Json, out, print_json
from dialoom.corpora import FORMATS


def formats_command(as_json: Json = False) -> None:
    """List the transcript formats that --format takes.

    Example: dialoom formats
    """
    if as_json:
        print_json({name: reader.description for name, reader in FORMATS.items()})
        return
    table = Table("format", "what it is", box=None, header_style="bold")
    for name, reader in FORMATS.items():
        table.add_row(name, reader.description)
    out.print(table)
