"""The command line: one file per command; the only package that prints."""

from __future__ import annotations

import sys

import typer

from dialoom.errors import DialoomError, UsageError

app = typer.Typer(
    name="dialoom",
    help="Conversational agents that stay on course, learned from your transcripts.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 the run failed, 2 the user's mistake, 130 interrupted."""
    try:
        app()
    except DialoomError as error:
        print(f"dialoom: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, UsageError) else 1)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except KeyboardInterrupt:
        print("dialoom: interrupted; nothing was left half written.", file=sys.stderr)
        sys.exit(130)
