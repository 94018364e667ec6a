import gzip
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dialoom.corpora import Document, ReadOptions, open_corpus, write_jsonl
from dialoom.corpora import base as port
from dialoom.dialogue import Dialogue, Role, Utterance
from dialoom.errors import InvalidFile, InvalidRecord, UnknownName, UsageError


def line(name: str, text: str = "hello") -> str:
    return json.dumps({"id": name, "utterances": [{"role": "user", "text": text}]}) + "\n"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def ids(*paths: Path | str, **options: Any) -> list[str]:
    return [dialogue.id for dialogue in open_corpus(list(paths), **options)]


def test_that_order_is_by_name_whatever_the_order_of_arguments(tmp_path: Path) -> None:
    first, second = write(tmp_path / "b.jsonl", line("b")), write(tmp_path / "a.jsonl", line("a"))
    assert ids(first, second) == ids(second, first) == ids(tmp_path) == ids(str(tmp_path / "*.jsonl")) == ["a", "b"]


def test_that_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", line("a"))
    assert ids(path, tmp_path, str(tmp_path / "a*")) == ["a"]


def test_that_files_in_no_format_are_counted_and_named(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", line("a"))
    write(tmp_path / "README.md", "# read me\n")
    corpus = open_corpus(tmp_path)
    assert [dialogue.id for dialogue in corpus] == ["a"]
    assert corpus.counts.ignored == [str(tmp_path / "README.md")]
    assert (corpus.counts.files, corpus.counts.formats) == (1, {"dialoom": 1})


def test_that_a_single_file_in_no_format_is_an_error_that_lists_formats(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="star, sgd"):
        ids(write(tmp_path / "notes.txt", "hello"))


def test_that_a_folder_without_transcripts_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "notes.txt", "hello")
    with pytest.raises(InvalidFile, match="no transcript in a known format"):
        ids(tmp_path)


def test_that_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'star'"):
        open_corpus(tmp_path, "starr")


@pytest.mark.parametrize("path", ["absent.jsonl", "*.absent"])
def test_that_a_path_that_holds_nothing_is_named(tmp_path: Path, path: str) -> None:
    with pytest.raises(InvalidFile, match=r"absent"):
        ids(tmp_path / path)


def test_that_an_unknown_policy_for_errors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="raise, skip"):
        open_corpus(tmp_path, on_error="ignore")  # type: ignore[arg-type]


def test_that_an_error_names_file_line_field_and_expectation(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", line("a") + '{"id": "b", "utterances": [{"role": "user", "text": 3}]}\n')
    with pytest.raises(InvalidRecord) as caught:
        ids(path)
    assert str(caught.value) == f"{path}, line 2, field 'utterances[0].text': expected text, found 3."


def test_that_skipping_counts_and_writes_rejects(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        line("a")
        + "{broken\n"
        + line("a", "again")
        + '{"id": "c", "utterances": []}\n'
        + '{"id": "d", "utterances": [{"role": "user", "text": " "}, {"role": "user", "text": "x"}]}\n',
    )
    corpus = open_corpus(path, on_error="skip", rejects=tmp_path / "rejects.jsonl")
    assert [dialogue.id for dialogue in corpus] == ["a", "d"]
    counts = corpus.counts
    assert (counts.read, counts.utterances, counts.skipped, counts.empty, counts.blank) == (2, 2, 2, 1, 1)
    rejects = [json.loads(each) for each in (tmp_path / "rejects.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(each["place"], each["field"]) for each in rejects] == [
        ("line 2", ""),
        ("dialogue a", "id"),
        ("dialogue c", ""),
    ]
    assert rejects[0]["raw"] == "{broken"
    assert all(each["file"] == str(path) and each["problem"] for each in rejects)


def test_that_a_repeated_id_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecord, match="'a' was already read"):
        ids(write(tmp_path / "a.jsonl", line("a") + line("a")))


def test_that_a_consumer_may_stop_early(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", line("a") + line("b"))
    corpus = open_corpus(path, rejects=tmp_path / "rejects.jsonl")
    assert next(corpus).id == "a"
    corpus.close()
    assert not (tmp_path / "rejects.jsonl").exists()


def test_that_archives_inside_folders_are_read_in_place(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("x/2.jsonl", line("b2"))
        archive.writestr("x/1.jsonl.gz", gzip.compress(line("b1").encode()))
        archive.writestr("__MACOSX/x/._1.jsonl", "junk")
    write(tmp_path / "a.jsonl", line("a"))
    before = sorted(tmp_path.rglob("*"))
    assert ids(tmp_path) == ["a", "b1", "b2"]
    assert sorted(tmp_path.rglob("*")) == before


def test_that_an_error_inside_an_archive_names_the_member(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("in/1.jsonl", line("a") + '{"id": "b"}\n')
    with pytest.raises(InvalidRecord, match=r"c\.zip!in/1\.jsonl, line 2, field 'utterances'"):
        ids(tmp_path / "c.zip")


@pytest.mark.parametrize("packed", ["a.jsonl.gz", "a.zip"])
def test_that_a_file_that_expands_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str
) -> None:
    monkeypatch.setattr(port, "MIN_EXPANDED", 1000)
    monkeypatch.setattr(port, "MAX_EXPANSION", 20)
    content = line("a") + line("b", "z" * 1_000_000)
    if packed.endswith(".zip"):
        with zipfile.ZipFile(tmp_path / packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a.jsonl", content)
    else:
        (tmp_path / packed).write_bytes(gzip.compress(content.encode()))
    with pytest.raises(UsageError, match="expands to more than"):
        ids(tmp_path / packed, format="dialoom")


def test_that_a_damaged_archive_is_a_users_error(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", "".join(line(f"d{n}") for n in range(500)))
    damaged = bytearray((tmp_path / "a.zip").read_bytes())
    damaged[200:260] = bytes(60)
    (tmp_path / "a.zip").write_bytes(damaged)
    with pytest.raises(UsageError):
        ids(tmp_path / "a.zip", format="dialoom")


class Shouts:
    """A reader of one's own: a line is a dialogue."""

    name = "shouts"
    description = "lines that end with an exclamation mark"

    def sniff(self, head: bytes) -> bool:
        return head.rstrip().endswith(b"!")

    def read(self, document: Document, _options: ReadOptions) -> Iterator[Dialogue | InvalidRecord]:
        with document.open() as stream:
            for number, text in enumerate(stream, 1):
                yield Dialogue(f"{document.label}-{number}", (Utterance(Role.USER, text.decode().strip()),))


def test_that_a_reader_of_ones_own_can_be_given(tmp_path: Path) -> None:
    assert ids(write(tmp_path / "x.txt", "Ho!\nHey!\n"), format=Shouts()) == ["x-1", "x-2"]


def test_that_write_jsonl_replaces_whole_files_only(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    dialogue = Dialogue("a", (Utterance(Role.USER, "naïve", ("tag",), "act", {"k": [1]}),), {"m": 1})
    assert write_jsonl(path, [dialogue]) == 1
    before = path.read_bytes()

    def failing() -> Iterator[Dialogue]:
        yield dialogue
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_jsonl(path, failing())
    assert path.read_bytes() == before
    assert list(open_corpus(path)) == [dialogue]


def test_that_written_gz_files_are_the_same_every_time(tmp_path: Path) -> None:
    dialogue = Dialogue("a", (Utterance(Role.USER, "x"),))
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        write_jsonl(tmp_path / name, [dialogue])
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()
    assert list(open_corpus(tmp_path / "one.jsonl.gz")) == [dialogue]
