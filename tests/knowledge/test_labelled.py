import json
from pathlib import Path

import pytest

from dialoom.errors import InvalidRecord
from dialoom.knowledge.labelled import read_labelled, write_labelled

from .doubles import toy_turns


def test_that_labelled_turns_survive_writing(tmp_path: Path) -> None:
    turns = toy_turns(3)
    write_labelled(tmp_path / "turns.jsonl", turns)
    assert read_labelled(tmp_path / "turns.jsonl") == turns


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": {"HOBBY": ["nobody"]}}, "'nobody' is not in the pool of HOBBY"),
        ({"context": []}, "does not end with the user"),
        ({"plan": "HOBBY"}, "plan"),
        ({"extra": 1}, "extra"),
    ],
)
def test_that_a_bad_record_names_line_and_field(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "turns.jsonl"
    write_labelled(path, toy_turns(1)[:2])
    lines = path.read_text().splitlines()
    lines[1] = json.dumps({**json.loads(lines[1]), **change})
    path.write_text("\n".join(lines))
    with pytest.raises(InvalidRecord, match=f"line 2.*{message}"):
        read_labelled(path)
