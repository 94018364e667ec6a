"""Encoders open by name, and what is missing is said."""

from __future__ import annotations

import sys

import pytest

from dialoom.encoders import open_encoder
from dialoom.errors import MissingExtra, UnknownName, UsageError


@pytest.mark.parametrize(
    ("spec", "module", "extra"),
    [
        ("onnx:folder", "onnxruntime", "onnx"),
        ("openai:text-embedding-3-small", "openai", "openai"),
        ("http://127.0.0.1:9/v1#m", "openai", "openai"),
        ("sentence-transformers:model", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_that_a_missing_extra_names_its_install_line(
    monkeypatch: pytest.MonkeyPatch, spec: str, module: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf"pip install 'dialoom\[{extra}\]'"):
        open_encoder(spec)


def test_that_an_unknown_kind_lists_the_kinds() -> None:
    with pytest.raises(UnknownName, match=r"Unknown encoder 'onyx'\. Did you mean 'onnx'\? Valid: http, https, onnx, "):
        open_encoder("onyx:folder")


@pytest.mark.parametrize("spec", ["onnx", "onnx:", "openai:", "http://127.0.0.1:9/v1", "https://example.com/v1#"])
def test_that_a_spec_without_a_model_says_how_to_write_it(spec: str) -> None:
    with pytest.raises(UsageError, match="names no model"):
        open_encoder(spec)
