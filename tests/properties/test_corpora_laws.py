"""Laws of reading and writing: nothing is lost in Dialoom's format, and streaming JSON equals reading it whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialoom.corpora import Document, open_corpus, write_jsonl
from dialoom.corpora import records as records_module
from dialoom.corpora.records import Record, json_items
from dialoom.dialogue import Dialogue, Role, Utterance

SETTINGS = settings(max_examples=60, deadline=None)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=3)
UTTERANCES = st.builds(
    Utterance,
    st.sampled_from(Role),
    st.text(min_size=1, max_size=20).filter(str.strip),
    st.lists(st.text(min_size=1, max_size=6), max_size=3).map(tuple),
    st.none() | st.text(max_size=6),
    OBJECTS,
)
DIALOGUES = st.lists(
    st.builds(
        Dialogue, st.text(min_size=1, max_size=8), st.lists(UTTERANCES, min_size=1, max_size=4).map(tuple), OBJECTS
    ),
    max_size=5,
    unique_by=lambda dialogue: dialogue.id,
)


def stored(temporary: pytest.TempPathFactory, content: str) -> Path:
    path = temporary.mktemp("laws") / "f.json"
    path.write_text(content, encoding="utf-8")
    return path


@SETTINGS
@given(DIALOGUES, st.sampled_from(["d.jsonl", "d.jsonl.gz"]))
def test_that_every_dialogue_survives_being_written_and_read(
    tmp_path_factory: pytest.TempPathFactory, dialogues: list[Dialogue], name: str
) -> None:
    path = tmp_path_factory.mktemp("laws") / name
    assert write_jsonl(path, dialogues) == len(dialogues)
    assert list(open_corpus(path, "dialoom")) == dialogues


@SETTINGS
@given(st.lists(VALUES, max_size=6) | OBJECTS, st.integers(1, 40), st.sampled_from([None, 2]))
def test_that_streamed_json_equals_json_read_whole(
    tmp_path_factory: pytest.TempPathFactory, value: Any, chunk: int, indent: int | None
) -> None:
    path = stored(tmp_path_factory, json.dumps(value, ensure_ascii=False, indent=indent))
    with patch.object(records_module, "CHUNK", chunk):
        items = [item for item in json_items(Document(str(path), path)) if isinstance(item, Record)]
    expected = list(value.values()) if isinstance(value, dict) else value
    assert [item.value for item in items] == expected


@SETTINGS
@given(st.lists(OBJECTS, max_size=4), st.integers(0, 60))
def test_that_json_cut_short_gives_a_prefix_and_one_error(
    tmp_path_factory: pytest.TempPathFactory, value: list[Any], cut: int
) -> None:
    whole = json.dumps(value)
    content = whole[: min(cut, len(whole) - 1)]
    path = stored(tmp_path_factory, content)
    items = list(json_items(Document(str(path), path)))
    assert not isinstance(items[-1], Record)
    read = [item.value for item in items if isinstance(item, Record)]
    assert read == value[: len(read)]
    assert len(items) == len(read) + 1
