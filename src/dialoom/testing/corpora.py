"""The conformance suite of readers: what every format must do, whoever wrote its reader."""

from __future__ import annotations

import gzip
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

from dialoom.corpora import FORMATS, Reader, ReadOptions, open_corpus, write_jsonl
from dialoom.corpora.documents import documents, head
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import UsageError

_CUTS = (0.0, 0.1, 0.35, 0.5, 0.75, 0.97)


def check_reader(reader: Reader, folder: Path, scratch: Path) -> list[Dialogue]:
    """Run the suite on a folder that holds files of one format (and what lies beside them); returns the dialogues.

    `scratch` is an empty folder for copies. Checked: the format is told by looking; ids are unique and values have the
    documented shapes; reading is repeatable and the same from .zip and .gz; tool rounds can be left out; dialogues
    survive Dialoom's own format; a damaged file never raises anything but a `UsageError`.
    """
    dialogues = list(open_corpus(folder, reader))
    assert dialogues, f"{reader.name}: {folder} holds no dialogue"
    assert dialogues == list(open_corpus(folder, reader)), f"{reader.name}: reading again gives other dialogues"
    assert len({dialogue.id for dialogue in dialogues}) == len(dialogues)
    for dialogue in dialogues:
        check_dialogue(dialogue)
    _check_sniffing(reader, folder)
    _check_archives(reader, folder, scratch, dialogues)
    _check_tools(reader, folder, dialogues)
    _check_damage(reader, folder, scratch)
    write_jsonl(scratch / "again.jsonl", dialogues)
    assert list(open_corpus(scratch / "again.jsonl", "dialoom")) == dialogues, f"{reader.name}: lost in JSONL"
    return dialogues


def check_dialogue(dialogue: Dialogue) -> None:
    """The shapes of `dialoom.corpora.annotations`, JSON values only."""
    assert isinstance(dialogue.id, str)
    assert dialogue.id
    json.dumps(dict(dialogue.metadata))
    for utterance in dialogue.utterances:
        assert utterance.text.strip()
        json.dumps(dict(utterance.annotations))
        _check_annotations(utterance)


def _check_annotations(utterance: Utterance) -> None:
    said: Any = utterance.annotations
    for act in said.get("acts", []):
        assert set(act) == {"act", "domain", "slot", "value"}
        assert all(isinstance(part, str) for part in act.values())
    assert all(isinstance(intent, str) for intent in said.get("intents", []))
    for key in ("slots", "personal"):
        assert all(isinstance(value, str) for values in said.get(key, {}).values() for value in values)
    if utterance.role is Role.TOOL:
        assert isinstance(said["tool"], str)
        assert said["kind"] in ("call", "result")
        if said["kind"] == "result":
            assert isinstance(said["outcome"], str)
            assert said["outcome"]
            assert isinstance(said["count"], int)


def _check_sniffing(reader: Reader, folder: Path) -> None:
    told = [next((r.name for r in FORMATS.values() if r.sniff(head(d))), None) for d in documents([folder])]
    if reader.name in FORMATS:
        assert set(told) - {None} == {reader.name}, f"{reader.name} is taken for {sorted(set(map(str, told)))}"
    assert reader.sniff(b"") is False
    assert reader.sniff(b"# Some notes\n\nNothing to read here.\n") is False


def _check_archives(reader: Reader, folder: Path, scratch: Path, dialogues: list[Dialogue]) -> None:
    archive, packed = scratch / "corpus.zip", scratch / "packed" / folder.name
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as zipped:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            inside = file.relative_to(folder)
            zipped.write(file, str(inside))
            target = packed / inside
            target.parent.mkdir(parents=True, exist_ok=True)
            if reader.sniff(file.read_bytes()[: 64 * 1024]):
                target.with_name(f"{target.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
            else:
                shutil.copy(file, target)
    assert list(open_corpus(archive, reader)) == dialogues, f"{reader.name}: other dialogues from a .zip"
    assert list(open_corpus(packed, reader)) == dialogues, f"{reader.name}: other dialogues from .gz files"


def _check_tools(reader: Reader, folder: Path, dialogues: list[Dialogue]) -> None:
    spoken = [[u for u in dialogue.utterances if u.role is not Role.TOOL] for dialogue in dialogues]
    without = [list(d.utterances) for d in open_corpus(folder, reader, ReadOptions(tools=False))]
    assert without == [turns for turns in spoken if turns], f"{reader.name}: tools=False changes more than tool rounds"


def _check_damage(reader: Reader, folder: Path, scratch: Path) -> None:
    """Every file cut short at several points, and with a byte that is no UTF-8 in its middle."""
    files = [document.path for document in documents([folder]) if reader.sniff(head(document))]
    for file in files:
        whole = file.read_bytes()
        middle = len(whole) // 2
        damaged = [whole[: int(len(whole) * cut)] for cut in _CUTS] + [whole[:middle] + b"\xff\xfe" + whole[middle:]]
        for content in damaged:
            broken = scratch / "damaged" / file.name
            broken.parent.mkdir(exist_ok=True)
            broken.write_bytes(content)
            corpus = open_corpus(broken, reader, on_error="skip", rejects=scratch / "rejects.jsonl")
            try:
                read = len(list(corpus))
            except UsageError:
                continue
            assert read == corpus.counts.read
            lines = (scratch / "rejects.jsonl").read_text(encoding="utf-8").splitlines()
            assert len(lines) == corpus.counts.skipped + corpus.counts.empty
