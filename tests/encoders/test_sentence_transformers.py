"""The sentence-transformers encoder with a bag of words, the one model of that library that needs no weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialoom.encoders import open_encoder
from dialoom.errors import UsageError
from dialoom.testing.encoders import EncoderConformance

pytest.importorskip(
    "sentence_transformers.sentence_transformer.modules", reason="the extra 'sentence-transformers' is not installed"
)

from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import BoW

from dialoom.encoders.sentence_transformers import SentenceTransformersEncoder

WORDS = ["where", "is", "my", "parcel", "money", "back", "green", "kettle", "word", "ok", "dimension"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bag")
    SentenceTransformer(modules=[BoW(vocab=WORDS)], device="cpu").save(str(place))
    return place


class TestSentenceTransformers(EncoderConformance):
    @pytest.fixture(autouse=True)
    def _folder(self, folder: Path) -> None:
        self.folder = folder

    def make(self) -> SentenceTransformersEncoder:
        return SentenceTransformersEncoder(str(self.folder), device="cpu")


def test_that_blank_texts_give_zeros(folder: Path) -> None:
    opened = open_encoder(f"sentence-transformers:{folder}")
    assert opened.encode(["", "parcel"]).any(axis=1).tolist() == [False, True]


def test_that_an_unknown_model_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UsageError, match="No sentence-transformers model"):
        SentenceTransformersEncoder(str(tmp_path / "absent"))
