"""A learned agent as one file: a zip of JSON, JSON lines and plain arrays. Data only; nothing in it is ever run."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile
from dialoom.files import Parts, pack_json, replacing, unpack_json

FORMAT = "dialoom-model"
VERSION = 1
MAX_ENTRIES = 20_000  # a learned planner has some twenty for each knowledge source, and there may be hundreds
MAX_ENTRY_BYTES = 4 * 1024**3
MANIFEST = "manifest.json"
STAMP = (1980, 1, 1, 0, 0, 0)  # equal models give equal files


def save(path: Path | str, manifest: Mapping[str, Any], components: Mapping[str, Parts]) -> None:
    """Write `manifest` and the parts of each component to `path`, whole or not at all.

    Raises `InvalidFile` for more entries than `load` reads.
    """
    entries = {MANIFEST: pack_json({"format": FORMAT, "version": VERSION, **manifest})}
    for component, parts in components.items():
        entries.update({f"{component}/{name}": body for name, body in parts.items()})
    if len(entries) > MAX_ENTRIES:
        raise InvalidFile(path, f"{len(entries)} entries, and at most {MAX_ENTRIES} are written.")
    with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in sorted(entries):
            archive.writestr(zipfile.ZipInfo(name, STAMP), entries[name], compress_type=zipfile.ZIP_DEFLATED)


def load(path: Path | str) -> tuple[dict[str, Any], dict[str, dict[str, bytes]]]:
    """The manifest, and the parts of each component. Raises `InvalidFile` for anything that is no such archive."""
    source = Path(path)
    if not source.exists():
        raise InvalidFile(source, "there is no such file.", hint="Learn one: dialoom learn TRANSCRIPTS --out MODEL")
    entries = _entries(source)
    try:
        manifest = unpack_json(entries, MANIFEST)
    except InvalidFile as error:
        raise InvalidFile(source, f"{error.path}: {error.problem}", hint="This is not a Dialoom model.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InvalidFile(source, f"its manifest does not say '{FORMAT}'.", hint="This is not a Dialoom model.")
    if manifest.get("version") != VERSION:
        raise InvalidFile(
            source,
            f"version {manifest.get('version')} of the model format; this Dialoom reads version {VERSION}.",
            hint="Learn it again, or use the Dialoom that made it.",
        )
    components: dict[str, dict[str, bytes]] = {}
    for name, body in entries.items():
        component, _, part = name.partition("/")
        if part:
            components.setdefault(component, {})[part] = body
    return manifest, components


def _entries(source: Path) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(source) as archive:
            infos = archive.infolist()
            if len(infos) > MAX_ENTRIES or any(info.file_size > MAX_ENTRY_BYTES for info in infos):
                raise InvalidFile(
                    source, f"more than {MAX_ENTRIES} entries, or one larger than {MAX_ENTRY_BYTES} bytes."
                )
            return {info.filename: archive.read(info) for info in infos}
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise InvalidFile(source, f"cannot be read ({error}).", hint="This is not a Dialoom model.") from error
