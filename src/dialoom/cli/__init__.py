"""The command line: one file per command; the only package that prints."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 the run failed, 2 the user's mistake, 130 interrupted."""
    os.environ.setdefault(
        "OMP_NUM_THREADS", "1"
    )  # before numpy is loaded: its threads spin, and slow shared cores down
    from dialoom.cli.application import run

    sys.exit(run(sys.argv[1:]))
