"""Whole-file writes that cannot be seen half done, size-limited reads, and the parts a component saves."""

from __future__ import annotations

import errno
import io
import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dialoom.errors import InvalidFile, StoreError

MAX_BYTES = 512 * 1024 * 1024
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says of a full disk, a spent quota and a limit on file sizes."""


@contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path`; on success rename it over `path`, on any failure remove it.

    A stop at any moment leaves either the old file or the new one, never a part. Raises `InvalidFile` where nothing
    can be written, before the block runs unless the disk fails in between, and `StoreError` where the disk is full.
    """
    target = Path(path)
    with writable(target):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
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
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in FULL:
            raise StoreError(
                f"{target} cannot be written ({error.strerror}).", hint="Make room and run the same command again."
            ) from error
        raise


@contextmanager
def writable(path: Path | str) -> Iterator[None]:
    """Turn what the system says against writing `path` into an `InvalidFile` that names it."""
    try:
        yield
    except OSError as error:
        raise InvalidFile(
            path, f"cannot be written ({error.strerror}).", hint="Name a file in a folder you may write to."
        ) from error


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


Parts = Mapping[str, bytes]
"""What a component saves: entry names (`weights.npy`, `settings.json`) to bytes. Never pickle."""


MAX_PARTS = 20_000  # a learned planner has some twenty for each knowledge source, and there may be hundreds
MAX_PART_BYTES = 4 * 1024**3
_STAMP = (1980, 1, 1, 0, 0, 0)  # equal parts give equal files


def write_parts(path: Path | str, parts: Parts) -> None:
    """Write parts as one zip file, whole or not at all. Raises `InvalidFile` for more parts than `read_parts` reads."""
    if len(parts) > MAX_PARTS:
        raise InvalidFile(path, f"{len(parts)} entries, and at most {MAX_PARTS} are written.")
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in sorted(parts):
            archive.writestr(zipfile.ZipInfo(name, _STAMP), parts[name], compress_type=zipfile.ZIP_DEFLATED)


def read_parts(path: Path | str) -> dict[str, bytes]:
    """What `write_parts` wrote. Raises `InvalidFile` for anything else."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
            if len(infos) > MAX_PARTS or any(info.file_size > MAX_PART_BYTES for info in infos):
                raise InvalidFile(path, f"more than {MAX_PARTS} entries, or one larger than {MAX_PART_BYTES} bytes.")
            return {info.filename: archive.read(info) for info in infos}
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidFile(
            path, f"cannot be read ({error}).", hint="This is not a Dialoom model, nor a part of one."
        ) from error


def pack_json(value: object) -> bytes:
    """Compact UTF-8 JSON with sorted keys, so that equal values give equal bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode("utf-8")


def unpack_json(parts: Parts, name: str) -> Any:
    """The JSON entry `name`. Raises `InvalidFile` when absent or broken."""
    try:
        return json.loads(parts[name].decode("utf-8"))
    except KeyError:
        raise InvalidFile(name, "this entry is missing.") from None
    except ValueError as error:
        raise InvalidFile(name, f"not JSON ({error}).") from error


def pack_array(value: NDArray[Any]) -> bytes:
    """An array in .npy form."""
    buffer = io.BytesIO()
    np.save(buffer, value, allow_pickle=False)
    return buffer.getvalue()


def unpack_array(parts: Parts, name: str) -> NDArray[Any]:
    """The .npy entry `name`. Raises `InvalidFile` when absent, broken or holding objects."""
    try:
        loaded: NDArray[Any] = np.load(io.BytesIO(parts[name]), allow_pickle=False)
        return loaded
    except KeyError:
        raise InvalidFile(name, "this entry is missing.") from None
    except (ValueError, EOFError) as error:
        raise InvalidFile(name, f"not a plain .npy array ({error}).") from error
