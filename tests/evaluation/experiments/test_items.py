from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialoom.corpora import write_jsonl
from dialoom.demo import transcripts
from dialoom.dialogue import Dialogue
from dialoom.evaluation.experiments.definition import Dataset
from dialoom.evaluation.experiments.items import domain_of, read_dataset


def read(folder: Path, **fields: Any) -> Any:
    write_jsonl(folder / "all.jsonl", transcripts()[::4])
    return read_dataset(Dataset.model_validate({"name": "shop", "data": ["all.jsonl"], **fields}), folder)


def test_that_data_is_split_and_the_same_every_time(tmp_path: Path) -> None:
    one, other = read(tmp_path), read(tmp_path)
    assert one == other
    assert not {d.id for d in one.train} & {d.id for d in one.test}


def test_that_systems_see_no_labels(tmp_path: Path) -> None:
    data = read(tmp_path)
    contexts = [item.context for item in data.items]
    assert all(said.action is None for d in (*data.train, *contexts) for said in d.utterances)
    assert not any(d.metadata for d in (*data.train, *contexts))


def test_that_the_last_turn_alone_can_be_asked_for(tmp_path: Path) -> None:
    data = read(tmp_path, turns="last", dialogues=5)
    assert len(data.items) == len(data.test) == 5


def test_that_an_overlap_free_split_can_be_asked_for(tmp_path: Path) -> None:
    data = read(tmp_path, overlap_free=True)
    assert data.items


def test_that_what_is_tested_is_not_learned_from(tmp_path: Path) -> None:
    corpus = transcripts()
    write_jsonl(tmp_path / "train.jsonl", corpus[:10])
    write_jsonl(tmp_path / "test.jsonl", corpus[8:12])
    data = read_dataset(Dataset(name="shop", train=("train.jsonl",), test=("test.jsonl",)), tmp_path)
    assert {d.id for d in data.train} == {d.id for d in corpus[:8]}
    assert data.skipped == {"training dialogues that are test dialogues": 2}


@pytest.mark.parametrize(
    ("metadata", "key", "domain"),
    [
        ({"workflow": "refund"}, None, "refund"),
        ({"domains": ["b", "a"], "tasks": ["x"]}, None, "a+b"),
        ({"domains": [None], "tasks": ["x"]}, None, "x"),
        ({"team": 3, "domain": "x"}, "team", "3"),
        ({"domain": "x"}, "team", "all"),
        ({}, None, "all"),
    ],
)
def test_that_a_domain_is_named_by_the_metadata(metadata: dict[str, Any], key: str | None, domain: str) -> None:
    assert domain_of(Dialogue("d", (), metadata), key) == domain
