"""A learned agent as one file: a zip of JSON, JSON lines and plain arrays. Data only; nothing in it is ever run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dialoom.errors import InvalidFile
from dialoom.files import Parts, pack_json, read_parts, unpack_json, write_parts

FORMAT = "dialoom-model"
VERSION = 1
MANIFEST = "manifest.json"


def save(path: Path | str, manifest: Mapping[str, Any], components: Mapping[str, Parts]) -> None:
    """Write `manifest` and the parts of each component to `path`, whole or not at all.

    Raises `InvalidFile` for more entries than `load` reads.
    """
    entries = {MANIFEST: pack_json({"format": FORMAT, "version": VERSION, **manifest})}
    for component, parts in components.items():
        entries.update({f"{component}/{name}": body for name, body in parts.items()})
    write_parts(path, entries)


def load(path: Path | str) -> tuple[dict[str, Any], dict[str, dict[str, bytes]]]:
    """The manifest, and the parts of each component. Raises `InvalidFile` for anything that is no such archive."""
    source = Path(path)
    if not source.exists():
        raise InvalidFile(source, "there is no such file.", hint="Learn one: dialoom learn TRANSCRIPTS --out MODEL")
    entries = read_parts(source)
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
