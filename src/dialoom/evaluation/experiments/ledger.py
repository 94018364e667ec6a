"""Append-only records of what was asked and answered, so that a stopped experiment asks nothing twice."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile, StoreError

MAX_LINE = 4 * 1024 * 1024


def digest(value: object) -> str:
    """A hash of JSON values, the same in every run and on every machine."""
    packed = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.blake2b(packed.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Ledger:
    """Records by key in a file of JSON lines; the last record of a key counts.

    A line that a full disk or a killed process cut short is dropped on the next opening (`torn` counts them); the
    lines before it are kept.
    """

    def __init__(self, path: Path) -> None:
        """Raises `InvalidFile` when the file cannot be read."""
        self.path = path
        self.torn = 0
        self.records: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._read()

    def __contains__(self, key: str) -> bool:
        return key in self.records

    def add(self, key: str, record: dict[str, Any]) -> None:
        """Keep a record, on disk before it counts. Raises `StoreError` when it cannot be written."""
        line = json.dumps({"key": key, **record}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                if os.write(handle, line) < len(line):
                    raise OSError("only a part was written")
            finally:
                os.close(handle)
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be written ({error.strerror or error}).",
                hint="What was answered before is kept: make room and run the same command again.",
            ) from error
        self.records[key] = record

    def _read(self) -> None:
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise InvalidFile(self.path, f"cannot be read ({error.strerror}).") from error
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                self.records[str(record.pop("key"))] = record
            except (ValueError, KeyError, TypeError, AttributeError):
                self.torn += 1
        if data and not data.endswith(b"\n"):  # a torn last line must not swallow the next record
            with self.path.open("ab") as file:
                file.write(b"\n")
