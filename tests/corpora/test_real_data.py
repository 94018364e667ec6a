"""The counts that the data sets' own description states."""

from collections import Counter
from pathlib import Path

import pytest

from dialoom.corpora import open_corpus
from dialoom.dialogue import Role

pytestmark = pytest.mark.data


def test_that_star_has_its_counts(data: Path) -> None:
    corpus = open_corpus(data / "star" / "star-dev.zip")
    roles: Counter[Role] = Counter()
    actions = completed = happy = 0
    for dialogue in corpus:
        roles.update(u.role for u in dialogue.utterances)
        actions += sum(u.action is not None for u in dialogue.utterances)
        completed += dialogue.metadata["completion"] == "Complete"
        happy += dialogue.metadata["happy"]
    assert corpus.counts.formats == {"star": 2520}
    assert corpus.counts.read + corpus.counts.empty == 2520
    assert roles[Role.USER] + roles[Role.SYSTEM] == 31527
    assert roles[Role.TOOL] == 2 * 6315
    assert actions == 19807
    assert completed == 2261


def test_that_sgd_has_its_counts(data: Path) -> None:
    corpus = open_corpus(data / "sgd" / "sgd-dev.zip")
    turns = services = 0
    for dialogue in corpus:
        turns += sum(u.role is not Role.TOOL for u in dialogue.utterances)
        services += len(dialogue.metadata["services"]) > 1
    assert (corpus.counts.read, turns, services) == (3072, 55668, 1536)


def test_that_multiwoz_has_its_counts(data: Path) -> None:
    corpus = open_corpus(data / "multiwoz" / "val.json.zip")
    roles = Counter(u.role for dialogue in corpus for u in dialogue.utterances)
    assert corpus.counts.read == 999
    assert (roles[Role.USER], roles[Role.SYSTEM]) == (7365, 7365)


@pytest.mark.parametrize(
    ("domain", "conversations", "turns"),
    [("airline", 2404, 19416), ("fastfood", 2234, 20050), ("finance", 2406, 21741)],
)
def test_that_multidogo_has_its_counts(data: Path, domain: str, conversations: int, turns: int) -> None:
    folder = data / "multidogo" / "paper_splits" / "splits_annotated_at_turn_level" / domain
    corpus = open_corpus(folder)
    list(corpus)
    counts = corpus.counts
    assert (counts.read, counts.skipped, counts.empty) == (conversations, 0, 0)
    assert counts.utterances + counts.blank == turns


@pytest.mark.parametrize(
    ("file", "dialogues", "exchanges", "plans"),
    [("train.json", 1981, 9821, (1365, 959, 7497)), ("dev.json", 248, 1227, (191, 125, 911))],
)
def test_that_kbp_has_its_counts(
    data: Path, file: str, dialogues: int, exchanges: int, plans: tuple[int, int, int]
) -> None:
    corpus = open_corpus(data / "kbp" / file)
    replies = [u for dialogue in corpus for u in dialogue.utterances if u.role is Role.SYSTEM]
    sizes = Counter(len(u.annotations["P-K"]) for u in replies)
    assert (corpus.counts.read, len(replies)) == (dialogues, exchanges)
    assert (sizes[0], sizes[1], sizes[2]) == plans


def test_that_smcalflow_has_its_counts(data: Path) -> None:
    corpus = open_corpus(data / "smcalflow")
    users = [u for dialogue in corpus for u in dialogue.utterances if u.role is Role.USER]
    assert (corpus.counts.read, len(users)) == (2188, 8818)
    assert sum(bool(u.annotations["skip"]) for u in users) == 721


def test_that_twcs_has_its_counts(data: Path) -> None:
    corpus = open_corpus(data / "twcs" / "sample.csv")
    roles = Counter(u.role for dialogue in corpus for u in dialogue.utterances)
    assert (corpus.counts.utterances, roles[Role.USER]) == (93, 49)
    assert corpus.counts.read == 93 - 66


def test_that_abcd_has_its_counts(data: Path) -> None:
    corpus = open_corpus(data / "abcd")
    assert len(list(corpus)) == 3
    assert len(corpus.counts.ignored) == 4
