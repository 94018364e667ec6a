from pathlib import Path

import pytest

from dialoom.agent import archive
from dialoom.errors import InvalidFile
from dialoom.files import MAX_PARTS


def test_that_a_planner_of_many_sources_fits_into_an_archive(tmp_path: Path) -> None:
    parts = {f"ranker/trees/S{source}/{i}.npy": b"x" * 50 for source in range(500) for i in range(21)}
    archive.save(tmp_path / "model", {"kind": "test"}, {"knowledge": parts})
    manifest, components = archive.load(tmp_path / "model")
    assert manifest["kind"] == "test"
    assert components == {"knowledge": parts}


def test_that_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    parts = {f"{i}.npy": b"" for i in range(MAX_PARTS)}
    with pytest.raises(InvalidFile, match="entries"):
        archive.save(tmp_path / "model", {}, {"knowledge": parts})
    assert not (tmp_path / "model").exists()
