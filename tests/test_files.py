from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from dialoom.errors import InvalidFile, StoreError
from dialoom.files import read_parts, replacing, write_parts, write_text


def test_that_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "file.txt"
    write_text(target, "old")
    with pytest.raises(KeyboardInterrupt):
        _stopped(target)
    assert target.read_text(encoding="utf-8") == "old"
    assert list(target.parent.iterdir()) == [target]


def _stopped(target: Path) -> None:
    with replacing(target) as file:
        file.write(b"half")
        raise KeyboardInterrupt


@pytest.mark.parametrize("place", ["file/below", "folder"])
def test_that_a_place_where_nothing_can_be_written_is_named(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(InvalidFile, match=f"{place}: cannot be written") as caught:
        write_text(tmp_path / place, "text")
    assert "folder you may write to" in caught.value.hint
    assert sorted(found.name for found in tmp_path.iterdir()) == ["file", "folder"]


def test_that_a_full_disk_is_told_and_leaves_what_there_was(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    write_text(path, "old")
    with (
        pytest.raises(StoreError, match=r"results.jsonl cannot be written \(No space left on device\)"),
        replacing(path),
    ):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert path.read_text(encoding="utf-8") == "old"
    assert [found.name for found in tmp_path.iterdir()] == ["results.jsonl"]


def test_that_parts_come_back_and_equal_parts_give_equal_files(tmp_path: Path) -> None:
    parts = {"b/weights.npy": bytes(range(256)) * 40, "a.json": b"{}"}
    write_parts(tmp_path / "one.zip", parts)
    write_parts(tmp_path / "two.zip", dict(reversed(parts.items())))
    assert read_parts(tmp_path / "one.zip") == parts
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 broken"])
def test_that_a_file_without_parts_is_refused(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "no.zip").write_bytes(content)
    with pytest.raises(InvalidFile, match="cannot be read"):
        read_parts(tmp_path / "no.zip")
