import csv
import random
from pathlib import Path

import pytest

from dialoom.corpora import open_corpus
from dialoom.corpora.twcs import normalised
from dialoom.errors import InvalidRecord

HEADER = ["tweet_id", "author_id", "inbound", "created_at", "text", "response_tweet_id", "in_response_to_tweet_id"]


def row(tweet: int, parent: int | str = "", minute: int = 0, inbound: bool = True, text: str = "x") -> list[str]:
    author = "77" if inbound else "Shop"
    created = f"Wed Oct 11 08:{minute:02}:00 +0000 2017"
    return [str(tweet), author, str(inbound), created, text, "", str(parent)]


def write(tmp_path: Path, rows: list[list[str]]) -> Path:
    path = tmp_path / "twcs.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    return path


def test_that_the_order_of_rows_does_not_change_threads(tmp_path: Path) -> None:
    rng = random.Random(4)
    rows = []
    for thread in range(50):
        first = thread * 100 + 1
        rows += [row(first + n, first + n - 1 if n else "", n, n % 2 == 0, f"{thread} {n}") for n in range(8)]
    straight = {d.id: d for d in open_corpus(write(tmp_path, rows))}
    rng.shuffle(rows)
    assert {d.id: d for d in open_corpus(write(tmp_path, rows))} == straight
    assert len(straight) == 50
    assert [u.text for u in straight["tweet-101"].utterances] == [f"1 {n}" for n in range(8)]


def test_that_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, [row(1, 2), row(2, 1), row(5)])
    corpus = open_corpus(path, on_error="skip")
    assert [dialogue.id for dialogue in corpus] == ["tweet-5"]
    assert corpus.counts.skipped == 2  # one reject for each tweet


def test_that_a_tweet_that_is_there_twice_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match="tweet 1 is there twice"):
        list(open_corpus(write(tmp_path, [row(1), row(1)])))


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [(0, "abc", "a tweet id"), (2, "maybe", "True or False"), (3, "yesterday", "a time"), (6, "1,2", "a tweet id")],
)
def test_that_a_bad_cell_names_its_column(tmp_path: Path, column: int, value: str, expected: str) -> None:
    bad = row(1)
    bad[column] = value
    with pytest.raises(InvalidRecord, match=rf"line 2, field '{HEADER[column]}': expected {expected}"):
        list(open_corpus(write(tmp_path, [bad])))


def test_that_handles_links_and_entities_are_normalised() -> None:
    assert normalised("@Shop .@77 is it &lt; 5? see @Other https://t.co/a1") == "is it < 5? see <handle> <url>"
    assert normalised("mail me at a@b.example") == "mail me at a@b.example"
