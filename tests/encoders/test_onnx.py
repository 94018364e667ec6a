"""The ONNX encoder with a model of ten words (tiny/make.py made it)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from dialoom.encoders import open_encoder
from dialoom.errors import InvalidFile
from dialoom.testing.encoders import EncoderConformance

pytest.importorskip("onnxruntime", reason="the extra 'onnx' is not installed")
pytest.importorskip("tokenizers", reason="the extra 'onnx' is not installed")

from dialoom.encoders.onnx import ONNXEncoder

TINY = Path(__file__).parent / "tiny"


class TestMean(EncoderConformance):
    def make(self) -> ONNXEncoder:
        return ONNXEncoder(TINY)


class TestCLS(EncoderConformance):
    def make(self) -> ONNXEncoder:
        return ONNXEncoder(TINY, pooling="cls")

    def test_that_likeness_shows(self) -> None:
        """This model's first token is the same for every text, and so is its vector."""
        vectors = self.make().encode(["where is my parcel", "money back"])
        assert np.array_equal(vectors[0], vectors[1])


def test_that_the_mean_is_over_all_tokens() -> None:
    whole, first, second = ONNXEncoder(TINY)._encode(["parcel money", "parcel", "money"])
    frame = 3 * (first + second) - 4 * whole  # [CLS] and [SEP] are counted in each
    assert np.allclose(frame, ONNXEncoder(TINY)._encode([""])[0] * 2, atol=1e-5)


def test_that_long_texts_are_cut() -> None:
    encoder = ONNXEncoder(TINY, max_tokens=3)
    assert np.array_equal(encoder.encode(["parcel money back"]), encoder.encode(["parcel"]))


def test_that_the_folder_says_how_to_pool_and_cut(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    (folder / "onnx").mkdir(parents=True)
    (folder / "1_Pooling").mkdir()
    shutil.copy(TINY / "model.onnx", folder / "onnx")
    shutil.copy(TINY / "tokenizer.json", folder)
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 3}))
    encoder = open_encoder(f"onnx:{folder}")
    assert isinstance(encoder, ONNXEncoder)
    assert encoder.pooling == "cls"
    assert ONNXEncoder(folder, pooling="mean").encode(["my word"]).tolist() == (
        ONNXEncoder(TINY).encode(["my"]).tolist()
    )


def test_that_a_broken_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match=r"tokenizer\.json: is absent"):
        ONNXEncoder(tmp_path)
    shutil.copy(TINY / "tokenizer.json", tmp_path)
    with pytest.raises(InvalidFile, match=r"model\.onnx: is absent"):
        ONNXEncoder(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(InvalidFile, match="cannot be loaded"):
        ONNXEncoder(tmp_path)
    (tmp_path / "sentence_bert_config.json").write_text("[]")
    with pytest.raises(InvalidFile, match="not a JSON object"):
        ONNXEncoder(tmp_path)
