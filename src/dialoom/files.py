"""Whole-file writes that cannot be seen half done, and size-limited reads."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dialoom.errors import InvalidFile

MAX_BYTES = 512 * 1024 * 1024


@contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`; on success rename it over `path`, on any failure remove it.

    A stop at any moment leaves either the old file or the new one, never a part.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def write_text(path: Path | str, text: str) -> None:
    """Replace `path` by `text` in UTF-8, whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode("utf-8"))


def read_text(path: Path | str, *, limit: int = MAX_BYTES) -> str:
    """The UTF-8 text of `path`. Raises `InvalidFile` when absent, larger than `limit` bytes, or not UTF-8."""
    source = Path(path)
    try:
        size = source.stat().st_size
        if size > limit:
            raise InvalidFile(source, f"{size} bytes, and at most {limit} are read.")
        return source.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidFile(source, f"not UTF-8 text ({error.reason} at byte {error.start}).") from error
    except OSError as error:
        raise InvalidFile(source, f"cannot be read ({error.strerror}).") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
