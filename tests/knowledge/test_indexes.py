import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from dialoom.encoders.base import Vectors
from dialoom.errors import InvalidFile, UsageError
from dialoom.knowledge.base import Passage
from dialoom.knowledge.indexes import PassageIndex
from dialoom.knowledge.terms import words

from .doubles import LetterEncoder

TEXTS = {
    "returns": "Shoes can be returned within thirty days.",
    "shipping": "Shipping is free above fifty euros.",
    "repairs": "We repair boots and resole shoes.",
    "gifts": "Gift cards never expire.",
}


def passages() -> list[Passage]:
    return [Passage(key, text) for key, text in TEXTS.items()]


def test_that_bm25_finds_the_passage_with_the_words() -> None:
    index = PassageIndex()
    index.replace(passages())
    assert [hit.passage.id for hit in index.search("free shipping", 2)] == ["shipping"]


def test_that_scores_equal_bm25_worked_out_by_hand() -> None:
    index = PassageIndex()
    index.replace(passages())
    hits = {hit.passage.id: hit.score for hit in index.search("shoes", 4)}
    tokens = [words(text) for text in TEXTS.values()]
    mean = sum(map(len, tokens)) / len(tokens)
    df = sum("shoes" in passage for passage in tokens)
    idf = np.log(1 + (len(tokens) - df + 0.5) / (df + 0.5))
    for key, passage in zip(TEXTS, tokens, strict=True):
        tf = passage.count("shoes")
        expected = idf * tf / (tf + 1.5 * (1 - 0.75 + 0.75 * len(passage) / mean))
        assert hits.get(key, 0.0) == pytest.approx(expected, rel=1e-4)


def test_that_an_update_adds_changes_and_removes_by_id() -> None:
    index = PassageIndex()
    index.update(passages())
    changes = index.update(
        [Passage("gifts", "Vouchers expire after a year."), Passage("new", "Open on Sunday.")], ["repairs"]
    )
    assert (changes.added, changes.changed, changes.removed, changes.unchanged) == (1, 1, 1, 0)
    assert index.search("vouchers", 1)[0].passage.id == "gifts"
    assert index.search("sunday", 1)[0].passage.id == "new"
    assert not index.search("boots", 1)
    assert not index.search("never", 1)


def test_that_only_changed_passages_are_encoded_again(tmp_path: Path) -> None:
    encoder = LetterEncoder()
    index = PassageIndex(tmp_path, encoder=encoder)
    index.replace(passages())
    assert encoder.encoded == 4
    index.replace([*passages()[:3], Passage("gifts", "Gift cards expire.")])
    assert encoder.encoded == 5
    index.replace([*passages()[:3], Passage("gifts", "Gift cards expire.")])
    assert encoder.encoded == 5


def test_that_a_folder_keeps_the_index_and_it_is_memory_mapped(tmp_path: Path) -> None:
    encoder = LetterEncoder()
    first = PassageIndex(tmp_path, encoder=encoder)
    first.replace(passages())
    found = first.search("returned shoes", 3)
    first.close()
    again = PassageIndex(tmp_path, encoder=encoder)
    before = encoder.encoded
    assert again.search("returned shoes", 3) == found
    assert encoder.encoded == before + 1
    assert again._snapshot.dense is not None
    assert isinstance(again._snapshot.dense.vectors, np.memmap)
    again.close()


def test_that_a_broken_index_says_what_to_do(tmp_path: Path) -> None:
    index = PassageIndex(tmp_path)
    index.replace(passages())
    index.close()
    (tmp_path / "revision-1" / "about.json").write_text("{}")
    with pytest.raises(InvalidFile, match="Delete the folder"):
        PassageIndex(tmp_path)


def test_that_one_users_passages_are_never_found_for_another() -> None:
    index = PassageIndex(encoder=LetterEncoder())
    index.replace([Passage("a", "my shoes are blue", owner="ann"), Passage("b", "my shoes are red", owner="bob")])
    index.update([Passage("c", "shoes for everyone")])
    for owner, ids in (("ann", {"a", "c"}), ("bob", {"b", "c"}), ("", {"c"}), ("eve", {"c"})):
        assert {hit.passage.id for hit in index.search("my shoes", 10, owner=owner)} == ids


def test_that_only_what_hangs_from_the_parents_is_found() -> None:
    index = PassageIndex()
    index.replace([Passage("x", "red shoe", parents=("p1",)), Passage("y", "blue shoe", parents=("p2", "p3"))])
    assert [hit.passage.id for hit in index.search("shoe", 5, parents=["p3"])] == ["y"]
    assert index.search("shoe", 5, parents=[]) == []


def test_that_an_exhaustive_search_ends_with_what_shares_no_word() -> None:
    index = PassageIndex()
    index.replace(passages())
    ids = [hit.passage.id for hit in index.search("boots", 4, exhaustive=True)]
    assert ids[0] == "repairs"
    assert len(ids) == 4


def test_that_fused_hits_carry_both_scores() -> None:
    index = PassageIndex(encoder=LetterEncoder())
    index.replace(passages())
    best = index.search("gift cards", 1)[0]
    assert best.passage.id == "gifts"
    assert set(best.parts) == {"bm25", "cosine"}


def test_that_the_graph_agrees_with_exact_search_on_a_small_set() -> None:
    pytest.importorskip("usearch")
    texts = [f"{'abcdefghij'[i % 10] * (1 + i % 7)}{'klmnopqrst'[i // 10] * 3}" for i in range(100)]
    graph = PassageIndex(encoder=LetterEncoder(), method="dense", hnsw_from=10)
    exact = PassageIndex(encoder=LetterEncoder(), method="dense")
    for index in (graph, exact):
        index.replace(Passage(str(i), text) for i, text in enumerate(texts))
    best = [(g.search(texts[i], 1)[0].score) for i in range(0, 100, 9) for g in (graph, exact)]
    assert best[::2] == pytest.approx(best[1::2], abs=1e-3)


def test_that_an_id_given_twice_changes_nothing() -> None:
    index = PassageIndex()
    index.replace(passages())
    with pytest.raises(UsageError, match="'x'"):
        index.replace([Passage("x", "one"), Passage("x", "two")])
    assert len(index) == 4


def test_that_an_empty_index_and_a_query_without_words_find_nothing() -> None:
    index = PassageIndex()
    assert index.search("shoes", 3) == []
    index.replace([Passage("p", "...")])
    assert index.search("shoes", 3) == []
    assert index.search("?!", 3) == []


def test_that_a_dense_index_needs_an_encoder() -> None:
    with pytest.raises(UsageError, match="encoder"):
        PassageIndex(method="dense")


def test_that_the_graph_is_changed_and_forgets_what_was_removed(tmp_path: Path) -> None:
    pytest.importorskip("usearch")
    index = PassageIndex(tmp_path, encoder=LetterEncoder(), method="dense", hnsw_from=10)
    index.replace(Passage(f"{a}{b}", f"{a}{b}{b}") for a in "abcdefghij" for b in "klmnopqrst")
    gone = [f"a{b}" for b in "klmnopqrst"]
    index.update([Passage("bk", "zzz"), Passage("new", "akk")], remove=gone)
    assert index.search("zzz", 1)[0].passage.id == "bk"
    assert index.search("akk", 1)[0].passage.id == "new"
    found = [hit.passage.id for hit in index.search("a", 91)]
    assert len(found) == len(set(found)) == 91
    assert not set(found) & set(gone)
    index.close()


def test_that_vectors_of_another_encoder_are_made_anew(tmp_path: Path) -> None:
    class Reversed(LetterEncoder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            return super().encode(texts)[:, ::-1].copy()

    PassageIndex(tmp_path, encoder=LetterEncoder(), method="dense").replace(passages())
    first = Reversed()
    index = PassageIndex(tmp_path, encoder=first, method="dense")
    assert index.search(TEXTS["gifts"], 1)[0].score == pytest.approx(1.0)
    second = Reversed()
    PassageIndex(tmp_path, encoder=second, method="dense")
    assert (first.encoded, second.encoded) == (3 + 4 + 1, 3)


def test_that_a_folder_may_be_opened_with_another_method(tmp_path: Path) -> None:
    PassageIndex(tmp_path).replace(passages())
    fused = PassageIndex(tmp_path, encoder=LetterEncoder())
    assert set(fused.search("gift cards", 1)[0].parts) == {"bm25", "cosine"}


def test_that_everyones_and_ones_own_passages_are_found_under_a_filter_too() -> None:
    index = PassageIndex(encoder=LetterEncoder())
    index.replace(Passage(f"{who}{i}", f"shoe of {who}", ("p",), who) for who in ("ann", "bob", "") for i in range(3))
    found = {hit.passage.id for hit in index.search("shoe", 9, owner="ann", parents=["p"])}
    assert found == {"ann0", "ann1", "ann2", "0", "1", "2"}


def test_that_a_passage_comes_back_as_it_was_given(tmp_path: Path) -> None:
    given = [
        Passage("1", "plain"),
        Passage("2", "plain too", ("p", "q"), "ann", "file.md", 3, 12, {"title": "Ä / B"}),
    ]
    index = PassageIndex(tmp_path)
    index.replace(given)
    assert [hit.passage for hit in index.search("plain", 2, owner="ann")] == given
    index.close()


def test_that_an_index_of_another_version_is_told(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "passages.sqlite") as db:
        db.execute("CREATE TABLE passages (row INTEGER)")
    db.close()
    with pytest.raises(InvalidFile, match="another version"):
        PassageIndex(tmp_path)


def test_that_a_removed_passage_leaves_no_word_in_the_folder(tmp_path: Path) -> None:
    index = PassageIndex(tmp_path)
    index.replace([*passages(), Passage("letter", "Rumpelstiltskin spins gold.", owner="ann")])
    index.update(remove=["letter"])
    index.close()
    assert not any(b"umpelstiltskin" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
