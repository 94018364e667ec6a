"""Fingerprints of what replies depend on: no answer of other code, files or models is taken for one of these."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

from dialoom.errors import InvalidFile

DECIDES = (
    "agent",
    "automata",
    "corpora",
    "dialogue.py",
    "encoders",
    "evaluation/experiments/items.py",
    "evaluation/experiments/systems.py",
    "examples",
    "models",
    "tagging",
)
"""The parts of Dialoom that decide what a system replies; a change elsewhere keeps the answers there are."""

SUFFIXES = (".py", ".j2", ".json", ".yaml", ".txt")
WHOLE = 64 * 1024 * 1024  # files up to this size are read whole, of larger ones the ends
ENDS = 1024 * 1024


@cache
def code_digest(*more: str) -> str:
    """A hash of the code and prompts that decide replies, those in `more` too."""
    root = Path(str(files("dialoom")))
    found = [
        path
        for name in (*DECIDES, *more)
        for path in ((root / name).rglob("*") if (root / name).is_dir() else [root / name])
    ]
    total = hashlib.blake2b(digest_size=16)
    for path in sorted(found):
        if path.suffix in SUFFIXES:
            total.update(f"{path.relative_to(root).as_posix()} {file_digest(path)}\n".encode())
    return total.hexdigest()


def file_digest(path: Path) -> str:
    """A hash of a file: all of it, of one over 64 MB its size and both ends. Raises `InvalidFile`."""
    total = hashlib.blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size <= WHOLE:
                return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
            total.update(f"{size}\n".encode() + file.read(ENDS))
            file.seek(-ENDS, 2)
            total.update(file.read())
    except OSError as error:
        raise InvalidFile(path, f"cannot be read ({error.strerror}).") from error
    return total.hexdigest()


def model_digest(spec: str, folder: Path) -> str:
    """A hash of the local file or folder that a model or encoder is loaded from; empty where there is none.

    Paths are relative to `folder`. A cassette that records (`cassette:FILE#MODEL`) grows as it is used, so the model
    behind it counts in its place.
    """
    kind, _, what = spec.partition(":")
    if kind == "cassette" and "#" in what:
        return model_digest(what.partition("#")[2], folder)
    place = folder / what
    if not what or not place.exists():
        return ""
    found = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    return hashlib.blake2b("\n".join(map(file_digest, found)).encode(), digest_size=16).hexdigest()
