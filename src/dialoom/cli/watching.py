"""Progress bars of training runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from dialoom.cli.console import err

if TYPE_CHECKING:
    from dialoom.training.loop import Progress as Run


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, for work that counts: so many done, of so many."""
    with Progress(*_columns(), console=err) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


@contextmanager
def watching(what: str) -> Iterator[Callable[[Run], None]]:
    """A bar on standard error, with the loss, the speed and the memory of the run."""
    with Progress(*_columns(), console=err) as bar:
        task = bar.add_task(what, total=None)

        def watch(run: Run) -> None:
            told = f"{what}: loss {run.loss:.3f}, {run.samples_per_second:.1f} samples/s, {run.memory_mib:.0f} MiB"
            bar.update(task, description=told, completed=run.step, total=run.of)

        yield watch


def _columns() -> tuple[ProgressColumn, ...]:
    return TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
