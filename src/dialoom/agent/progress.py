"""Where slow loops tell how far they are; the command line draws it, a library call stays silent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")


class Progress(Protocol):
    """Shows how far a loop is and gives its items on unchanged."""

    def __call__(self, items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
        """`items`, announced as `what`."""
        ...


def silent(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:  # noqa: ARG001
    """No progress shown."""
    return iter(items)
