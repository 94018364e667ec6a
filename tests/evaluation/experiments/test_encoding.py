"""Encoders and searches that an experiment file chooses."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from dialoom.agent.strategies import Library
from dialoom.demo import transcripts
from dialoom.errors import InvalidFile, UnknownName, UsageError
from dialoom.evaluation.experiments.definition import Dataset, Encoding
from dialoom.evaluation.experiments.items import read_dataset
from dialoom.evaluation.experiments.systems import Opener
from dialoom.examples.records import inquiry

from .conftest import Make

TINY = Path(__file__).parents[2] / "encoders" / "tiny"


def system(name: str, **encoding: Any) -> dict[str, Any]:
    return (
        {"name": name, "strategy": "s-icl-search", "encoding": encoding}
        if encoding
        else {
            "name": name,
            "strategy": "s-icl-search",
        }
    )


def test_that_the_exact_search_is_the_default_and_a_graph_finds_much_the_same(make: Make) -> None:
    pytest.importorskip("usearch")
    results = make().run(systems=[system("plain"), system("exact", search="exact"), system("graph", search="hnsw")])
    plain, exact, graph = ([row.reply for row in results.of(name)] for name in ("plain", "exact", "graph"))
    assert plain == exact
    assert sum(a == b for a, b in zip(exact, graph, strict=True)) >= 0.9 * len(exact)


def test_that_a_graph_is_what_is_searched() -> None:
    pytest.importorskip("usearch")
    library = Library(transcripts()[:20], approximate=True)
    for name in ("concatenation", "dense", "dense-history"):
        selector = library.selector(name)
        selector._neighbours = None  # type: ignore[attr-defined]
        exact = selector.select(inquiry({"context": [], "query": "where is my parcel"}), 3)
        assert exact == Library(transcripts()[:20]).selector(name).select(
            inquiry({"context": [], "query": "where is my parcel"}), 3
        )
        assert library.selector("bm25") is library.selector("bm25")


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_that_a_local_model_encodes_and_pools_as_asked(pooling: str, make: Make) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    bench = make()
    shutil.copytree(TINY, bench.folder / "encoder")
    results = bench.run(systems=[system("onnx", encoder="onnx:encoder", pooling=pooling)])
    assert all(row.reply for row in results.rows)
    opener = Opener(bench.folder)
    data = read_dataset(Dataset(name="shop", train=("train.jsonl",), test=("test.jsonl",)), bench.folder)
    library = opener.library(data, 0, Encoding(encoder="onnx:encoder", pooling=pooling))
    assert library.encoder is not None
    assert getattr(library.encoder, "pooling", "") == pooling
    assert opener.library(data, 0, Encoding(encoder="onnx:encoder", pooling=pooling)) is library


def test_that_a_folder_of_sentence_transformers_is_an_encoder(make: Make) -> None:
    library = pytest.importorskip("sentence_transformers")
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules")
    bench = make()
    bag = modules.BoW(vocab=["parcel", "order", "return", "money", "jacket", "address"])
    library.SentenceTransformer(modules=[bag], device="cpu").save(str(bench.folder / "bag"))
    results = bench.run(systems=[system("bag", encoder="sentence-transformers:bag")])
    assert all(row.reply for row in results.rows)
    with pytest.raises(UsageError, match="does not pool"):
        bench.run(systems=[system("bag", encoder="sentence-transformers:bag", pooling="cls")])


def test_that_other_files_of_an_encoder_are_asked_anew(make: Make) -> None:
    pytest.importorskip("onnxruntime")
    bench = make()
    shutil.copytree(TINY, bench.folder / "encoder")
    systems = [system("onnx", encoder="onnx:encoder")]
    bench.run(systems=systems)
    assert bench.run(systems=systems).run["stale"] == 0
    (bench.folder / "encoder" / "sentence_bert_config.json").write_text('{"max_seq_length": 4}')
    again = bench.run(systems=systems)
    assert again.run["stale"] == len(again.rows)


@pytest.mark.parametrize(
    ("wrong", "told", "error"),
    [
        ({"selector": "bm25", "encoding": {}}, "compares no vectors", InvalidFile),
        ({"encoding": {"search": "faiss"}}, "encoding.search", InvalidFile),
        ({"encoding": {"encoder": "mpnet:x"}}, "Unknown encoder", UnknownName),
        ({"encoding": {"encoder": "lsa", "pooling": "cls"}}, "lsa", InvalidFile),
        ({"encoding": {"encoder": "onnx:nowhere"}}, "nowhere", UsageError),
    ],
)
def test_that_an_encoding_that_makes_no_sense_is_refused(
    wrong: dict[str, Any], told: str, error: type[Exception], make: Make
) -> None:
    with pytest.raises(error, match=told):
        make().run(systems=[{"name": "x", "strategy": "s-icl-search", **wrong}])
