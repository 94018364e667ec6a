"""The command line: one file per command; the only package that prints."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 the run failed, 2 the user's mistake, 130 interrupted."""
    from dialoom.cli.application import run

    sys.exit(run(sys.argv[1:]))
